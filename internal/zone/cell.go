package zone

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A cell is what one Zone holds at one name: the claims that are asked to be adopted
// there and the sets that follow from them and from its sub-zones.
type cell struct {
	zone *zoneState
	node *node

	claims  []*claimState // in order of precedence, see compare
	sets    []rr.Set      // what the zone holds here, by type
	first   *claimState   // by which a namespace holds the name; nil: none does
	held    []holding
	special *special // nil for most
	below   *elders  // kept while a claim asks for a cut here; nil: not known
	queued  bool

	claim  [1]*claimState // what claims and held need for most cells
	holder [1]holding
}

// special is what few cells have.
type special struct {
	ds  rr.Set // at the apex: the DS set, which belongs into the parent
	cut cut

	derived bool // its PTR or CNAME is derived from addresses
	leaves  bool // a PTR is left out
}

// set returns the cell's set of one type, or an empty one.
func (c *cell) set(t rr.Type) rr.Set {
	if c == nil {
		return rr.Set{}
	}
	if i, found := slices.BinarySearchFunc(c.sets, t, func(s rr.Set, t rr.Type) int {
		return cmp.Compare(s.Type, t)
	}); found {
		return c.sets[i]
	}
	return rr.Set{}
}

// ds returns the DS set of an apex, or an empty one.
func (c *cell) ds() rr.Set {
	if c == nil || c.special == nil {
		return rr.Set{}
	}
	return c.special.ds
}

// cut returns what the cell hides.
func (c *cell) cut() cut {
	if c == nil || c.special == nil {
		return cut{}
	}
	return c.special.cut
}

// left counts the PTR that the cell leaves out.
func (c *cell) left() int {
	if c.special != nil && c.special.leaves {
		return 1
	}
	return 0
}

// apex reports whether the cell is that of the Zone's own name. A heap has none.
func (c *cell) apex() bool { return c.node == c.zone.node && c.zone.Policy.isZone() }

// compare orders the claims of a cell by who comes first where not all can be taken:
// what is kept, those of the Zone's own namespace, then the oldest.
func (c *cell) compare(a, b *claimState) int {
	if a.Kept != b.Kept {
		if a.Kept {
			return -1
		}
		return 1
	}
	if a.ID.Namespace != b.ID.Namespace && c.zone.Policy.prefersOwn() {
		switch c.zone.ID.Namespace {
		case a.ID.Namespace:
			return -1
		case b.ID.Namespace:
			return 1
		}
	}
	return a.compare(b)
}

// cell returns what z holds at n, or nil.
func (n *node) cell(z *zoneState) *cell {
	for _, c := range n.cells {
		if c.zone == z {
			return c
		}
	}
	return nil
}

// makeCell returns what z holds at n and makes an empty cell if there is none.
func (n *node) makeCell(z *zoneState) *cell {
	if c := n.cell(z); c != nil {
		return c
	}
	c := &cell{zone: z, node: n}
	c.claims = c.claim[:0]
	n.cells = append(n.cells, c)
	return c
}

// eachCell visits the cells of z that have sets, at and below a name, until visit
// returns false. It does not touch what other Zones hold there.
func (z *zoneState) eachCell(under dnsname.Name, visit func(*cell) bool) {
	sets, last := z.sets, dnsname.Name{}
	if z.txn != nil {
		sets = z.txn.Sets()
	}
	if under == z.node.name { // where a DS set alone is no part of the content
		if c := z.node.cell(z); c != nil && !visit(c) {
			return
		}
		last = under
	}
	for set := range sets.Under(under) {
		if set.Name == last {
			continue
		}
		last = set.Name
		if c := z.tree.nodes[set.Name].cell(z); c != nil && !visit(c) {
			return
		}
	}
}

// join puts a claim into the cell of its Zone.
func (p *composer) join(c *claimState, z *zoneState) {
	at := c.node.makeCell(z)
	i, _ := slices.BinarySearchFunc(at.claims, c, at.compare)
	at.claims = slices.Insert(at.claims, i, c)
	c.cell = at
	if !p.turnAway(c) {
		p.cells.push(at)
	}
}

// leave takes a claim out of its cell.
func (p *composer) leave(c *claimState) {
	at := c.cell
	p.setAccepted(c, false)
	c.cell, c.differs = nil, nil
	if at == nil {
		return
	}
	if i, found := slices.BinarySearchFunc(at.claims, c, at.compare); found {
		at.claims = slices.Delete(at.claims, i, i+1)
	}
	if c.refusal == nil || len(at.claims) == 0 {
		p.cells.push(at) // else the others had nothing of it
	}
}
