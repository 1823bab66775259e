package servers

import (
	"strings"
	"testing"
	"time"
)

var documented = Retry{BaseDelay: DefaultBaseDelay, MaxDelay: DefaultMaxDelay, MaxAttempts: DefaultMaxAttempts,
	Slow: DefaultHealthInterval}

func TestTheBackoffOfTheDocument(t *testing.T) {
	now := time.Unix(0, 0)
	s := Schedule{}
	var waits, words []string
	for range 8 {
		text := s.Failed(documented, now, Soon, 0)
		waits, now = append(waits, s.Next.Sub(now).String()), s.Next
		words = append(words, text)
	}
	if got := strings.Join(waits, " "); got != "5s 10s 20s 40s 1m0s 10m0s 10m0s 10m0s" {
		t.Errorf("it waits %s", got)
	}
	if words[0] != "The operator tries again in 5s (retry 1/5)." || words[4] != "The operator tries again in 1m0s "+
		"(retry 5/5)." ||
		!strings.HasPrefix(words[5], "All retries failed (5/5); ") || words[5] != words[6] {
		t.Errorf("it says %q", words)
	}
}

func TestWhatIsNotCountedAsARetry(t *testing.T) {
	now := time.Unix(0, 0)
	s := Schedule{}
	for _, c := range []struct {
		sentence string
		p        Patience
		after    time.Duration
		wait     time.Duration
		used     int
	}{
		{"a failure", Soon, 0, 5 * time.Second, 1},
		{"a server that says when", AsAsked, 7 * time.Second, 7 * time.Second, 1},
		{"a server that asks for patience and does not say how much", AsAsked, 0, time.Minute, 1},
		{"a server that says a time beyond the interval of health checks", AsAsked, time.Hour, 10 * time.Minute, 1},
		{"another failure", Soon, 0, 10 * time.Second, 2},
		{"one that no retry mends", Hopeless, 0, 10 * time.Minute, 2},
	} {
		s.Failed(documented, now, c.p, c.after)
		if s.Next.Sub(now) != c.wait || s.Used != c.used {
			t.Errorf("after %s it waits %s, and %d retries are used", c.sentence, s.Next.Sub(now), s.Used)
		}
	}
	if s.ResetFor("something else"); s.Used != 0 || !s.Next.IsZero() {
		t.Errorf("something else begins with %+v", s)
	}
	if d := (Retry{BaseDelay: time.Hour, MaxDelay: time.Minute}).Delay(0); d != time.Minute {
		t.Errorf("a base above the maximum waits %s", d)
	}
	if d := documented.Delay(1 << 40); d != time.Minute {
		t.Errorf("retry 2^40 waits %s", d)
	}
}
