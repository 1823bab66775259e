package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// turnAway refuses a claim that has just joined its cell, if it is plain that the cell
// has no place for it and that nothing else changes: so a crowd at one name costs
// little. What it leaves undecided is decided when the cell is composed, and so is
// all of it if something else marks the cell.
func (w *World) turnAway(claim *claimState) bool {
	c := claim.cell
	if c.queued || c.first == nil || !c.zone.accepted() {
		return false
	}
	m := merger{world: w, cell: c}
	why := m.bar(claim)
	if why.reason == "" {
		why = m.crowded(claim)
	}
	if why.reason == "" {
		return false
	}
	w.refuse(claim, why)
	return true
}

// crowded says why a claim that is not barred comes too late, if that is plain: the
// name is held by another namespace, or the set or the name is full.
func (m *merger) crowded(claim *claimState) cause {
	c, first := m.cell, m.cell.first
	if ns := claim.ID.Namespace; ns != first.ID.Namespace {
		zones := c.zone.ID.Namespace
		if ns == zones || first.ID.Namespace != zones && claim.compare(first) < 0 {
			return cause{}
		}
		return m.against(NameHeld, first.ID)
	}
	ds := claim.Type == rr.TypeDS // which may be no part of the content
	if ds || claim.Type.Singleton() || c.set(rr.TypeCNAME).Data != nil || c.delegated() != nil || c.node.needed[c.zone] > 0 ||
		slices.Contains(c.zone.servers, c.node.name) {
		return cause{}
	}
	at, _ := slices.BinarySearchFunc(c.claims, claim, (*claimState).compare)
	if slices.ContainsFunc(c.claims[at:], func(younger *claimState) bool { return younger.accepted }) {
		return cause{}
	}
	switch set := c.set(claim.Type); {
	case set.Data == nil && len(c.sets) >= m.world.opts.MaxTypes && claim.Type != rr.TypeNS:
		return m.against(SetFull, ID{})
	case set.Data != nil && len(set.Data)+lacking(set, claim.Data) > m.world.opts.MaxSet:
		return m.against(SetFull, ID{})
	}
	return cause{}
}
