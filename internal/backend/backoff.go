package backend

import (
	"time"
)

// Doubled says how long to wait between tries: after each failure in a row twice as long.
type Doubled struct{ First, Most time.Duration }

// After is how long to wait after the n-th failure in a row, from 1.
func (d Doubled) After(n int) time.Duration {
	wait := min(d.First, d.Most)
	for ; n > 1 && 0 < wait && wait < d.Most; n-- {
		wait += min(wait, d.Most-wait)
	}
	return wait
}

// Jitter moves d by up to a quarter of it, r being in [0,1).
func Jitter(d time.Duration, r float64) time.Duration {
	return time.Duration(float64(d) * (0.75 + r/2))
}
