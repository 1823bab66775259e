package zone

import (
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A scale weighs how much a change concerns, and stops when that is more than it may be.
type scale struct {
	objects *objects
	left    int
	seen    map[ID]bool
}

// spend reports whether n more are within the limit.
func (s *scale) spend(n int) bool {
	s.left -= n
	return s.left >= 0
}

// zone weighs a Zone, what it has if it is there, and what refers to it, directly or not.
func (s *scale) zone(id ID) bool {
	if s.seen[id] {
		return true
	}
	s.seen[id] = true
	if !s.spend(1) {
		return false
	}
	if z := s.objects.zones[id]; z != nil && z.node != nil && !s.node(z.node) {
		return false
	}
	r := s.objects.refs[id]
	if r == nil {
		return true
	}
	if !s.spend(len(r.claims)) {
		return false
	}
	for z := range r.zones {
		if !s.zone(z.ID) {
			return false
		}
	}
	return true
}

// under weighs what is at and below a name, which may have no node.
func (s *scale) under(t *tree, name dnsname.Name) bool {
	if name.IsZero() {
		return true
	}
	n := t.find(name)
	if n == nil {
		_, gate := t.above(name)
		n = t.nodes[gate]
	}
	return n == nil || !n.name.Under(name) || s.node(n)
}

// node weighs a name and all below it.
func (s *scale) node(n *node) bool {
	if !s.spend(1 + len(n.claims)) {
		return false
	}
	for child := n.child; child != nil; child = child.next {
		if !s.node(child) {
			return false
		}
	}
	return true
}

// claim weighs what a claim at a name, if that has a node, concerns: a cut all that is below it, others the name alone.
func (s *scale) claim(n *node, c Claim) bool {
	switch {
	case n == nil:
		return s.spend(1)
	case c.Type == rr.TypeNS || c.Type == rr.TypeDNAME:
		return s.node(n)
	}
	return s.spend(1 + len(n.claims))
}
