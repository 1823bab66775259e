package backend

import "time"

// backoff waits exponentially longer, by class of error, with jitter of a quarter each way.
type backoff struct{ rand func() float64 }

// waits says how long to wait after the first failure and at most, by class.
var waits = map[ErrorClass][2]time.Duration{
	ErrNoZone:        {5 * time.Second, 5 * time.Minute},
	ErrRejected:      {30 * time.Second, time.Hour},
	ErrNotAuthorised: {30 * time.Second, 15 * time.Minute},
	ErrUnavailable:   {time.Second, 2 * time.Minute},
	ErrThrottled:     {5 * time.Second, 5 * time.Minute},
	ErrTooLarge:      {30 * time.Second, 15 * time.Minute},
	ErrConflict:      {time.Second, 2 * time.Minute},
	ErrHeld:          {time.Hour, time.Hour},
}

func (b *backoff) after(class ErrorClass, failures int) time.Duration {
	w := waits[class]
	d := w[1]
	if failures < 20 {
		d = min(w[0]<<(failures-1), w[1])
	}
	return jitter(d, b.rand())
}

// jitter moves d by up to a quarter of it, r being in [0,1).
func jitter(d time.Duration, r float64) time.Duration {
	return time.Duration(float64(d) * (0.75 + r/2))
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
