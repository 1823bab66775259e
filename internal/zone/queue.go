package zone

import "slices"

// A queue yields cells from the deepest Zone to the highest, and inside a Zone from
// the longest name to the shortest: sets flow from sub-zones to parents, and a cut
// depends on what is below it. While a cell is composed only later ones are added, and
// the name servers below an apex, of which it does not depend in turn.
type queue struct {
	byRank map[int][]*cell
	ranks  []int // ascending
}

func (q *queue) push(c *cell) {
	if c.queued {
		return
	}
	c.queued = true
	rank := c.zone.node.depth<<8 | c.node.depth
	if q.byRank == nil {
		q.byRank = map[int][]*cell{}
	}
	if len(q.byRank[rank]) == 0 {
		i, _ := slices.BinarySearch(q.ranks, rank)
		q.ranks = slices.Insert(q.ranks, i, rank)
	}
	q.byRank[rank] = append(q.byRank[rank], c)
}

// pop returns the next cell, or nil.
func (q *queue) pop() *cell {
	if len(q.ranks) == 0 {
		q.byRank = nil
		return nil
	}
	rank := q.ranks[len(q.ranks)-1]
	cells := q.byRank[rank]
	c := cells[len(cells)-1]
	q.byRank[rank] = cells[:len(cells)-1]
	if len(cells) == 1 {
		q.ranks = q.ranks[:len(q.ranks)-1]
	}
	c.queued = false
	return c
}
