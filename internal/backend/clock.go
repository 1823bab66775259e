package backend

import (
	"context"
	"time"
)

// A Clock tells the time and calls back after a while.
type Clock interface {
	Now() time.Time
	AfterFunc(time.Duration, func()) Timer
}

// A Timer is a call that is still to come.
type Timer interface{ Stop() bool }

// SystemClock is the machine's.
type SystemClock struct{}

// Now returns the time.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc calls f in its own goroutine after d.
func (SystemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Wait waits for d. It returns why the context ended if that came first.
func Wait(ctx context.Context, clock Clock, d time.Duration) error {
	over := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
