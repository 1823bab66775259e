package zone

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/dnsname"
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
func (w *World) derived(c *cell) []derived {
	var out []derived
	n, z := c.node, c.zone
	if child := n.accepted; child != nil && child != z && child.parent == z {
		of := n.cell(child)
		if ns := of.set(rr.TypeNS); ns.Data != nil && w.copies(child) {
			out = append(out, derived{ns, child})
			if of.ds.Data != nil {
				out = append(out, derived{of.ds, child})
			}
		}
	}
	if n.needed[z] == 0 {
		return out
	}
	if owner := n.enclosing(); owner != nil && owner != z && owner.descends(z) {
		for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA} {
			if set := n.cell(owner).set(t); set.Data != nil {
				out = append(out, derived{set, owner})
			}
		}
	}
	return out
}

// copies reports whether the parent takes over a sub-zone's NS set: not when that
// would hide an older Zone below, which the parent itself delegates.
func (w *World) copies(child *zoneState) bool {
	var hidden *zoneState
	child.node.walkZones(func(n *node) bool {
		if n.accepted != nil && n.accepted.parent == child.parent {
			if hidden == nil || n.accepted.age.older(hidden.age) {
				hidden = n.accepted
			}
		}
		return true
	})
	var note *Note
	if hidden != nil {
		note = &Note{NotCopied, fmt.Sprintf(
			"%s does not take over the NS records of %s, because they would hide %s (%s), which is older; delegate that name in %s.",
			child.parent.ID, child.ID, hidden.ID, hidden.name, child.ID), hidden.ID}
	}
	child.notCopied = note
	w.closed[child] = struct{}{}
	return hidden == nil
}

// pass marks what depends on the cell after it changed from before to c.
func (w *World) pass(before, c *cell) {
	if c.apex() {
		w.feed(before, c)
	}
	if !before.set(rr.TypeA).Equal(c.set(rr.TypeA)) || !before.set(rr.TypeAAAA).Equal(c.set(rr.TypeAAAA)) {
		for p := range c.node.needed {
			if p != c.zone {
				w.touch(c.node, p, true)
			}
		}
	}
	if before.cut != c.cut {
		w.unveil(c)
	}
	w.stir(before, c)
}

// feed passes the apex NS and DS sets on to the parent, and asks for glue there.
func (w *World) feed(before, c *cell) {
	z := c.zone
	parent := z.parent
	if z.dead || !z.accepted {
		parent = nil
	}
	sameSets := before.set(rr.TypeNS).Equal(c.set(rr.TypeNS)) && before.ds.Equal(c.ds)
	if z.feeds == parent && sameSets {
		return
	}
	if z.feeds != nil && z.feeds != parent {
		w.touch(c.node, z.feeds, false)
	}
	if parent != nil {
		w.touch(c.node, parent, true)
	}
	var needs []dnsname.Name
	if parent != nil {
		for _, data := range c.set(rr.TypeNS).Data {
			for _, target := range rr.Targets(rr.TypeNS, data) {
				if target.Under(parent.name) {
					needs = append(needs, target)
				}
			}
		}
	}
	old, oldNeeds := z.feeds, z.needs
	z.feeds, z.needs = parent, needs
	for _, t := range needs {
		n := w.node(t)
		if n.needed == nil {
			n.needed = map[*zoneState]int{}
		}
		n.needed[parent]++
		w.touch(n, parent, true)
	}
	for _, t := range oldNeeds {
		n := w.node(t)
		if n.needed[old]--; n.needed[old] <= 0 {
			delete(n.needed, old)
		}
		w.touch(n, old, false)
		w.prune(n)
	}
}
