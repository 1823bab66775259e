package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// account attaches an overlay with credentials of its own.
func (b *bench) account(name string, s backend.Backend) *engine.Feed {
	f := b.engine.NewFeed(engine.FeedConfig{ID: name, Zone: mustParse(zoneName), Overlay: true})
	b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: name, Feed: f, Backend: s})
	return f
}

// TestNothingIsSentWithTheCredentialsOfAnother has two accounts at one zone, of which one may not write.
func TestNothingIsSentWithTheCredentialsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		m.Foreign(mustParse(zoneName), []rr.Set{address("hand", "192.0.2.99")}, nil)
		b := newBench(t, nil)
		mayWrite, mayNot := b.account("may write", s), b.account("may not", m.Client(false))
		seq := mayWrite.Publish(own(address("shop", "192.0.2.1")), nil)
		mayNot.Publish(own(address("hand", "203.0.113.66"), address("shop", "203.0.113.66")), nil)
		b.pass(time.Minute)
		b.confirmed("may write", seq)
		if r := b.last("may not"); backend.Class(r.Err) != backend.ErrNotAuthorised {
			t.Errorf("the other hears %v", r.Err)
		}
		b.has(m, "hand", "192.0.2.99")
		b.has(m, "shop", "192.0.2.1")
		mayNot.Publish(own(), []rr.Key{address("hand", "").Key(), address("shop", "").Key()})
		b.pass(time.Hour)
		b.has(m, "hand", "192.0.2.99")
		b.has(m, "shop", "192.0.2.1")
	})
}

// TestASetOfTwoAccountsIsThatOfWhoAskedLast has it become the other's when that one goes.
func TestASetOfTwoAccountsIsThatOfWhoAskedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		b := newBench(t, nil)
		one, other, www := b.account("one", s), b.account("other", s), address("www", "").Key()
		one.Publish(own(address("www", "192.0.2.1")), nil)
		b.pass(time.Minute)
		other.Publish(own(address("www", "192.0.2.2")), nil)
		b.pass(time.Minute)
		b.has(m, "www", "192.0.2.2")
		other.Publish(own(), []rr.Key{www})
		b.pass(time.Minute)
		b.has(m, "www", "192.0.2.1")
		one.Publish(own(), []rr.Key{www})
		b.pass(time.Minute)
		b.has(m, "www")
	})
}

// TestWhatWasNeverThereLiesOverNothing has a zone and an account that may not write want one set.
func TestWhatWasNeverThereLiesOverNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s})
		over := b.account("may not", m.Client(false))
		over.Publish(own(address("www", "203.0.113.66")), nil)
		for i := range 3 {
			seq := f.Publish(version(i), wwwKey)
			b.pass(time.Minute)
			if r := b.last("zone"); r.Err != nil || r.Seq != seq || len(r.Refused) > 0 {
				t.Errorf("the zone hears %d, %v and that %v is refused; want %d", r.Seq, r.Err, r.Refused, seq)
			}
		}
	})
}

// TestAZoneHasAtOnceWhatAnOverlayLetsGo has an overlay let a set go, and has it end.
func TestAZoneHasAtOnceWhatAnOverlayLetsGo(t *testing.T) {
	for name, end := range map[string]func(*bench, *engine.Feed){
		"a set is let go":  func(_ *bench, over *engine.Feed) { over.Publish(own(), []rr.Key{}) },
		"the overlay ends": func(b *bench, _ *engine.Feed) { b.engine.Detach(target("s0", zoneName), "over") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				b := newBench(t, nil)
				f := b.feed(zoneName)
				f.Publish(version(1), nil)
				b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s})
				over := b.overlay(s)
				over.Publish(own(address("www", "198.51.100.1")), nil)
				b.pass(time.Minute)
				b.has(m, "www", "198.51.100.1")
				if r := b.last("zone"); r.Refused[wwwKey[0]].Reason == "" {
					t.Errorf("the zone hears that %v is refused", r.Refused)
				}
				end(b, over)
				b.pass(time.Minute)
				if r := b.last("zone"); r.Err != nil || len(r.Refused) > 0 {
					t.Errorf("the zone hears %v and that %v is refused", r.Err, r.Refused)
				}
				content := version(1)
				want, _ := content.Sets.Get(wwwKey[0])
				b.has(m, "www", want.Data...)
			})
		})
	}
}

// TestASetWhoseReadingBackFailsLiesOverAZone all the same once it is confirmed: another run has sent it.
func TestASetWhoseReadingBackFailsLiesOverAZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s})
		b.pass(time.Minute)
		d := &deaf{Backend: s}
		d.read = func() error {
			d.read = nil
			return backend.ErrUnavailable
		}
		seq := b.account("over", d).Publish(own(address("www", "198.51.100.1")), nil)
		b.pass(time.Minute)
		b.confirmed("over", seq)
		b.engine.Audit(target("s0", zoneName))
		b.pass(time.Minute)
		b.has(m, "www", "198.51.100.1")
		if r := b.last("zone"); r.Refused[wwwKey[0]].Reason == "" {
			t.Errorf("the zone hears that %v is refused", r.Refused)
		}
	})
}

// TestWhatAZoneDoesNotWantAnyMoreStaysWhereAnOverlayLetsItGo beside foreign sets: it is one of them by then.
func TestWhatAZoneDoesNotWantAnyMoreStaysWhereAnOverlayLetsItGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(backendtest.Profile{Limits: backend.Limits{SOA: backend.SOAServer, Confirms: true}}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s, Keep: true})
		b.pass(time.Minute)
		over := b.overlay(s)
		over.Publish(own(address("www", "198.51.100.1")), nil)
		b.pass(time.Minute)
		f.Publish(contentOf(mustParse(zoneName), set(zoneName, rr.TypeNS, 300, "server.example.net.")), wwwKey)
		b.pass(time.Minute)
		over.Publish(own(), []rr.Key{})
		b.pass(time.Hour)
		b.has(m, "www", "198.51.100.1")
	})
}

// TestWhoTriesAgainHasNobodyElseTryAgain has two accounts that may not write, of which one is asked for many times.
func TestWhoTriesAgainHasNobodyElseTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		eager, patient := &spy{Backend: m.Client(false)}, &spy{Backend: m.Client(false)}
		f := b.account("eager", eager)
		f.Publish(own(address("a", "192.0.2.1")), nil)
		b.account("patient", patient).Publish(own(address("b", "192.0.2.1")), nil)
		b.pass(time.Second)
		for range 5 {
			b.engine.Poke(target("s0", zoneName), f)
			b.pass(time.Second)
		}
		if eager.sent() != 6 || patient.sent() != 1 {
			t.Errorf("one sent %d batches, the other one %d", eager.sent(), patient.sent())
		}
	})
}
