package core

import (
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
)

// A burst is at least crowd changes that follow each other closely, as many a second or
// more. After a lull it is over, but for changes that somebody waits for: each of many
// clients sends its next one when its last is answered, so they come as slowly as we are.
// One that lasts longer than maxBurst is how things are, and nothing waits for its end.
type burst struct{ guarded.Value[run] }

// A run is how changes have come of late.
type run struct {
	last, since time.Time // when something changed, and since when that has gone on
	changes     int64
	awaited     int
}

const (
	crowd    = 50
	lull     = 300 * time.Millisecond
	maxBurst = 2 * time.Minute
)

// change counts one.
func (b *burst) change(now time.Time) {
	r, unlock := b.Lock()
	defer unlock()
	r.goOn(now)
	r.changes++
}

// goOn begins anew after a lull.
func (r *run) goOn(now time.Time) {
	if r.awaited == 0 && now.Sub(r.last) > lull {
		r.since, r.changes = now, 0
	}
	r.last = now
}

// await has the burst go on until done is called.
func (b *burst) await(clock func() time.Time) (done func()) {
	r, unlock := b.Lock()
	defer unlock()
	r.goOn(clock())
	r.awaited++
	return func() {
		r, unlock := b.Lock()
		defer unlock()
		r.awaited--
		r.last = clock()
	}
}

// lasts reports whether it goes on.
func (b *burst) lasts(now time.Time) bool {
	r, unlock := b.Lock()
	defer unlock()
	lasted := now.Sub(r.since)
	return (r.awaited > 0 || now.Sub(r.last) < lull) && lasted < maxBurst &&
		r.changes >= crowd*max(1, int64(lasted/time.Second))
}
