package zone

import "github.com/zonefold/zonefold/internal/dnsname"

// maxDepth is how many labels the 255 octets of a name can hold (RFC 1035 §2.3.4).
const maxDepth = 127

// A tree holds names: those that Zones share, or those of one pinned Zone.
type tree struct {
	nodes map[dnsname.Name]*node // see tree.node
}

func newTree() *tree {
	t := &tree{map[dnsname.Name]*node{}}
	t.link(newNode(dnsname.Root), nil) // which stays
	return t
}

// find returns the node of a name, or nil.
func (t *tree) find(name dnsname.Name) *node {
	if n := t.nodes[name]; n != nil && n.name == name {
		return n
	}
	return nil
}

// A node is a name that some object mentions, or one where the ways to such names
// part; other names have none, so that a long name costs no more than a short one.
type node struct {
	tree  *tree
	name  dnsname.Name
	depth int // labels
	below int // Zones that ask for names strictly below
	kin

	sites  *sites     // the Zones that ask for exactly this name; nil: none does
	owner  *zoneState // the one of them that has it
	claims []*claimState
	cells  []*cell            // what Zones hold here; seldom more than one
	needed map[*zoneState]int // parents that need the addresses of this name as glue
	named  []*claimState      // of the accepted ones with the address whose name this is; see compareNamed
	blocks []*zoneState       // accepted ones for a block with that address; see compareBlocks

	claim [1]*claimState // what claims and cells need for most names
	cell1 [1]*cell
}

// kin are the nodes beside a node.
type kin struct {
	parent     *node
	child      *node // the first one; its siblings follow by next
	prev, next *node
}

// sites are the Zones that ask for one name.
type sites struct {
	zones  []*zoneState // oldest first
	shadow ID           // the oldest of them when none has the name
}

func newNode(name dnsname.Name) *node {
	n := &node{name: name, depth: name.NumLabels()}
	n.claims, n.cells = n.claim[:0], n.cell1[:0]
	return n
}

// node returns the node of a name and makes it if needed.
//
// tree.nodes finds a node by its name, and by the name one label below its parent,
// the gate through which the way from there leads; for most nodes the two are one.
func (t *tree) node(name dnsname.Name) *node {
	if n := t.find(name); n != nil {
		return n
	}
	up, gate := t.above(name)
	next := t.nodes[gate]
	if next == nil {
		return t.link(newNode(name), up)
	}
	if at := fork(name, next.name); at != name {
		up = t.insert(newNode(at), next)
		return t.link(newNode(name), up)
	}
	return t.insert(newNode(name), next)
}

// above returns the node that most closely encloses a name without a node, and the
// gate from there to the name.
func (t *tree) above(name dnsname.Name) (*node, dnsname.Name) {
	for gate := name; ; {
		up, ok := gate.Parent()
		if !ok {
			return nil, gate
		}
		if n := t.find(up); n != nil {
			return n, gate
		}
		gate = up
	}
}

// fork returns the longest name that encloses both.
func fork(a, b dnsname.Name) dnsname.Name {
	for a != b {
		if n := a.NumLabels() - b.NumLabels(); n >= 0 {
			a, _ = a.Parent()
		} else {
			b, _ = b.Parent()
		}
	}
	return a
}

// gate returns the name one label below up on the way to n.
func (n *node) gate(up *node) dnsname.Name {
	name := n.name
	for range n.depth - up.depth - 1 {
		name, _ = name.Parent()
	}
	return name
}

// link puts a node below its parent.
func (t *tree) link(n, up *node) *node {
	t.nodes[n.name] = n
	n.tree, n.parent, n.prev, n.next = t, up, nil, nil
	if up == nil {
		return n // the root
	}
	t.nodes[n.gate(up)] = n
	if n.next = up.child; n.next != nil {
		n.next.prev = n
	}
	up.child = n
	return n
}

// insert puts a new node between another one and its parent.
func (t *tree) insert(n, below *node) *node {
	up := below.parent
	t.unlink(below)
	t.link(n, up)
	t.link(below, n)
	if n.below = below.below; below.sites != nil {
		n.below += len(below.sites.zones)
	}
	return n
}

// unlink takes a node from its parent; its own children stay with it.
func (t *tree) unlink(n *node) {
	delete(t.nodes, n.gate(n.parent))
	delete(t.nodes, n.name)
	if n.next != nil {
		n.next.prev = n.prev
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		n.parent.child = n.next
	}
}

// prune removes a node that nothing mentions and where no ways part any more, and
// then its parent, if the same holds there.
func (w *work) prune(n *node) {
	t := n.tree
	for n.parent != nil && t.nodes[n.name] == n && n.idle() {
		if _, waiting := w.judge[n]; waiting {
			return
		}
		up, only := n.parent, n.child
		if only != nil && only.next != nil {
			return
		}
		t.unlink(n)
		if only != nil {
			delete(t.nodes, only.gate(n))
			t.link(only, up)
		}
		n = up
	}
}

// idle reports whether nothing mentions a node.
func (n *node) idle() bool {
	return n.sites == nil && n.owner == nil && len(n.claims) == 0 && len(n.cells) == 0 && len(n.needed) == 0 &&
		len(n.named)+len(n.blocks) == 0
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

// atOrAbove returns the node of a name, which may have none, or else the nearest above.
func (t *tree) atOrAbove(name dnsname.Name) *node {
	if n := t.find(name); n != nil {
		return n
	}
	n, _ := t.above(name)
	return n
}

// enclosing returns the accepted Zones that enclose n, at n itself too, the nearest first.
func (n *node) enclosing() []ID {
	var out []ID
	for z := n.nearest(); z != nil; z = z.node.parent.nearest() {
		if z.Policy.isZone() {
			out = append(out, z.ID)
		}
	}
	return out
}

// zones returns the Zones that ask for the name, oldest first.
func (n *node) zones() []*zoneState {
	if n.sites == nil {
		return nil
	}
	return n.sites.zones
}
