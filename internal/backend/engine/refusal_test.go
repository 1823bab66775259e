package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestAServerThatTakesNothingRefusesNoSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		s.setApply(func(backend.Batch) error {
			return &backend.Error{Class: backend.ErrRejected, Words: "SERVFAIL", Temporary: true}
		})
		var sets []rr.Set
		for i := range 1000 {
			sets = append(sets, set(fmt.Sprintf("n%d.example.org.", i), rr.TypeA, 300, "192.0.2.1"))
		}
		want := contentOf(mustParse(zoneName), sets...)
		seq := f.Publish(want, nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Second)
		if r := b.last("b"); !errors.Is(r.Err, backend.ErrRejected) || len(r.Refused) > 0 {
			t.Errorf("%d sets are refused by a server that takes nothing: %v", len(r.Refused), r.Err)
		}
		if s.sent() > 50 {
			t.Errorf("finding out took %d batches", s.sent())
		}
		s.setApply(nil)
		b.pass(time.Hour)
		if r := b.last("b"); r.Err != nil || r.Seq != seq || len(r.Refused) > 0 {
			t.Errorf("after it recovered: %+v", r)
		}
		if _, sets, _ := m.Truth(mustParse(zoneName)); sets.Len() != 1001 {
			t.Errorf("the server holds %d sets, want 1001", sets.Len())
		}
	})
}

func TestWhatAServerCannotHoldIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true, MaxSetSize: 1}}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		two := set("www.example.org.", rr.TypeA, 300, "192.0.2.1", "192.0.2.2")
		f.Publish(contentOf(mustParse(zoneName), two), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Minute)
		if why := b.last("b").Refused[two.Key()]; why.Cause != backend.CauseUnsupported ||
			!strings.Contains(why.Reason, "at most 1 records") {
			t.Errorf("the set is refused as %+v", why)
		}
	})
}

func TestATemporaryRefusalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		s.setApply(func(batch backend.Batch) error {
			if slices.ContainsFunc(batch.Changes, func(c plan.Change) bool { return c.Key == wwwKey[0] }) {
				return &backend.Error{Class: backend.ErrRejected, Words: "SERVFAIL", Temporary: true}
			}
			return nil
		})
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Second)
		if r := b.last("b"); r.Err != nil || !strings.Contains(r.Refused[wwwKey[0]].Reason, "SERVFAIL") {
			t.Fatalf("not refused: %+v", r)
		}
		b.pass(24 * time.Hour)
		if s.sent() > 100 {
			t.Errorf("a day of a refused set took %d batches", s.sent())
		}
		s.setApply(nil)
		b.pass(2 * time.Hour)
		if r := b.last("b"); r.Err != nil || len(r.Refused) > 0 {
			t.Errorf("it is not tried again: %+v", r)
		}
	})
}

func TestNothingIsSentAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{MaxChanges: 1}}, zoneName)
		b := newBench(t, nil)
		s.clock, s.lasts = b.clock, time.Second
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Minute)
		var sets []rr.Set
		for i := range 100 {
			sets = append(sets, set(fmt.Sprintf("n%d.example.org.", i), rr.TypeA, 300, "192.0.2.1"))
		}
		f.Publish(contentOf(mustParse(zoneName), sets...), nil)
		b.pass(10500 * time.Millisecond)
		sent, reports := s.sent(), b.count()
		b.stop()
		if s.active != 0 {
			t.Error("a message is under way after Stop")
		}
		f.Publish(version(2), nil)
		b.engine.Poke(target("s", zoneName), f)
		b.engine.Attach(target("t", zoneName), engine.Attachment{Name: "c", Feed: f, Backend: s})
		b.pass(time.Hour)
		if s.sent() != sent || b.count() != reports {
			t.Errorf("after Stop %d batches were sent and %d reports made", s.sent()-sent, b.count()-reports)
		}
		if _, err := f.Mint(context.Background()); err == nil {
			t.Error("a label was made after Stop")
		}
	})
}

// TestWhatIsRefusedHasItsOwnSerial has two primaries that share secondaries: a serial that both have stands for one
// content.
func TestWhatIsRefusedHasItsOwnSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		followed := bindLike
		followed.Limits.Followed = true
		one, takes := serverWith(followed, zoneName)
		two, refuses := serverWith(followed, zoneName)
		zone := mustParse(zoneName)
		seen := map[uint32]string{}
		look := func(when string) (serials [2]uint32) {
			for i, m := range []*backendtest.Memory{one, two} {
				soa, sets, _ := m.Truth(zone)
				serials[i] = soa.Serial
				var text strings.Builder
				for s := range sets.All() {
					fmt.Fprintln(&text, s)
				}
				if old, ok := seen[soa.Serial]; ok && old != text.String() {
					t.Errorf("%s serial %d stands for\n%sand for\n%s", when, soa.Serial, old, text.String())
				}
				seen[soa.Serial] = text.String()
			}
			return serials
		}
		b := newBench(t, nil)
		f := b.feed(zoneName)
		b.attachAll(f, takes, refuses)
		f.Publish(version(1), nil)
		b.pass(time.Minute)
		if s := look("at first"); s[0] != s[1] {
			t.Errorf("the servers agree and have serials %d", s)
		}
		refuses.setApply(func(batch backend.Batch) error {
			if slices.ContainsFunc(batch.Changes, func(c plan.Change) bool { return c.Key == wwwKey[0] && c.Want.TTL > 0 }) {
				return &backend.Error{Class: backend.ErrRejected, Words: "REFUSED"}
			}
			return nil
		})
		other := set("other.example.org.", rr.TypeA, 300, "192.0.2.77")
		f.Publish(contentOf(zone, set("www.example.org.", rr.TypeA, 300, "192.0.2.2")), nil)
		b.pass(time.Minute)
		look("when one refuses a set")
		f.Publish(contentOf(zone, set("www.example.org.", rr.TypeA, 300, "192.0.2.2"), other), nil)
		b.pass(time.Minute)
		between := look("when another set comes")
		sent := refuses.sent()
		b.pass(10 * time.Minute)
		if more := refuses.sent() - sent; more > 3 {
			t.Errorf("ten minutes of a refused set took %d batches", more)
		}
		if _, sets, _ := two.Truth(zone); !hasSet(sets, other) {
			t.Error("a refused set keeps another one out")
		}
		f.Publish(contentOf(zone, other), nil)
		b.pass(time.Minute)
		if s := look("when it is not wanted any more"); s[0] != s[1] || !rr.SerialLess(between[1], s[1]) {
			t.Errorf("the servers agree again and have serials %d, after %d", s, between)
		}
	})
}

// TestAZoneThatIsGoneIsWithdrawn although one of its deletions could not be made while it was there.
func TestAZoneThatIsGoneIsWithdrawn(t *testing.T) {
	for sentence, protection := range map[string]plan.Protection{
		"the server refused it": {}, "the brake held it": {Limited: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				b, at := newBench(t, nil), target("s", zoneName)
				f := b.feed(zoneName)
				f.Publish(version(1), nil)
				b.engine.Attach(at, engine.Attachment{Name: "b", Feed: f, Backend: s, Protection: protection})
				b.pass(time.Minute)
				s.setApply(func(backend.Batch) error { return &backend.Error{Class: backend.ErrRejected, Words: "REFUSED"} })
				b.engine.Withdraw(at, "b")
				b.pass(time.Minute)
				if r := b.last("b"); r.Err != nil || r.Withdrawn || len(r.Lingering) != 1 {
					t.Fatalf("while it is there, the attachment hears %+v", r)
				}
				m.Lose(mustParse(zoneName), backendtest.Copy{})
				b.engine.Audit(at)
				b.pass(time.Minute)
				if r := b.last("b"); !r.Withdrawn || r.Held != nil {
					t.Errorf("after it is gone, the attachment hears %+v", r)
				}
			})
		})
	}
}

func hasSet(sets rr.Sets, want rr.Set) bool {
	got, ok := sets.Get(want.Key())
	return ok && got.Equal(want)
}
