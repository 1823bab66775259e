package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// bring marks the cells of the sets that a Zone brings itself, of the name servers among
// these, and of those to which it gives addresses.
func (w *World) bring(z *zoneState) {
	if z.node == nil || len(z.Own)+len(z.Servers)+len(z.servers) == 0 {
		return
	}
	w.touch(z.node, z, true)
	for _, set := range z.Own {
		w.prompt(z, set.Name)
		for _, name := range targetsIn(set, z.node.name) {
			w.prompt(z, name)
		}
	}
	for _, name := range z.servers {
		w.prompt(z, name)
	}
}

// prompt marks what z has at a name, or is going to have.
func (w *World) prompt(z *zoneState, name dnsname.Name) {
	if z.accepted() && !z.dead {
		w.touch(z.tree.node(name), z, true)
	} else if n := z.tree.find(name); n != nil {
		w.touch(n, z, false)
	}
}

// unaliased reports whether a name is one of the name servers of a Zone's apex that cannot be an alias: the Zone itself
// says so, or a record of a pinned Zone, which a server would not load.
func (z *zoneState) unaliased(name dnsname.Name) bool {
	return z.Policy.Pinned && slices.Contains(z.servers, name) || slices.ContainsFunc(z.Own, func(s rr.Set) bool {
		return s.Type == rr.TypeNS && s.Name == z.node.name && slices.Contains(targetsIn(s, name), name)
	})
}

// own begins with the sets that the Zone brings itself.
func (m *merger) own() {
	for _, set := range m.cell.zone.Own {
		if set.Name != m.cell.node.name {
			continue
		}
		g := m.find(set.Type)
		if g == nil {
			g = m.add(group{t: set.Type, ttl: set.TTL, by: m.cell.zone.ID})
		}
		g.join(set.Data)
	}
}

// equip gives a name server of the apex without an address those of the Zone's servers.
func (m *merger) equip() {
	z := m.cell.zone
	if len(z.servers) == 0 || !slices.Contains(z.servers, m.cell.node.name) ||
		m.find(rr.TypeA) != nil || m.find(rr.TypeAAAA) != nil || m.find(rr.TypeCNAME) != nil {
		return
	}
	for _, a := range z.Servers {
		g := m.find(a.Type)
		if g == nil {
			g = m.add(group{t: a.Type, ttl: z.TTL, by: z.ID})
		}
		g.join([]string{a.Data})
	}
}

// equip has the name servers of an apex that are in the Zone get addresses, and be no aliases.
func (w *World) equip(apex *cell) {
	z := apex.zone
	var servers []dnsname.Name
	if (z.Policy.Pinned || len(z.Servers) > 0) && z.accepted() && !z.dead {
		servers = targetsIn(apex.set(rr.TypeNS), z.node.name)
	}
	if slices.Equal(servers, z.servers) {
		return
	}
	before := z.servers
	z.servers = servers
	for _, names := range [][]dnsname.Name{before, servers} {
		for _, name := range names {
			w.prompt(z, name)
		}
	}
}

// targetsIn returns the name servers of an NS set that are at or below a name.
func targetsIn(ns rr.Set, under dnsname.Name) []dnsname.Name {
	if ns.Type != rr.TypeNS {
		return nil
	}
	var out []dnsname.Name
	for _, data := range ns.Data {
		for _, target := range rr.Targets(rr.TypeNS, data) {
			if target.Under(under) {
				out = append(out, target)
			}
		}
	}
	return out
}
