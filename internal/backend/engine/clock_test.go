package engine_test

import (
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// clock is a time that passes only when a test says so. It belongs to one bubble (testing/synctest), which tells when
// everything that could happen at one moment has happened.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer // by due time
}

type timer struct {
	clock *clock
	due   time.Time
	f     func()
}

func newClock() *clock { return &clock{now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f in its own goroutine when d has passed.
func (c *clock) AfterFunc(d time.Duration, f func()) backend.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c, c.now.Add(max(d, 0)), f}
	if d <= 0 {
		go f()
		return t
	}
	at, _ := slices.BinarySearchFunc(c.timers, t.due, func(o *timer, due time.Time) int {
		if o.due.After(due) {
			return 1
		}
		return -1
	})
	c.timers = slices.Insert(c.timers, at, t)
	return t
}

// Stop ends the timer and reports whether it had not fired.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if i := slices.Index(t.clock.timers, t); i >= 0 {
		t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
		return true
	}
	return false
}

// pass lets time pass for a test: every timer fires at its moment, and what it starts comes to rest before the next.
func (c *clock) pass(d time.Duration) {
	synctest.Wait()
	end := c.Now().Add(d)
	for {
		f := c.due(end)
		if f == nil {
			return
		}
		go f()
		synctest.Wait()
	}
}

// due moves the time to the first timer until end and returns what it calls; nil when there is none, and it is end.
func (c *clock) due(end time.Time) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 || c.timers[0].due.After(end) {
		c.now = end
		return nil
	}
	t := c.timers[0]
	c.timers = c.timers[1:]
	c.now = t.due
	return t.f
}

// wait blocks the goroutine of a server or store that takes time.
func (c *clock) wait(d time.Duration) {
	if d > 0 {
		done := make(chan struct{})
		c.AfterFunc(d, func() { close(done) })
		<-done
	}
}
