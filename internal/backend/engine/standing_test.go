package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
)

func TestTheStandingOfATargetSaysWhatTheServerWasLastHeardWithAndWhenItIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		d := &deaf{Backend: s}
		b := newBench(t, func(c *engine.Config) {
			c.Backoff = func(_ backend.ErrorClass, failures int) time.Duration { return time.Duration(failures) * time.Minute }
		})
		f, at := b.feed(zoneName), target("s", zoneName)
		if _, known := b.engine.Standing(at); known {
			t.Error("there is a standing of a target that nobody is attached to")
		}
		f.Publish(version(0), nil)
		b.engine.Attach(at, engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: time.Hour})
		b.pass(time.Second)
		good := standing(t, b, at)
		if has, known := good.Has(wwwKey[0]); !known || len(has.Data) == 0 || good.Failures > 0 || good.Running {
			t.Errorf("a server that has all stands so: %+v, with %v, %v", good, has, known)
		}
		if now := time.Now(); now.Sub(good.Heard) > time.Second || good.Since.IsZero() || !good.Next.After(now) {
			t.Errorf("at %s, a server that has all stands so: %+v", now, good)
		}

		d.read = func() error { return backend.ErrUnavailable }
		b.engine.Audit(at)
		b.pass(time.Second)
		first := standing(t, b, at)
		b.pass(90 * time.Second) // a second try after one minute
		second := standing(t, b, at)
		switch {
		case first.Failures != 1 || second.Failures != 2:
			t.Errorf("%d failures are counted, then %d, not 1 and 2", first.Failures, second.Failures)
		case !first.Heard.Equal(good.Heard) || !second.Heard.Equal(good.Heard):
			t.Errorf("a server that does not answer was heard at %s and %s, not at %s", first.Heard, second.Heard, good.Heard)
		case !second.Since.Equal(first.Since) || !first.Since.After(good.Heard):
			t.Errorf("it fails since %s, then since %s", first.Since, second.Since)
		case !first.Next.Equal(first.Since.Add(time.Minute)) || !second.Next.Equal(first.Next.Add(2*time.Minute)):
			t.Errorf("it fails since %s, and is tried again at %s, then at %s", first.Since, first.Next, second.Next)
		}

		d.read = nil
		b.pass(3 * time.Minute)
		again := standing(t, b, at)
		if again.Failures > 0 || !again.Heard.After(good.Heard) || !again.Since.Equal(again.Heard) {
			t.Errorf("a server that has come back stands so: %+v", again)
		}
	})
}

func TestAServerThatRefusesIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{}, zoneName)
		d := &deaf{Backend: s, read: func() error { return backend.ErrNotAuthorised }}
		b := newBench(t, nil)
		f, at := b.feed(zoneName), target("s", zoneName)
		f.Publish(version(0), nil)
		b.engine.Attach(at, engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: -1})
		b.pass(time.Second)
		got := standing(t, b, at)
		if _, known := got.Has(wwwKey[0]); known || got.Heard.IsZero() || got.Failures == 0 {
			t.Errorf("a server that lets nobody in stands so: %+v", got)
		}
	})
}

func TestTheStandingSaysHowLongTheNewestChangeTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		d := &deaf{Backend: s}
		b := newBench(t, func(c *engine.Config) {
			c.Backoff = func(backend.ErrorClass, int) time.Duration { return time.Minute }
		})
		f, at := b.feed(zoneName), target("s", zoneName)
		f.Publish(version(0), nil)
		b.engine.Attach(at, engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: time.Hour})
		b.pass(time.Hour)
		first := standing(t, b, at)
		if first.Confirmed.IsZero() || first.Confirmed.Sub(first.Published) > time.Second {
			t.Errorf("a content that was sent at once was published at %s, confirmed at %s", first.Published, first.Confirmed)
		}
		d.read = func() error { return backend.ErrUnavailable }
		b.engine.Audit(at)
		b.pass(time.Second) // nothing is known of the server any more
		published := b.clock.Now()
		f.Publish(version(1), wwwKey)
		b.pass(time.Second)
		if late := standing(t, b, at); late.Published != first.Published || late.Confirmed != first.Confirmed {
			t.Errorf("before it is confirmed a change counts: %+v", late)
		}
		d.read = nil
		b.pass(2 * time.Minute)
		second := standing(t, b, at)
		if took := second.Confirmed.Sub(second.Published); !second.Published.Equal(published) || took < 30*time.Second ||
			took > 2*time.Minute {
			t.Errorf("what was published at %s is confirmed so: %+v", published, second)
		}
		b.engine.Audit(at)
		b.pass(time.Minute)
		if again := standing(t, b, at); again.Confirmed != second.Confirmed {
			t.Errorf("an audit counts as a change: %+v", again)
		}
	})
}

func standing(t *testing.T, b *bench, at backend.TargetKey) engine.Standing {
	t.Helper()
	s, known := b.engine.Standing(at)
	if !known {
		t.Fatalf("there is no standing of %v", at)
	}
	return s
}
