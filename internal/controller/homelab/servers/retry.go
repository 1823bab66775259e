package servers

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

// A Schedule is what one slot has used up of its retries.
type Schedule struct {
	about string    // what they are for: something else has a budget of its own
	Used  int       // retries that were granted
	Next  time.Time // nothing is tried before
	Slow  bool      // the budget is used up, or retries are of no use
}

// ResetFor begins anew if the schedule is about something else now.
func (s *Schedule) ResetFor(about string) {
	if s.about != about {
		*s = Schedule{about: about}
	}
}

// Patience is a verdict on a failure: what it means for the next try.
type Patience int

// How long a failure has one wait.
const (
	Soon     Patience = iota // by the budget
	AsAsked                  // when the server says, and not later than Slow; it costs nothing
	Hopeless                 // when something changes, or very much later
)

// Failed notes a failure and says in words what comes next.
func (s *Schedule) Failed(r Retry, now time.Time, p Patience, after time.Duration) string {
	s.Slow = false
	switch {
	case p == AsAsked:
		after = cmp.Or(after, r.MaxDelay)
		if after > r.Slow { // a server may say any number
			s.Next = now.Add(r.Slow)
			return fmt.Sprintf("The operator tries again in %s, although the server asks for %s.", r.Slow, after)
		}
		s.Next = now.Add(after)
		return fmt.Sprintf("The operator tries again in %s, as the server asks.", after)
	case p == Soon && s.Used < r.MaxAttempts:
		after = r.Delay(s.Used)
		s.Used++
		s.Next = now.Add(after)
		return fmt.Sprintf("The operator tries again in %s (retry %d/%d).", after, s.Used, r.MaxAttempts)
	}
	s.Next, s.Slow = now.Add(r.Slow), true
	if p == Hopeless {
		return fmt.Sprintf(
			"The operator tries again when the object, its DNSClass or its Secret changes, and every %s.", r.Slow)
	}
	return fmt.Sprintf(
		"All retries failed (%d/%d); the operator tries again when the object, its DNSClass, its Secret or the "+
			"health of the server changes, and every %s.",
		r.MaxAttempts, r.MaxAttempts, r.Slow)
}
