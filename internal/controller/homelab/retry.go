package homelab

import (
	"cmp"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// A Retry says when what failed is tried again.
type Retry struct {
	BaseDelay   time.Duration // after the first failure
	MaxDelay    time.Duration
	MaxAttempts int           // how often it is tried again so soon
	Slow        time.Duration // how often after that: the interval of health checks
}

// The defaults of the environment variables.
const (
	DefaultBaseDelay      = 5 * time.Second
	DefaultMaxDelay       = 60 * time.Second
	DefaultMaxAttempts    = 5
	DefaultHealthInterval = 10 * time.Minute
)

// Delay is how long to wait for retry n, which counts from 0: min(base·2^n, max).
func (r Retry) Delay(n int) time.Duration {
	return backend.Doubled{First: r.BaseDelay, Most: r.MaxDelay}.After(n + 1)
}

// A schedule is what one slot has used up of its retries.
type schedule struct {
	about string    // what they are for: something else has a budget of its own
	used  int       // retries that were granted
	next  time.Time // nothing is tried before
	slow  bool      // the budget is used up, or retries are of no use
}

// resetFor begins anew if the schedule is about something else now.
func (s *schedule) resetFor(about string) {
	if s.about != about {
		*s = schedule{about: about}
	}
}

// A verdict on a failure: what it means for the next try.
type patience int

const (
	soon     patience = iota // by the budget
	asked                    // when the server says; it costs nothing
	hopeless                 // when something changes, or very much later
)

// failed notes a failure and says in words what comes next.
func (s *schedule) failed(r Retry, now time.Time, p patience, after time.Duration) string {
	s.slow = false
	switch {
	case p == asked:
		after = cmp.Or(after, r.MaxDelay)
		s.next = now.Add(after)
		return fmt.Sprintf("It is tried again in %s, as the server asks.", after)
	case p == soon && s.used < r.MaxAttempts:
		after = r.Delay(s.used)
		s.used++
		s.next = now.Add(after)
		return fmt.Sprintf("It is tried again in %s (retry %d/%d).", after, s.used, r.MaxAttempts)
	}
	s.next, s.slow = now.Add(r.Slow), true
	if p == hopeless {
		return fmt.Sprintf("It is tried again when the object, its DNSClass or its Secret changes, and every %s.", r.Slow)
	}
	return fmt.Sprintf("All retries failed (%d/%d); it is tried again when the object, its DNSClass, its Secret or the "+
		"health of the server changes, and every %s.",
		r.MaxAttempts, r.MaxAttempts, r.Slow)
}
