package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// spreading is a service whose name servers have a change after a minute, as those of Route 53 may.
type spreading struct {
	backend.Backend
	now   func() time.Time
	asked int
	err   error // of questions
}

func (s *spreading) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	result, err := s.Backend.Apply(ctx, zone, batch)
	everywhere := s.now().Add(time.Minute)
	result.Pending = func(context.Context) (bool, error) {
		s.asked++
		return !s.now().Before(everywhere), s.err
	}
	return result, err
}

func TestAChangeDoesNotWaitUntilTheOneBeforeIsEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f, slow := b.feed(zoneName), &spreading{Backend: s, now: b.Now}
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: slow})
		first := f.Publish(version(1), nil)
		b.pass(10 * time.Second)
		b.has(m, "www", "192.0.2.1")
		if r := b.last("b"); r.Seq != 0 {
			t.Errorf("%d is confirmed before all name servers have it", r.Seq)
		}
		second := f.Publish(version(2), wwwKey)
		b.pass(10 * time.Second)
		b.has(m, "www", "192.0.2.2")
		b.pass(45 * time.Second) // the first is everywhere now, and the second is not
		b.confirmed("b", first)
		b.pass(time.Minute)
		b.confirmed("b", second)

		asked, seq := slow.asked, uint64(0)
		for i := range 100 { // a zone that never rests, for 500 s
			seq = f.Publish(version(3+i), wwwKey)
			b.pass(5 * time.Second)
			if r := b.last("b"); i > 30 && r.Seq+30 < seq {
				t.Fatalf("after %d changes, one in 5 s, %d is confirmed and not %d", i, r.Seq, seq)
			}
		}
		if n := slow.asked - asked; n > 100 {
			t.Errorf("100 changes took %d questions", n)
		}
		b.pass(10 * time.Minute)
		b.confirmed("b", seq)
		asked = slow.asked
		b.engine.Withdraw(target("s0", zoneName), "b")
		b.pass(50 * time.Second)
		b.has(m, "www")
		if b.last("b").Withdrawn {
			t.Error("it is withdrawn before all name servers know")
		}
		b.pass(time.Minute)
		if !b.last("b").Withdrawn || slow.asked == asked {
			t.Error("it is not withdrawn")
		}
	})
}

func TestQuestionsThatFailKeepNoChangeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f, slow := b.feed(zoneName), &spreading{Backend: s, now: b.Now, err: &backend.Error{Class: backend.ErrNotAuthorised,
			Words: "not GetChange"}}
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: slow})
		f.Publish(version(1), nil)
		b.pass(time.Minute)
		if r := b.last("b"); backend.Class(r.Err) != backend.ErrNotAuthorised || r.Seq != 0 {
			t.Errorf("it is said that %d is confirmed, and %v", r.Seq, r.Err)
		}
		seq := f.Publish(version(2), wwwKey)
		b.pass(5 * time.Minute)
		b.has(m, "www", "192.0.2.2")
		reads := s.reads
		b.pass(2 * time.Hour)
		if s.reads == reads {
			t.Error("what nobody can tell is not looked up")
		}
		b.confirmed("b", seq)
	})
}

// TestNewCredentialsAreNotHeldUpByOldOnes has a key be replaced while name servers learn of what was made with it.
func TestNewCredentialsAreNotHeldUpByOldOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f, old := b.feed(zoneName), &spreading{Backend: s, now: b.Now}
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: old})
		seq := f.Publish(version(1), nil)
		b.pass(10 * time.Second)
		old.err = &backend.Error{Class: backend.ErrNotAuthorised, Words: "InvalidClientTokenId"}
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "b", Feed: f,
			Backend: &spreading{Backend: s, now: b.Now}})
		b.pass(5 * time.Second)
		b.confirmed("b", seq)
	})
}
