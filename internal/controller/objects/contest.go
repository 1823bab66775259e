package objects

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Two writers that believe different things of one object undo each other's changes as fast as the API server answers:
// two leaders for the seconds in which neither knows of the other one, or another operator of these kinds that still
// runs. Whoever writes a status, and finds that somebody else has written the object since it did so itself, takes its
// time after contestBurst of these: a change of another kind, such as that of a label, comes once or twice.
const (
	contestBurst = 3
	contestRest  = time.Second / 2
	contestCalm  = 5 * time.Second // without a contested write, the next one is the first again
)

// Contested is the error that nothing was written, because somebody else writes the same object again and again. It is
// to be written later.
type Contested struct {
	After time.Duration
}

// Error implements error.
func (c *Contested) Error() string {
	return "somebody else writes this object as well; the operator waits before it does so again"
}

// A contestKey names what is contested: "status", or what belongs to the object.
type contestKey struct {
	of   types.UID
	what string
}

// A contest is what was written of one object to versions that somebody else had made.
type contest struct {
	generation int64
	writes     int
	last       time.Time
}

func (c contest) calm(now time.Time) bool { return now.Sub(c.last) >= contestCalm }

// contests are those that are not long over. The zero value is ready for use.
type contests struct {
	of    map[contestKey]contest
	sweep int // at so many the calm ones are forgotten
}

// admit counts a write to a version of somebody else, or returns a *Contested.
func (c *contests) admit(o client.Object, what string, now time.Time) error {
	key := contestKey{o.GetUID(), what}
	one := c.of[key]
	if one.calm(now) || one.generation != o.GetGeneration() { // another spec is a reason for another status
		one = contest{generation: o.GetGeneration()}
	}
	if wait := one.last.Add(contestRest).Sub(now); one.writes >= contestBurst && wait > 0 {
		return &Contested{wait}
	}
	one.writes, one.last = one.writes+1, now
	c.keep(key, one)
	return nil
}

// leastSwept is how many contests are kept without a look at whether they are over.
const leastSwept = 64

// keep notes a contest. Those that are calm are forgotten whenever there are twice as many as were left.
func (c *contests) keep(key contestKey, one contest) {
	if len(c.of) >= c.sweep {
		for key, other := range c.of {
			if other.calm(one.last) {
				delete(c.of, key)
			}
		}
		c.sweep = max(leastSwept, 2*len(c.of))
	}
	if c.of == nil {
		c.of = map[contestKey]contest{}
	}
	c.of[key] = one
}

// contested returns a *Contested if somebody else has written an object since our last write, and does so again and
// again.
func (w *Writer) contested(read client.Object) error {
	if last := w.writes.version(read); last == 0 || Version(read) == last {
		return nil
	}
	return w.admit(read, "status")
}

// Restores counts that what belongs to an object is about to be written again, because somebody else has changed or
// deleted it. It returns a *Contested if that happens again and again.
func (w *Writer) Restores(o client.Object, what string) error {
	return w.admit(o, what)
}

// admit counts a write to a version of somebody else, or returns a *Contested.
func (w *Writer) admit(o client.Object, what string) error {
	c, unlock := w.contests.Lock()
	defer unlock()
	return c.admit(o, what, w.Now())
}
