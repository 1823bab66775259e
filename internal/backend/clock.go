package backend

import "time"

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
