package backend

import "time"

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

// waits are by class of error.
var waits = map[ErrorClass]Doubled{
	ErrNoZone:        {5 * time.Second, 5 * time.Minute},
	ErrRejected:      {30 * time.Second, time.Hour},
	ErrNotAuthorised: {30 * time.Second, 15 * time.Minute},
	ErrUnavailable:   {time.Second, 2 * time.Minute},
	ErrThrottled:     {5 * time.Second, 5 * time.Minute},
	ErrTooLarge:      {30 * time.Second, 15 * time.Minute},
	ErrConflict:      {time.Second, 2 * time.Minute},
	ErrHeld:          {time.Hour, time.Hour},
}

// minGap is how long after a failed attempt even a new content waits: a server in trouble is not asked again at the
// rate at which contents change.
func minGap(class ErrorClass) time.Duration {
	switch class {
	case ErrNotAuthorised, ErrNoZone, ErrRejected, ErrTooLarge:
		return 5 * time.Second
	default:
		return time.Second
	}
}

// rest is how long a target that took some changes is left alone, so that in a burst more of them go out together:
// every message costs a write of the ledger and a reading back. A quiet target takes the next change at once.
func rest(changes int) time.Duration {
	if changes < 3 {
		return 0
	}
	return min(time.Duration(changes)*5*time.Millisecond, 250*time.Millisecond)
}
