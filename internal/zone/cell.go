package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// A cell is what one Zone holds at one name: the claims that it adopted there and the
// sets that follow from them and from its sub-zones.
type cell struct {
	zone  *zoneState
	node  *node
	depth int // labels of the zone when the cell was made; see queue

	claims []*claimState // oldest first
	sets   []rr.Set      // what the zone holds here, by type
	ds     rr.Set        // at the apex: the DS set, which belongs into the parent
	held   []holding
	cut    cut
	queued bool
}

// A holding says that a namespace holds the name, and since when.
type holding struct {
	namespace string
	created   int64
}

// set returns the cell's set of one type, or an empty one.
func (c *cell) set(t rr.Type) rr.Set {
	if c == nil {
		return rr.Set{}
	}
	for _, s := range c.sets {
		if s.Type == t {
			return s
		}
	}
	return rr.Set{}
}

func (c *cell) apex() bool { return c.node == c.zone.node }

// cell returns what z holds at n, or nil.
func (n *node) cell(z *zoneState) *cell {
	for _, c := range n.cells {
		if c.zone == z {
			return c
		}
	}
	return nil
}

// cell returns what z holds at n and makes an empty cell if there is none.
func (w *World) cell(n *node, z *zoneState) *cell {
	if c := n.cell(z); c != nil {
		return c
	}
	c := &cell{zone: z, node: n, depth: z.name.NumLabels()}
	n.cells = append(n.cells, c)
	return c
}

// touch marks the cell of z at n, if there is one or derive says that one may come.
func (w *World) touch(n *node, z *zoneState, derive bool) {
	if z == nil || z.dead {
		return
	}
	if derive {
		w.cells.push(w.cell(n, z))
	} else if c := n.cell(z); c != nil {
		w.cells.push(c)
	}
}

// join puts a claim into the cell of its Zone.
func (w *World) join(c *claimState, z *zoneState) {
	at := w.cell(c.node, z)
	i, _ := slices.BinarySearchFunc(at.claims, c, func(a, b *claimState) int { return a.age.compare(b.age) })
	at.claims = slices.Insert(at.claims, i, c)
	c.home, c.cell = z, at
	w.cells.push(at)
}

// leave takes a claim out of its cell.
func (w *World) leave(c *claimState) {
	at := c.cell
	c.home, c.cell = nil, nil
	if at == nil {
		return
	}
	if i := slices.Index(at.claims, c); i >= 0 {
		at.claims = slices.Delete(at.claims, i, i+1)
	}
	w.cells.push(at)
}

// recompose marks everything that a Zone holds.
func (w *World) recompose(z *zoneState) {
	if z.node == nil {
		return
	}
	z.node.walk(func(n *node) bool {
		w.touch(n, z, false)
		return true
	})
}

// A queue yields cells from the deepest Zone to the highest, and inside a Zone from
// the longest name to the shortest: sets flow from sub-zones to parents, and a cut
// depends on what is below it. While a cell is composed only later ones are added.
type queue struct {
	byRank map[int][]*cell
	ranks  []int // ascending
}

func (q *queue) push(c *cell) {
	if c.queued {
		return
	}
	c.queued = true
	rank := c.depth<<8 | c.node.depth
	if q.byRank == nil {
		q.byRank = map[int][]*cell{}
	}
	if q.byRank[rank] == nil {
		i, _ := slices.BinarySearch(q.ranks, rank)
		q.ranks = slices.Insert(q.ranks, i, rank)
	}
	q.byRank[rank] = append(q.byRank[rank], c)
}

// pop returns the next cell, or nil.
func (q *queue) pop() *cell {
	if len(q.ranks) == 0 {
		return nil
	}
	rank := q.ranks[len(q.ranks)-1]
	cells := q.byRank[rank]
	c := cells[len(cells)-1]
	if cells = cells[:len(cells)-1]; len(cells) == 0 {
		delete(q.byRank, rank)
		q.ranks = q.ranks[:len(q.ranks)-1]
	} else {
		q.byRank[rank] = cells
	}
	c.queued = false
	return c
}
