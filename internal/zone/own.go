package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// enqueueOwn enqueues the cells of a Zone's own sets, of the name servers that these name, and of those to which the
// Zone gives addresses.
func (w *work) enqueueOwn(z *zoneState) {
	if z.node == nil || len(z.Own)+len(z.Servers)+len(z.servers) == 0 {
		return
	}
	w.enqueueCell(z.node, z, true)
	for _, set := range z.Own {
		w.enqueueName(z, set.Name)
		for _, name := range targetsIn(set, z.node.name) {
			w.enqueueName(z, name)
		}
	}
	for _, name := range z.servers {
		w.enqueueName(z, name)
	}
}

// enqueueName enqueues the cell that z has, or is going to have, at a name.
func (w *work) enqueueName(z *zoneState, name dnsname.Name) {
	if z.live() {
		w.enqueueCell(z.tree.node(name), z, true)
	} else if n := z.tree.find(name); n != nil {
		w.enqueueCell(n, z, false)
	}
}

// unaliased reports whether a name is one of the name servers of a Zone's apex that cannot be an alias: the Zone itself
// says so, or a record where the Policy has no aliases.
func (z *zoneState) unaliased(name dnsname.Name) bool {
	return z.Policy.NoAliases && slices.Contains(z.servers, name) || slices.ContainsFunc(z.Own, func(s rr.Set) bool {
		return s.Type == rr.TypeNS && s.Name == z.node.name && slices.Contains(targetsIn(s, name), name)
	})
}

// own begins with the Zone's own sets.
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

// addServerAddresses gives a name server of the apex without an address those of the Zone's servers.
func (m *merger) addServerAddresses() {
	z := m.cell.zone
	if !slices.Contains(z.servers, m.cell.node.name) || m.resolves() {
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

// resolves reports whether the name has an address, or is an alias.
func (m *merger) resolves() bool {
	return m.find(rr.TypeA) != nil || m.find(rr.TypeAAAA) != nil || m.find(rr.TypeCNAME) != nil
}

// updateServers enqueues the name servers that an apex has in its Zone, now and before: they get addresses and must not
// be aliases.
func (w *work) updateServers(apex *cell) {
	z := apex.zone
	var servers []dnsname.Name
	matter := z.Policy.NoAliases || len(z.Servers) > 0
	if matter && z.live() {
		servers = targetsIn(apex.set(rr.TypeNS), z.node.name)
	}
	if slices.Equal(servers, z.servers) {
		return
	}
	before := z.servers
	z.servers = servers
	for _, names := range [][]dnsname.Name{before, servers} {
		for _, name := range names {
			w.enqueueName(z, name)
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
