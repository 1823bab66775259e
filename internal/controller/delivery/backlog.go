package delivery

import (
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
)

// With so many zones on their way to servers it takes a while. DNS goes first then: statuses wait for as long as zones
// arrive, unless none does for maxStill, after which that is how things are. They wait for no longer than maxBacklog,
// since a server may be slow, and thousands of zones be waiting for it.
const (
	manyZones  = 16
	maxStill   = 30 * time.Second
	maxBacklog = 2 * time.Minute
)

// A Backlog is of zones on their way to servers, as there is one after a start.
type Backlog struct {
	zones  func() int // that are on their way
	bursts func() bool
	clock  func() time.Time
	course guarded.Value[course]
}

// A course says how a Backlog goes.
type course struct {
	since   time.Time // zero: there is none
	fewest  int       // zones since then
	reached time.Time // when there were so few first
}

// NewBacklog returns the Backlog of so many zones at a time, and of objects that change in bursts.
func NewBacklog(clock func() time.Time, zones func() int, bursts func() bool) *Backlog {
	return &Backlog{zones: zones, bursts: bursts, clock: clock}
}

// Long reports whether there is one.
func (b *Backlog) Long() bool { return b.zones() >= manyZones }

// Busy reports whether statuses have to wait: for it, or for the end of a burst.
func (b *Backlog) Busy() bool {
	if b.bursts() {
		return true
	}
	zones, now := b.zones(), b.clock()
	c, unlock := b.course.Lock()
	defer unlock()
	if zones < manyZones {
		*c = course{}
		return false
	}
	if c.since.IsZero() {
		*c = course{now, zones, now}
	} else if zones < c.fewest {
		c.fewest, c.reached = zones, now
	}
	return now.Sub(c.reached) < maxStill && now.Sub(c.since) < maxBacklog
}
