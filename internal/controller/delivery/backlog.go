package delivery

import (
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
)

// With so many zones on their way to servers it takes a while. DNS goes first then: statuses wait, but for no longer
// than maxBacklog, after which that is how things are.
const (
	manyZones  = 16
	maxBacklog = 30 * time.Second
)

// A Backlog is of zones on their way to servers, as there is one after a start.
type Backlog struct {
	zones  func() int // that are on their way
	bursts func() bool
	clock  func() time.Time
	since  guarded.Value[time.Time] // zero: there is none
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
	long, now := b.Long(), b.clock()
	since, unlock := b.since.Lock()
	defer unlock()
	if !long {
		*since = time.Time{}
	} else if since.IsZero() {
		*since = now
	}
	return long && now.Sub(*since) < maxBacklog
}
