package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A node is one name that some object mentions, or a name above such a name.
type node struct {
	name     dnsname.Name
	depth    int // labels
	parent   *node
	children map[dnsname.Name]*node

	zones    []*zoneState // that ask for exactly this name
	accepted *zoneState   // the one of them that has it
	shadow   ID           // the oldest of them when none has it
	below    int          // Zones that ask for names strictly below
	claims   []*claimState
	cells    []*cell            // what Zones hold here; seldom more than one
	needed   map[*zoneState]int // parents that need the addresses of this name as glue
}

// node returns the node of a name and makes it, and those above it, if needed.
func (w *World) node(name dnsname.Name) *node {
	if n := w.nodes[name]; n != nil {
		return n
	}
	n := &node{name: name, depth: name.NumLabels()}
	w.nodes[name] = n
	if up, ok := name.Parent(); ok {
		n.parent = w.node(up)
		if n.parent.children == nil {
			n.parent.children = map[dnsname.Name]*node{}
		}
		n.parent.children[name] = n
	}
	return n
}

// prune removes a node, and those above it, when nothing mentions them any more.
func (w *World) prune(n *node) {
	for n != nil && len(n.zones) == 0 && len(n.claims) == 0 && len(n.cells) == 0 &&
		len(n.needed) == 0 && len(n.children) == 0 {
		if _, waiting := w.judge[n]; waiting {
			return
		}
		delete(w.nodes, n.name)
		if n.parent != nil {
			delete(n.parent.children, n.name)
		}
		n = n.parent
	}
}

// walk visits n and everything below it until visit returns false.
func (n *node) walk(visit func(*node) bool) bool {
	if !visit(n) {
		return false
	}
	for _, child := range n.children {
		if !child.walk(visit) {
			return false
		}
	}
	return true
}

// walkZones visits the nodes strictly below n that Zones ask for.
func (n *node) walkZones(visit func(*node) bool) bool {
	if n.below == 0 {
		return true
	}
	for _, child := range n.children {
		if len(child.zones) > 0 && !visit(child) {
			return false
		}
		if !child.walkZones(visit) {
			return false
		}
	}
	return true
}

// enclosing returns the accepted Zone that most closely encloses n, at n itself too.
func (n *node) enclosing() *zoneState {
	for ; n != nil; n = n.parent {
		if n.accepted != nil {
			return n.accepted
		}
	}
	return nil
}

// place puts a Zone where its name says.
func (w *World) place(z *zoneState) {
	z.node = w.node(z.name)
	z.node.zones = append(z.node.zones, z)
	slices.SortFunc(z.node.zones, func(a, b *zoneState) int { return a.age.compare(b.age) })
	for n := z.node.parent; n != nil; n = n.parent {
		n.below++
	}
	w.judge[z.node] = struct{}{}
}

// unplace takes a Zone out of the tree. The node stays until its cells are gone.
func (w *World) unplace(z *zoneState) {
	n := z.node
	if n == nil {
		return
	}
	n.zones = slices.DeleteFunc(n.zones, func(o *zoneState) bool { return o == z })
	for up := n.parent; up != nil; up = up.parent {
		up.below--
	}
	w.judge[n] = struct{}{}
}

// attach puts a claim at its name.
func (w *World) attach(c *claimState, name dnsname.Name) {
	if c.name == name {
		return
	}
	w.detach(c)
	c.name = name
	if !name.IsZero() {
		c.node = w.node(name)
		c.node.claims = append(c.node.claims, c)
	}
}

func (w *World) detach(c *claimState) {
	n := c.node
	c.name, c.node = dnsname.Name{}, nil
	if n == nil {
		return
	}
	if i := slices.Index(n.claims, c); i >= 0 {
		n.claims = slices.Delete(n.claims, i, i+1)
	}
	w.prune(n)
}
