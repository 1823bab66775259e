package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Reverse asks for PTR records in a Zone under in-addr.arpa or ip6.arpa: one at each address that accepted A and AAAA
// claims have, to the name of the oldest of these.
type Reverse struct {
	Namespaces []string // of the claims, each once; empty: any namespace
}

// reverses reports whether a Zone has PTR records derived.
func (z *zoneState) reverses() bool { return z.Reverse != nil && isReverse(z.node.name) }

// isReverse reports whether a name is one that addresses have (RFC 1035 §3.5, RFC 3596 §2.5).
func isReverse(n dnsname.Name) bool {
	s := "." + n.String()
	return strings.HasSuffix(s, ".in-addr.arpa.") || strings.HasSuffix(s, ".ip6.arpa.")
}

// addresses have nodes of the common tree know who has which address.
type addresses struct {
	*work
	tree      *tree
	observing bool // a Zone has asked for PTR records; before that no node knows
}

// observeAddresses has nodes know from now on who has which address. It costs as much as there are claims, once: no
// World pays for it that has no Zone with PTR records.
func (w *World) observeAddresses() {
	if w.addresses.observing {
		return
	}
	w.addresses.observing = true
	w.visits += len(w.claims)
	for _, c := range w.claims {
		if c.accepted {
			w.addresses.observe(c)
		}
	}
}

// setAccepted takes a claim, or does not any more.
func (p *composer) setAccepted(c *claimState, accepted bool) {
	if c.accepted == accepted {
		return
	}
	c.accepted = accepted
	if c.cell != nil {
		p.delta.adopters[c.cell.zone] = struct{}{}
	}
	p.addresses.observe(c)
}

// observe has the nodes of its addresses know a claim that is accepted, and forget one that is not any more. A wildcard
// is the name of no host, and the PTR of what is kept is kept itself.
func (a *addresses) observe(c *claimState) {
	if !a.observing || !isAddress(c.Type) || c.name().IsWildcard() || c.Kept {
		return
	}
	for _, data := range c.Data {
		name, ok := rr.ReverseName(data)
		if !ok {
			continue
		}
		n := a.tree.node(name)
		i, found := slices.BinarySearchFunc(n.named, c, compareNamed)
		if c.accepted && !found {
			n.named = slices.Insert(n.named, i, c)
			a.turn(n, c)
		} else if !c.accepted && found {
			a.turn(n, c)
			n.named = slices.Delete(n.named, i, i+1)
			a.prune(n)
		}
	}
}

// compareNamed orders claims by namespace, and in each by age.
func compareNamed(a, b *claimState) int {
	return cmp.Or(strings.Compare(a.ID.Namespace, b.ID.Namespace), a.compare(b))
}

// turn enqueues an address if what is derived there depends on a claim that comes or goes.
func (w *work) turn(n *node, c *claimState) {
	w.visits++
	if z := n.reverser(); z != nil && z.reverses() {
		if first, second := n.eldest(z); c == first || c == second {
			w.turned[n.name] = struct{}{}
		}
	}
}

// turnAll enqueues the addresses at and below a name for which no Zone below is asked first.
func (w *work) turnAll(n *node) {
	n.domain(func(at *node) {
		w.visits++
		w.turnNode(at)
	})
}

// turnNode enqueues a name if it is that of an address.
func (w *work) turnNode(n *node) {
	if len(n.named)+len(n.blocks) > 0 {
		w.turned[n.name] = struct{}{}
	}
}

// turnCells enqueues the cells in which something is derived for the enqueued addresses, and reports whether there are
// any. It comes when all claims are decided: nothing of that depends on what is derived.
func (a *addresses) turnCells() bool {
	for name := range a.turned {
		a.visits++
		n := a.tree.node(name)
		for _, c := range n.cells {
			a.cells.push(c)
		}
		if z := n.nearest(); z != nil && (z.reverses() || len(n.blocks) > 0) {
			a.enqueueCell(n, z, true)
		}
		for _, z := range n.blocks {
			at := a.tree.node(z.block.inside(name, z.node.name))
			a.enqueueCell(at, z, true)
		}
		a.prune(n)
	}
	some := len(a.turned) > 0
	if some {
		a.turned = map[dnsname.Name]struct{}{}
	}
	return some
}

// reverser returns the Zone that is asked for the PTR of an address, which is the most specific one; nil: none is.
func (n *node) reverser() *zoneState {
	if n.owner == nil && len(n.blocks) > 0 {
		return n.blocks[0]
	}
	return n.nearest()
}

// eldest returns the two oldest claims with the address of the node that may have a PTR in z; nil: there is none.
func (n *node) eldest(z *zoneState) (first, second *claimState) {
	rank := func(from int) {
		for _, c := range n.named[from:min(from+2, len(n.named))] {
			switch {
			case c.ID.Namespace != n.named[from].ID.Namespace:
			case first == nil || c.compare(first) < 0:
				first, second = c, first
			case second == nil || c.compare(second) < 0:
				second = c
			}
		}
	}
	if len(z.Reverse.Namespaces) == 0 {
		for i := 0; i < len(n.named); i = n.firstOf(n.named[i].ID.Namespace + "\x00") {
			rank(i)
		}
	}
	for _, namespace := range z.Reverse.Namespaces {
		if i := n.firstOf(namespace); i < len(n.named) && n.named[i].ID.Namespace == namespace {
			rank(i)
		}
	}
	return first, second
}

// firstOf returns where the claims of a namespace begin, or would.
func (n *node) firstOf(namespace string) int {
	i, _ := slices.BinarySearchFunc(n.named, namespace, func(c *claimState, namespace string) int {
		return cmp.Or(strings.Compare(c.ID.Namespace, namespace), 1)
	})
	return i
}

// addPointers adds what is derived for addresses. It yields to all others, and nobody holds a name by it.
func (m *merger) addPointers() {
	c, z := m.cell, m.cell.zone
	if n := c.node; n.owner == nil && len(n.blocks) > 0 {
		if b := n.blocks[0]; b.parent() == z && n.nearest() == z && len(m.groups) == 0 {
			m.add(group{t: rr.TypeCNAME, ttl: z.TTL, by: b.ID, data: []string{b.block.inside(n.name, b.node.name).String()}})
			m.derived = true
		}
		return
	}
	if !z.reverses() {
		return
	}
	n := c.node
	if z.block.size > 0 {
		n = m.composer.addresses.tree.find(z.block.outside(n.name, z.node.name))
	}
	if n == nil || n.reverser() != z {
		return
	}
	first, second := n.eldest(z)
	if first == nil {
		return
	}
	name := first.name()
	switch {
	case m.find(rr.TypePTR) != nil:
		return // somebody has chosen
	case m.find(rr.TypeCNAME) != nil, !c.apex() && m.find(rr.TypeNS) != nil, len(m.groups) >= m.composer.opts.MaxTypes:
		m.leaves = true
		return
	}
	m.add(group{t: rr.TypePTR, ttl: first.cell.set(first.Type).TTL, by: first.ID, data: []string{name.String()}})
	m.derived, m.leaves = true, second != nil && second.name() != name
}

// retime enqueues the addresses of the claims of a cell where a set has got another TTL.
func (a *addresses) retime(before, c *cell) {
	if !a.observing {
		return
	}
	for _, claim := range c.claims {
		if t := claim.Type; !claim.accepted || !isAddress(t) || before.set(t).TTL == c.set(t).TTL {
			continue
		}
		for _, data := range claim.Data {
			if name, ok := rr.ReverseName(data); ok {
				if n := a.tree.find(name); n != nil {
					a.turn(n, claim)
				}
			}
		}
	}
}

// annotateReverse adds what there is to tell about the PTR records of a Zone.
func annotateReverse(z *zoneState, notes []Note) []Note {
	switch {
	case z.Reverse == nil:
	case !z.reverses():
		notes = append(notes, notReverse(z))
	case z.leaving > 0:
		notes = append(notes, pointersLeftOut(z))
	}
	return notes
}

func notReverse(z *zoneState) Note {
	return Note{NotReverse, fmt.Sprintf(
		"%s asks for PTR records of addresses, but no address has a name in %s; remove spec.reverse, or choose a name under "+
			"in-addr.arpa. or ip6.arpa.", z.ID, z.node.name), ID{}}
}

func pointersLeftOut(z *zoneState) Note {
	return Note{LeftOut, fmt.Sprintf(
		"%s has no PTR to a name of %d of its addresses, because an older name, or a record that is not a PTR, has the "+
			"place; write a PTR to choose the name, or remove the conflicting record.", z.ID, z.leaving), ID{}}
}

// reverse brings the PTR records of a Zone up to date after its Reverse has changed.
func (w *World) reverse(z *zoneState) {
	if z.Reverse != nil {
		w.observeAddresses()
	}
	if z.accepted() {
		w.addresses.closeBlock(z)
		w.addresses.openBlock(z)
		w.turnAll(z.node)
	}
}
