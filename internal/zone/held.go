package zone

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/rr"
)

// A holding says that a namespace holds a name, and since when.
type holding struct {
	namespace string
	created   int64 // see ageOf
}

func (z *zoneState) holding() holding { return holding{z.ID.Namespace, z.created} }

func (c *claimState) holding() holding { return holding{c.ID.Namespace, c.created} }

// heldBy refuses a claim where others hold what it needs: the set of its type, g, or,
// where no rule lists its type, the name.
func (m *merger) heldBy(claim *claimState, g *group) cause {
	if claim.Kept {
		return cause{} // nobody knows whose it is
	}
	ns := claim.ID.Namespace
	if first := m.cell.first; first != nil && claim.permission != listed && first.ID.Namespace != ns {
		return m.against(NameHeld, first.ID)
	}
	for _, d := range m.given {
		if d.set.Type == claim.Type && !m.mayJoin(claim, d.from) {
			return m.against(NameHeld, d.from.ID)
		}
	}
	if g != nil && g.foreign(ns) {
		return cause{reason: NameHeld, zone: m.cell.zone, by: g.holder.ID, has: g.t}
	}
	return cause{}
}

// hold remembers what a namespace holds by a claim that is taken into g. What is kept is of nobody who is known:
// nothing may hide it, and everybody may add to it.
func (m *merger) hold(claim *claimState, g *group) {
	if g.holder == nil && !claim.Kept {
		g.holder = claim
	}
	if m.cell.first == nil && claim.permission != listed {
		m.cell.first = claim
	}
	for _, h := range m.held[m.glue:] {
		if h.namespace == claim.ID.Namespace {
			return
		}
	}
	m.held = append(m.held, claim.holding())
}

// severs returns the set of another namespace that cannot stand beside a claim below
// the apex, where one of the two would be a cut or a DNAME: that takes the name away
// from the other, or makes it depend on a name server of somebody else.
func (m *merger) severs(claim *claimState) *group {
	if len(m.held) == m.glue {
		return nil // nobody is there
	}
	for i := range m.groups {
		if g := &m.groups[i]; g.foreign(claim.ID.Namespace) && (m.isCut(g.t) || m.isCut(claim.Type)) {
			return g
		}
	}
	return nil
}

// isCut reports whether a claim for a type below the apex makes a cut or a DNAME; where
// a sub-zone has the name, that is one already.
func (m *merger) isCut(t rr.Type) bool {
	return t == rr.TypeDNAME || t == rr.TypeNS && m.cell.delegated() == nil
}

// hides reports whether an NS or DNAME claim would hide names which other namespaces
// hold, and not all of those are younger than the claim. child is the Zone that has
// the claim's own name, if there is one: DNAME hides its names too.
func (m *merger) hides(claim *claimState, child *zoneState) bool {
	c := m.cell
	if c.below == nil {
		c.below = m.composer.survey(c)
	}
	return c.below.bar(claim) || child != nil && claim.yieldsTo(child.holding())
}

// yieldsTo reports whether a cut by c may not hide a name that is held like that.
func (c *claimState) yieldsTo(h holding) bool {
	return h.namespace != "" && h.namespace != c.ID.Namespace && h.created <= c.created
}

// survey finds out who holds the names below a cell: by claims and glue in the same
// Zone, and by Zones to which it delegates. It visits all of them, and so is done only
// where a claim asks for a cut; updateEldersAbove keeps the result up to date.
func (w *work) survey(c *cell) *elders {
	e := &elders{}
	if c.node.child == nil {
		return e
	}
	c.zone.eachCell(c.node.name, func(at *cell) bool {
		w.visits++
		if at != c {
			for _, h := range at.held {
				e.add(h)
			}
		}
		return true
	})
	c.node.walkZones(func(n *node) {
		w.visits++
		if n.owner != nil && n.owner.descends(c.zone) {
			e.add(n.owner.holding())
		}
	})
	return e
}

// updateEldersAbove updates the elders of the cells of z above a name, where claims ask for a cut, after the holdings
// at the name have changed.
func (w *work) updateEldersAbove(n *node, z *zoneState, before, after []holding) {
	for n != z.node && n.parent != nil {
		n = n.parent
		w.visits++
		if up := n.cell(z); up != nil && up.below != nil {
			w.updateElders(up, before, after)
		}
	}
}

// updateEldersOfParents updates the elders in the Zones above z that delegate to it, after z has got or lost the name
// n.
func (w *work) updateEldersOfParents(n *node, z *zoneState) {
	var lineage []*zoneState
	if z == n.owner {
		for up := z.parent(); up != nil; up = up.parent() {
			lineage = append(lineage, up)
		}
	}
	if slices.Equal(z.lineage, lineage) {
		return
	}
	own := []holding{z.holding()}
	for up := n.parent; up != nil; up = up.parent {
		w.visits++
		for _, c := range up.cells {
			if c.below == nil {
				continue
			}
			switch before, after := slices.Contains(z.lineage, c.zone), slices.Contains(lineage, c.zone); {
			case before && !after:
				w.updateElders(c, own, nil)
			case after && !before:
				w.updateElders(c, nil, own)
			}
		}
	}
	z.lineage = lineage
}

// updateElders updates a cell's elders, and enqueues the cell if that matters to its claims.
func (w *work) updateElders(c *cell, before, after []holding) {
	first, second := c.below.first, c.below.second
	for _, h := range before {
		c.below.remove(h)
	}
	for _, h := range after {
		c.below.add(h)
	}
	if first != c.below.first || second != c.below.second {
		w.cells.push(c)
	}
}

// elders count who holds the names below a name and since when. The oldest holding and
// the oldest of another namespace tell whether somebody else than a given namespace
// holds a name there since before a given time.
type elders struct {
	first, second holding // the zero holding: none
	by            map[string][]tally
}

// A tally counts the holdings of one namespace and one age.
type tally struct {
	created int64
	count   int
}

func (e *elders) add(h holding) {
	tallies := e.by[h.namespace]
	i, found := tallyOf(tallies, h)
	if found {
		tallies[i].count++
		return
	}
	if e.by == nil {
		e.by = map[string][]tally{}
	}
	e.by[h.namespace] = slices.Insert(tallies, i, tally{h.created, 1})
	if i == 0 {
		e.rank()
	}
}

func (e *elders) remove(h holding) {
	tallies := e.by[h.namespace]
	i, found := tallyOf(tallies, h)
	if !found {
		return
	}
	if tallies[i].count--; tallies[i].count > 0 {
		return
	}
	if tallies = slices.Delete(tallies, i, i+1); len(tallies) == 0 {
		delete(e.by, h.namespace)
	} else {
		e.by[h.namespace] = tallies
	}
	if i == 0 {
		e.rank()
	}
}

func tallyOf(tallies []tally, h holding) (int, bool) {
	return slices.BinarySearchFunc(tallies, h.created, func(t tally, created int64) int {
		return cmp.Compare(t.created, created)
	})
}

// rank finds the elders anew, from the oldest of each namespace.
func (e *elders) rank() {
	e.first, e.second = holding{}, holding{}
	for namespace, tallies := range e.by {
		h := holding{namespace, tallies[0].created}
		if h.before(e.first) {
			h, e.first = e.first, h
		}
		if h.before(e.second) {
			e.second = h
		}
	}
}

// before orders holdings by age and namespace; none comes last.
func (h holding) before(o holding) bool {
	if h.namespace == "" || o.namespace == "" {
		return h.namespace != ""
	}
	return cmp.Or(cmp.Compare(h.created, o.created), strings.Compare(h.namespace, o.namespace)) < 0
}

// bar reports whether there is a name that a cut by c may not hide.
func (e *elders) bar(c *claimState) bool { return c.yieldsTo(e.first) || c.yieldsTo(e.second) }
