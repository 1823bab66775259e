package zone

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// compose recomputes one cell and passes on what others depend on.
func (w *World) compose(c *cell) {
	m := merger{world: w, cell: c}
	if c.zone.accepted && !c.zone.dead {
		m.merge()
	}
	before := *c
	w.store(c, &m)
	w.pass(&before, c)
	if len(c.claims) == 0 && len(c.sets) == 0 && c.ds.Data == nil {
		c.node.cells = slices.DeleteFunc(c.node.cells, func(o *cell) bool { return o == c })
		w.prune(c.node)
	}
}

// store writes what the merge gave into the cell and its Zone's content.
func (w *World) store(c *cell, m *merger) {
	z := c.zone
	sets := make([]rr.Set, 0, len(m.groups))
	ds := rr.Set{}
	for _, g := range m.groups {
		set := rr.NewSet(rr.Key{Name: c.node.name, Type: g.t}, g.ttl, g.data...)
		if g.t == rr.TypeDS && c.apex() {
			ds = set
			continue
		}
		sets = append(sets, set)
	}
	for _, old := range c.sets {
		if i := slices.IndexFunc(sets, func(s rr.Set) bool { return s.Type == old.Type }); i >= 0 {
			continue
		}
		z.hash.remove(old)
		z.txn.Delete(old.Key())
		w.delta.key(z.ID, old.Key())
	}
	for _, set := range sets {
		old := c.set(set.Type)
		if old.Equal(set) {
			continue
		}
		if old.Data != nil {
			z.hash.remove(old)
		}
		z.hash.add(set)
		z.txn.Put(set)
		w.delta.key(z.ID, set.Key())
	}
	c.sets, c.ds, c.held, c.cut = sets, ds, m.held, m.cut()
	w.closed[z] = struct{}{}
}

// A merger makes the sets of one cell from its claims and what sub-zones derive.
type merger struct {
	world  *World
	cell   *cell
	groups []group
	given  []derived
	held   []holding
}

// A group is a set in the making.
type group struct {
	t    rr.Type
	ttl  uint32
	data []string
	by   ID // the oldest claim, or the sub-zone, that asks for it
}

func (m *merger) merge() {
	c := m.cell
	m.given = m.world.derived(c)
	for _, d := range m.given {
		m.groups = append(m.groups, group{d.set.Type, d.set.TTL, slices.Clone(d.set.Data), d.from.ID})
		m.held = append(m.held, holding{d.from.ID.Namespace, d.from.age.created})
	}
	barred := make([]*Refusal, len(c.claims))
	holder := ""
	var since *claimState
	for i, claim := range c.claims {
		if barred[i] = m.bar(claim); barred[i] != nil {
			continue
		}
		if since == nil || claim.ID.Namespace == c.zone.ID.Namespace && holder != claim.ID.Namespace {
			holder, since = claim.ID.Namespace, claim
		}
	}
	if since != nil {
		m.held = append(m.held, holding{holder, since.age.created})
	}
	for i, claim := range c.claims {
		if barred[i] != nil {
			m.world.refuse(claim, *barred[i])
			continue
		}
		if claim.ID.Namespace != holder {
			m.world.refuse(claim, nameHeld(claim, since.ID))
			continue
		}
		m.take(claim)
	}
}

// bar refuses claims that no state of the name itself would let in; they do not
// hold the name either.
func (m *merger) bar(claim *claimState) *Refusal {
	switch {
	case m.cell.apex() && claim.Type == rr.TypeCNAME:
		return &Refusal{Conflict, fmt.Sprintf(
			"%s asks for a CNAME at %s, the apex of %s, where SOA and NS records are (RFC 1034 §3.6.2); use A and AAAA records.",
			claim.ID, claim.name, m.cell.zone.ID)}
	case m.cell.apex() && claim.Type == rr.TypeDS && m.cell.zone.parent == nil:
		return &Refusal{NoZone, fmt.Sprintf(
			"%s asks for a DS at %s; it belongs into the zone above, and no Zone delegates %s (RFC 4035 §2.4).",
			claim.ID, claim.name, claim.name)}
	case claim.Type == rr.TypeNS && !m.cell.apex(), claim.Type == rr.TypeDNAME:
		return m.hides(claim)
	}
	return nil
}

// take merges a claim into the set of its type, or refuses it.
func (m *merger) take(claim *claimState) {
	for _, d := range m.given {
		ns := claim.ID.Namespace
		if d.set.Type == claim.Type && ns != d.from.ID.Namespace && ns != m.cell.zone.ID.Namespace {
			m.world.refuse(claim, nameHeld(claim, d.from.ID))
			return
		}
	}
	if other := m.excludes(claim); other != nil {
		m.world.refuse(claim, *other)
		return
	}
	ttl := m.cell.zone.TTL
	if claim.TTL != nil {
		ttl = *claim.TTL
	}
	i := slices.IndexFunc(m.groups, func(g group) bool { return g.t == claim.Type })
	if i < 0 {
		m.groups = append(m.groups, group{claim.Type, ttl, []string{claim.Data}, claim.ID})
		m.world.accept(claim, nil)
		return
	}
	g := &m.groups[i]
	if !slices.Contains(g.data, claim.Data) {
		if full := m.full(g, claim); full != nil {
			m.world.refuse(claim, *full)
			return
		}
		g.data = append(g.data, claim.Data)
	}
	var notes []Note
	if ttl != g.ttl {
		notes = []Note{{TTLDiffers, fmt.Sprintf(
			"The set %s %s has the TTL %d of %s, not %d: records of one set share a TTL (RFC 2181 §5.2).",
			claim.name, claim.Type, g.ttl, g.by, ttl), g.by}}
	}
	m.world.accept(claim, notes)
}

// full refuses a record more in a set that may hold no more.
func (m *merger) full(g *group, claim *claimState) *Refusal {
	if claim.Type.Singleton() {
		return &Refusal{Conflict, fmt.Sprintf(
			"%s asks for a second %s at %s; %s, which is older, has the only one (RFC 2181 §10.1).",
			claim.ID, claim.Type, claim.name, g.by)}
	}
	if len(g.data) >= m.world.opts.MaxSet {
		return &Refusal{SetFull, fmt.Sprintf(
			"The set %s %s has %d records already, which is the limit; %s is left out.",
			claim.name, claim.Type, len(g.data), claim.ID)}
	}
	return nil
}

// excludes refuses a claim whose type may not stand beside what the name has: CNAME
// stands alone (RFC 1034 §3.6.2), DNAME beside NS only at the apex (RFC 6672 §2.3).
func (m *merger) excludes(claim *claimState) *Refusal {
	for _, g := range m.groups {
		alone := g.t != claim.Type && (g.t == rr.TypeCNAME || claim.Type == rr.TypeCNAME)
		pair := !m.cell.apex() && (g.t == rr.TypeDNAME && claim.Type == rr.TypeNS || g.t == rr.TypeNS && claim.Type == rr.TypeDNAME)
		if alone || pair {
			return &Refusal{Conflict, fmt.Sprintf(
				"%s asks for a %s at %s, where %s has a %s; the two cannot stand together, and the older has the name.",
				claim.ID, claim.Type, claim.name, g.by, g.t)}
		}
	}
	return nil
}

func nameHeld(claim *claimState, holder ID) Refusal {
	return Refusal{NameHeld, fmt.Sprintf(
		"Namespace %s holds %s by %s; %s of namespace %s has to choose another name.",
		holder.Namespace, claim.name, holder, claim.ID, claim.ID.Namespace)}
}

func (w *World) accept(c *claimState, notes []Note) {
	c.refusal, c.noted = nil, notes
	w.notes[c] = struct{}{}
}

func (w *World) refuse(c *claimState, r Refusal) {
	c.refusal, c.noted = &r, nil
	w.notes[c] = struct{}{}
}
