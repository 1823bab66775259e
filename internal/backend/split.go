package backend

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Unfit says why the server can never take a set, "" if it may.
func (l *Limits) Unfit(c plan.Change) string {
	if c.Deletes() {
		return ""
	}
	if l.Refuses != nil {
		if why := l.Refuses(c.Key.Type); why != "" {
			return "the server " + why
		}
	}
	if n := len(c.Want.Data); l.MaxSetSize > 0 && n > l.MaxSetSize {
		return fmt.Sprintf("the server accepts at most %d records in a set, but this one has %d", l.MaxSetSize, n)
	}
	if size := l.size(c); l.MaxBytes > 0 && size > l.MaxBytes {
		return fmt.Sprintf("the set needs a message of %d octets, but the server accepts at most %d", size, l.MaxBytes)
	}
	return ""
}

// size returns what a change takes in a message, in octets. Without Limits.Size it is an estimate from above for wire
// format: presentation format is longer, but for short data such as addresses.
func (l *Limits) size(c plan.Change) int {
	if l.Size != nil {
		return l.Size(c)
	}
	n := 0
	for _, s := range [...]rr.Set{c.Have, c.Want} {
		for _, d := range s.Data {
			n += len(c.Key.Name.String()) + 1 + 10 + max(len(d)+2, 16)
		}
	}
	return n
}

// maxChanges is how many changes a batch may have. Where a batch is many calls, an Apply is kept short.
func (l *Limits) maxChanges() int {
	if l.Atomic != AtomicBatch {
		return cmp.Or(l.MaxChanges, 100)
	}
	return l.MaxChanges
}

// pieces yields the changes in the smallest pieces that go together: units (plan.Units), unless a batch cannot hold
// one.
func (l *Limits) pieces(changes []plan.Change) iter.Seq[[]plan.Change] {
	return func(yield func([]plan.Change) bool) {
		for unit := range plan.Units(changes) {
			size := len(unit)
			if most := l.maxChanges(); most > 0 && size > most {
				size = 1
			}
			for len(unit) > 0 {
				if !yield(unit[:size:size]) {
					return
				}
				unit = unit[size:]
			}
		}
	}
}

// Split packs changes into batches as full as the limits allow.
func (l *Limits) Split(changes []plan.Change) [][]plan.Change {
	var batches [][]plan.Change
	start, end, bytes := 0, 0, 0
	for piece := range l.pieces(changes) {
		size := 0
		for _, c := range piece {
			size += l.size(c)
		}
		tooMany := l.maxChanges() > 0 && end-start+len(piece) > l.maxChanges()
		if end > start && (tooMany || l.MaxBytes > 0 && bytes+size > l.MaxBytes) {
			batches = append(batches, changes[start:end:end])
			start, bytes = end, 0
		}
		end, bytes = end+len(piece), bytes+size
	}
	if end > start {
		batches = append(batches, changes[start:end:end])
	}
	return batches
}

// Creating packs the changes that make a zone: the first batch may be larger than the others.
func (l *Limits) Creating(changes []plan.Change) [][]plan.Change {
	first := *l
	first.MaxBytes = l.CreateBytes
	batches := first.Split(changes)
	if len(batches) < 2 {
		return batches
	}
	return append(batches[:1:1], l.Split(changes[len(batches[0]):])...)
}

// Halve parts a rejected batch. It returns false for a single piece, which cannot be parted.
func (l *Limits) Halve(batch []plan.Change) (left, right []plan.Change, ok bool) {
	middle := 0
	for piece := range l.pieces(batch) {
		if middle > 0 && middle+len(piece) > len(batch)/2 {
			break
		}
		middle += len(piece)
	}
	return batch[:middle:middle], batch[middle:], middle < len(batch)
}
