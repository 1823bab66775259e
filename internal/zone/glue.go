package zone

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// A derived set is one that a Zone takes over from a sub-zone.
type derived struct {
	set  rr.Set
	from *zoneState
}

// derived returns what sub-zones put into a cell: at the apex of a sub-zone its NS and
// DS sets; at the name of a sub-zone's name server its addresses, from whichever
// Zone below has them.
func (c *cell) derived() []derived {
	var out []derived
	n, z := c.node, c.zone
	if child := n.owner; child != nil && child.feeds == z {
		apex := n.cell(child)
		out = append(out, derived{apex.set(rr.TypeNS), child})
		if ds := apex.ds(); ds.Data != nil {
			out = append(out, derived{ds, child})
		}
	}
	if n.needed[z] == 0 {
		return out
	}
	if owner := n.nearest(); owner != nil && owner != z && owner.descends(z) {
		for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA} {
			if set := n.cell(owner).set(t); set.Data != nil {
				out = append(out, derived{set, owner})
			}
		}
	}
	return out
}

// copies reports whether the parent takes over a sub-zone's NS set: not when that
// would hide an older Zone below, to which the parent delegates itself.
func copies(child *zoneState) bool {
	var hidden *zoneState
	for z := range child.overtakers {
		if z.parent() == child.parent() && (hidden == nil || z.older(hidden)) {
			hidden = z
		}
	}
	if hidden == nil {
		return true
	}
	child.notCopied = &Note{NotCopied, fmt.Sprintf(
		"%s does not take over the NS records of %s, because they would hide %s (%s), which is older; delegate "+
			"that name in %s.",
		child.parent().ID, child.ID, hidden.ID, hidden.node.name, child.ID), hidden.ID}
	return false
}

// pass enqueues what depends on the cell after it changed from before to c, where held is
// who holds it now.
func (p *composer) pass(before, c *cell, held []holding) {
	if c.apex() {
		p.feed(before, c)
		p.updateServers(c)
	}
	if len(c.node.needed) > 0 && !(before.set(rr.TypeA).Equal(c.set(rr.TypeA)) &&
		before.set(rr.TypeAAAA).Equal(c.set(rr.TypeAAAA))) {
		for z := range c.node.needed {
			if z != c.zone {
				p.enqueueCell(c.node, z, true)
			}
		}
	}
	p.addresses.retime(before, c)
	if before.cut() != c.cut() {
		p.unveil(c)
	}
	if !slices.Equal(before.held, held) {
		p.updateEldersAbove(c.node, c.zone, before.held, held)
	}
}

// feed passes the apex NS and DS sets on to the parent, and asks for glue there.
func (w *work) feed(before, c *cell) {
	z := c.zone
	var parent *zoneState
	z.notCopied = nil
	if !z.dead && z.parent() != nil && c.set(rr.TypeNS).Data != nil && copies(z) {
		parent = z.parent()
	}
	sameSets := before.set(rr.TypeNS).Equal(c.set(rr.TypeNS)) && before.ds().Equal(c.ds())
	if z.feeds == parent && sameSets {
		return
	}
	if z.feeds != parent {
		w.enqueueCell(c.node, z.feeds, false)
	}
	w.enqueueCell(c.node, parent, true)
	if z.feeds != parent {
		for _, claim := range c.claims {
			w.enqueueReport(claim) // see unfed and above
		}
	}
	old, oldNeeds := z.feeds, z.needs
	z.feeds, z.needs = parent, nil
	if parent != nil {
		z.needs = targetsIn(c.set(rr.TypeNS), parent.node.name)
	}
	for _, t := range z.needs {
		n := z.tree.node(t)
		if n.needed == nil {
			n.needed = map[*zoneState]int{}
		}
		n.needed[parent]++
		w.enqueueCell(n, parent, true)
	}
	for _, t := range oldNeeds {
		n := z.tree.node(t)
		if n.needed[old]--; n.needed[old] <= 0 {
			delete(n.needed, old)
		}
		w.enqueueCell(n, old, false)
		w.prune(n)
	}
}

// above returns the Zone that serves a DS claim in place of the one that has adopted it, nil for all other claims.
func (c *claimState) above() *zoneState {
	if c.Type != rr.TypeDS || !c.cell.apex() {
		return nil
	}
	return c.cell.zone.feeds
}

// unfed returns the note for a DS claim of a sub-zone whose NS records the parent does
// not have: DS without them is published nowhere (RFC 4035 §2.4).
func unfed(c *claimState) (Note, bool) {
	z := c.cell.zone
	if c.Type != rr.TypeDS || !c.cell.apex() || z.feeds != nil {
		return Note{}, false
	}
	return Note{Occluded, fmt.Sprintf(
		"%s DS belongs in the Zone above, beside the NS records of %s, which are missing; add NS records with %s %q, or "+
			"see the conditions of that Zone.",
		c.name(), z.ID, z.nameField(), "@"), z.ID}, true
}
