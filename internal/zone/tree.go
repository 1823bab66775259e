package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// maxDepth is how many labels the 255 octets of a name can hold (RFC 1035 §2.3.4).
const maxDepth = 127

// A node is one name that some object mentions, or a name above such a name.
type node struct {
	name       dnsname.Name
	depth      int // labels
	below      int // Zones that ask for names strictly below
	parent     *node
	child      *node // the first one; its siblings follow by next
	prev, next *node

	sites  *sites     // the Zones that ask for exactly this name; nil: none does
	owner  *zoneState // the one of them that has it
	claims []*claimState
	cells  []*cell            // what Zones hold here; seldom more than one
	needed map[*zoneState]int // parents that need the addresses of this name as glue

	claim [1]*claimState // what claims and cells need for most names
	cell1 [1]*cell
}

// sites are the Zones that ask for one name.
type sites struct {
	zones  []*zoneState // oldest first
	shadow ID           // the oldest of them when none has the name
}

// node returns the node of a name and makes it, and those above it, if needed.
func (w *World) node(name dnsname.Name) *node {
	if n := w.nodes[name]; n != nil {
		return n
	}
	n := &node{name: name, depth: name.NumLabels()}
	n.claims, n.cells = n.claim[:0], n.cell1[:0]
	w.nodes[name] = n
	if up, ok := name.Parent(); ok {
		n.parent = w.node(up)
		if n.next = n.parent.child; n.next != nil {
			n.next.prev = n
		}
		n.parent.child = n
	}
	return n
}

// prune removes a node, and those above it, when nothing mentions them any more.
func (w *World) prune(n *node) {
	for n != nil && n.sites == nil && n.owner == nil && n.child == nil &&
		len(n.claims) == 0 && len(n.cells) == 0 && len(n.needed) == 0 && w.nodes[n.name] == n {
		if _, waiting := w.judge[n]; waiting {
			return
		}
		delete(w.nodes, n.name)
		n.unlink()
		n = n.parent
	}
}

func (n *node) unlink() {
	if n.next != nil {
		n.next.prev = n.prev
	}
	switch {
	case n.prev != nil:
		n.prev.next = n.next
	case n.parent != nil:
		n.parent.child = n.next
	}
}

// domain visits n and the names below it for which no Zone below n is asked first.
func (n *node) domain(visit func(*node)) {
	visit(n)
	for child := n.child; child != nil; child = child.next {
		if child.owner == nil {
			child.domain(visit)
		}
	}
}

// walkZones visits the nodes strictly below n that Zones ask for.
func (n *node) walkZones(visit func(*node)) {
	if n.below == 0 {
		return
	}
	for child := n.child; child != nil; child = child.next {
		if child.sites != nil {
			visit(child)
		}
		child.walkZones(visit)
	}
}

// nearest returns the accepted Zone that most closely encloses n, at n itself too.
func (n *node) nearest() *zoneState {
	for ; n != nil; n = n.parent {
		if n.owner != nil {
			return n.owner
		}
	}
	return nil
}

// zones returns the Zones that ask for the name, oldest first.
func (n *node) zones() []*zoneState {
	if n.sites == nil {
		return nil
	}
	return n.sites.zones
}

// place puts a Zone where its name says.
func (w *World) place(z *zoneState, name dnsname.Name) {
	n := w.node(name)
	z.node = n
	if n.sites == nil {
		n.sites = &sites{}
	}
	i, _ := slices.BinarySearchFunc(n.sites.zones, z, (*zoneState).compare)
	n.sites.zones = slices.Insert(n.sites.zones, i, z)
	for up := n.parent; up != nil; up = up.parent {
		up.below++
	}
	w.rejudge(n, false)
}

// unplace takes a Zone out of the tree. The node stays until its cells are gone.
func (w *World) unplace(z *zoneState) {
	n := z.node
	if n == nil {
		return
	}
	if i := slices.Index(n.sites.zones, z); i >= 0 {
		n.sites.zones = slices.Delete(n.sites.zones, i, i+1)
	}
	for up := n.parent; up != nil; up = up.parent {
		up.below--
	}
	w.rejudge(n, false)
}

// attach puts a claim at its name; zero takes it away from where it was.
func (w *World) attach(c *claimState, name dnsname.Name) {
	old := c.node
	c.node = nil
	if !name.IsZero() {
		c.node = w.node(name)
		c.node.claims = append(c.node.claims, c)
	}
	if old == nil {
		return
	}
	if i := slices.Index(old.claims, c); i >= 0 {
		old.claims = slices.Delete(old.claims, i, i+1)
	}
	w.prune(old)
}

func (w *World) addZone(z Zone) {
	state := &zoneState{Zone: z, created: ageOf(z.Created), taken: z.ID.String() + " holds it."}
	w.zones[z.ID] = state
	if !z.Where.Ref.IsZero() {
		w.referrers(z.Where.Ref).zones[state] = struct{}{}
	}
	w.moved[z.ID] = struct{}{}
	w.delta.verdicts[z.ID] = struct{}{}
	w.delta.zone(z.ID).Fresh = true
	w.closed[state] = struct{}{}
}

// dropZone takes a Zone out; its cells empty when they are composed.
func (w *World) dropZone(z *zoneState) {
	delete(w.zones, z.ID)
	w.dropReferrer(z.Where.Ref, func(r *referrers) { delete(r.zones, z) })
	w.moved[z.ID] = struct{}{}
	delete(w.closed, z)
	w.unplace(z)
	z.dead = true
}

func (w *World) dropClaim(c *claimState) {
	w.dropReferrer(c.Where.Ref, func(r *referrers) { delete(r.claims, c) })
	w.leave(c)
	w.attach(c, dnsname.Name{})
	c.dead = true
}

func (w *World) referrers(id ID) *referrers {
	r := w.refs[id]
	if r == nil {
		r = &referrers{zones: map[*zoneState]struct{}{}, claims: map[*claimState]struct{}{}}
		w.refs[id] = r
	}
	return r
}

func (w *World) dropReferrer(id ID, drop func(*referrers)) {
	r := w.refs[id]
	if r == nil {
		return
	}
	drop(r)
	if len(r.zones)+len(r.claims) == 0 {
		delete(w.refs, id)
	}
}
