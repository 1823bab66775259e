package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// turnAway refuses a claim that has just joined its cell, if it is plain that the cell
// has no place for it and that nothing else changes: so a crowd at one name costs
// little. What it leaves undecided is decided when the cell is composed, and so is
// all of it if something else enqueues the cell.
func (p *composer) turnAway(claim *claimState) bool {
	c := claim.cell
	if c.queued || len(c.held) == 0 || c.claims[0].Kept || !c.zone.accepted() || !c.zone.Policy.merges() {
		return false
	}
	m := p.merger(c)
	why := m.bar(claim)
	if why.reason == "" {
		why = m.crowded(claim)
	}
	p.scratch = m.scratch
	if why.reason == "" {
		return false
	}
	p.refuse(claim, why)
	return true
}

// crowded says why a claim that is not barred comes too late, if that is plain: what is composed already stands against
// it, and is not going to change.
func (m *merger) crowded(claim *claimState) cause {
	c := m.cell
	if first := c.first; first != nil && claim.permission != listed && first.ID.Namespace != claim.ID.Namespace {
		if c.compare(claim, first) < 0 {
			return cause{}
		}
		return m.against(NameHeld, first.ID)
	}
	if claim.Type == rr.TypeDS || c.given() { // a DS may be no part of the content
		return cause{}
	}
	at, _ := slices.BinarySearchFunc(c.claims, claim, c.compare)
	m.recall(c.claims[:at])
	g := m.find(claim.Type)
	if why := m.opposes(claim, g); why.reason != "" {
		return why
	}
	if slices.ContainsFunc(c.claims[at:], func(later *claimState) bool { return later.accepted }) {
		return cause{}
	}
	if g != nil {
		g.data, g.sorted = c.set(claim.Type).Data, true
	}
	return m.overfills(claim, g)
}

// given reports whether there may be sets in a cell that recall does not find: those of sub-zones, and addresses.
func (c *cell) given() bool {
	return c.delegated() != nil || c.node.needed[c.zone] > 0 || slices.Contains(c.zone.servers, c.node.name)
}

// recall finds who has which set of a composed cell by these claims, the first of it; it
// leaves out the data.
func (m *merger) recall(claims []*claimState) {
	left := len(m.cell.sets)
	if m.cell.ds().Data != nil {
		left++
	}
	if s := m.cell.special; s != nil && s.derived {
		left--
	}
	m.own()
	for _, claim := range claims {
		if left == 0 {
			return
		}
		if !claim.accepted {
			continue
		}
		g := m.find(claim.Type)
		if g == nil {
			g = m.add(group{t: claim.Type, by: claim.ID})
		}
		if g.holder == nil {
			left--
			m.hold(claim, g)
		}
	}
}
