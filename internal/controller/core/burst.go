package core

import (
	"sync"
	"time"
)

// A burst is at least crowd changes that follow each other closely, as many a second or
// more. After a lull it is over, but for changes that somebody waits for: each of many
// clients sends its next one when its last is answered, so they come as slowly as we are.
// One that lasts longer than maxBurst is how things are, and nothing waits for its end.
type burst struct {
	mu          sync.Mutex
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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.goOn(now)
	b.changes++
}

// goOn begins anew after a lull. mu is held.
func (b *burst) goOn(now time.Time) {
	if b.awaited == 0 && now.Sub(b.last) > lull {
		b.since, b.changes = now, 0
	}
	b.last = now
}

// await has the burst go on until done is called.
func (b *burst) await(clock func() time.Time) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.goOn(clock())
	b.awaited++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.awaited--
		b.last = clock()
	}
}

// lasts reports whether it goes on.
func (b *burst) lasts(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lasted := now.Sub(b.since)
	return (b.awaited > 0 || now.Sub(b.last) < lull) && lasted < maxBurst &&
		b.changes >= crowd*max(1, int64(lasted/time.Second))
}
