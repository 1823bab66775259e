package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// overlay attaches a feed of sets of its own and publishes what is there already, asserting nothing.
func (b *bench) overlay(s backend.Backend, had ...rr.Set) *engine.Feed {
	f := b.engine.NewFeed(engine.FeedConfig{ID: "overlay", Zone: mustParse(zoneName), Overlay: true})
	b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "over", Feed: f, Backend: s})
	f.Publish(own(had...), []rr.Key{})
	return f
}

// own is the content of an overlay.
func own(sets ...rr.Set) engine.Content {
	c := contentOf(mustParse(zoneName), sets...)
	c.SOA = rr.SOA{}
	return c
}

func address(owner, data string) rr.Set {
	return set(owner+".example.org.", rr.TypeA, 120, data)
}

// has compares what a server holds under a name with what it should.
func (b *bench) has(m *backendtest.Memory, owner string, want ...string) {
	b.Helper()
	_, sets, _ := m.Truth(mustParse(zoneName))
	got, _ := sets.Get(address(owner, "192.0.2.1").Key())
	if !slices.Equal(got.Data, want) {
		b.Errorf("the server has %v at %s, want %v", got.Data, owner, want)
	}
}

func (b *bench) confirmed(name string, seq uint64) {
	b.Helper()
	if r := b.last(name); r.Err != nil || r.Seq != seq {
		b.Errorf("%s heard %d, error %v; want %d", name, r.Seq, r.Err, seq)
	}
}

func TestAnOverlayOverwritesAndLooksAtNothing(t *testing.T) {
	for _, limits := range []backend.Limits{{Confirms: true},
		{Confirms: true, SOA: backend.SOAServer, Read: backend.ReadSet}, {Confirms: true, Read: backend.ReadNone}} {
		synctest.Test(t, func(t *testing.T) {
			m, s := serverWith(backendtest.Profile{Limits: limits}, zoneName)
			zone := mustParse(zoneName)
			m.Foreign(zone, []rr.Set{address("a", "203.0.113.1"), address("gone", "203.0.113.1"),
				address("theirs", "203.0.113.1")}, nil)
			b := newBench(t, nil)
			f := b.overlay(s, address("old", "192.0.2.1"))
			b.pass(time.Minute)
			if s.sent() != 0 {
				t.Error("what was there before the start is sent again")
			}
			gone, never := address("gone", "").Key(), address("never", "").Key()
			want := own(address("a", "192.0.2.1"), address("old", "192.0.2.1"))
			b.confirmed("over", 1)
			seq := f.Publish(want, []rr.Key{address("a", "").Key(), gone, never})
			b.pass(time.Second)
			b.confirmed("over", seq)
			b.has(m, "a", "192.0.2.1")
			b.has(m, "gone")
			b.has(m, "theirs", "203.0.113.1")
			m.Foreign(zone, []rr.Set{address("a", "203.0.113.2")}, nil)
			seq = f.Publish(want, []rr.Key{address("a", "").Key()})
			b.pass(time.Second)
			b.confirmed("over", seq)
			b.has(m, "a", "192.0.2.1")
			b.has(m, "old")
			f.Publish(want, nil)
			b.pass(time.Minute)
			b.has(m, "old", "192.0.2.1")
			if s.reads != 0 {
				t.Errorf("%d readings were made", s.reads)
			}
		})
	}
}

// TestAnOverlayDoesNotWaitForWhatIsTaken has a server that carries out what it takes after an hour.
func TestAnOverlayDoesNotWaitForWhatIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true, SOA: backend.SOAServer}}, zoneName)
		b := newBench(t, nil)
		f := b.overlay(later{s})
		for i := range 3 {
			seq := f.Publish(own(address("a", fmt.Sprintf("192.0.2.%d", i))), nil)
			b.pass(5 * time.Second)
			b.confirmed("over", seq)
		}
	})
}

// TestWhatIsDeletedIsNamed has a service that deletes only what is named exactly be told what was sent, and not be
// asked first.
func TestWhatIsDeletedIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		b := newBench(t, nil)
		f := b.overlay(s)
		for _, data := range []string{"192.0.2.1", "192.0.2.2"} {
			f.Publish(own(address("a", data)), nil)
			b.pass(time.Minute)
		}
		f.Publish(own(), []rr.Key{address("a", "").Key(), address("never", "").Key()})
		b.pass(time.Minute)
		last := s.batches[len(s.batches)-1].Changes
		if len(last) != 2 || !last[0].Have.Equal(address("a", "192.0.2.2")) || !last[1].Creates() {
			t.Errorf("the deletions are %v", last)
		}
		early := own()
		early.Left = own(address("early", "192.0.2.3")).Sets
		f.Publish(early, []rr.Key{address("early", "").Key()})
		b.pass(time.Minute)
		last = s.batches[len(s.batches)-1].Changes
		if len(last) != 1 || !last[0].Have.Equal(address("early", "192.0.2.3")) {
			t.Errorf("the deletion of what an earlier process sent is %v", last)
		}
	})
}

// later is a server that never says that it has carried out anything.
type later struct{ backend.Backend }

func (l later) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	result, err := l.Backend.Apply(ctx, zone, batch)
	result.Pending = func(context.Context) (bool, error) { return false, nil }
	return result, err
}

func TestAnOverlayTriesAgainOnlyWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(backendtest.Profile{Limits: backend.Limits{}, Bad: func(w rr.Set) bool {
			return w.Data[0] == "192.0.2.66"
		}}, zoneName)
		b := newBench(t, nil)
		f := b.overlay(s)
		f.Publish(own(address("a", "192.0.2.1")), nil)
		b.pass(time.Minute)
		m.SetDown(true)
		seq := f.Publish(own(address("a", "192.0.2.1"), address("b", "192.0.2.1"), address("bad", "192.0.2.66")),
			[]rr.Key{address("b", "").Key(), address("bad", "").Key()})
		b.pass(time.Minute)
		if r := b.last("over"); backend.Class(r.Err) != backend.ErrUnavailable {
			t.Errorf("of a server that is down it is said: %v", r.Err)
		}
		m.SetDown(false)
		b.engine.Poke(target("s0", zoneName), f)
		b.pass(time.Minute)
		b.confirmed("over", seq)
		b.has(m, "b", "192.0.2.1")
		if refused := b.last("over").Refused; len(refused) != 1 || refused[address("bad", "").Key()].Reason == "" {
			t.Errorf("refused are %v", refused)
		}
		n := 0
		for _, batch := range s.batches {
			for _, c := range batch.Changes {
				if c.Key == address("a", "").Key() {
					n++
				}
			}
		}
		if n != 1 {
			t.Errorf("what the server had already was sent %d times", n)
		}
	})
}

func TestAnOverlayLiesOverAZone(t *testing.T) {
	for _, keep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, s := serverWith(bindLike, zoneName)
			b := newBench(t, nil)
			f := b.feed(zoneName)
			f.Publish(version(1), nil)
			b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s, Keep: keep,
				Audit: time.Hour})
			b.pass(time.Second)
			over := b.overlay(s)
			www := address("www", "").Key()
			over.Publish(own(address("www", "198.51.100.1"), address("api", "198.51.100.1")), nil)
			b.pass(2 * time.Hour)
			b.has(m, "www", "198.51.100.1")
			b.has(m, "api", "198.51.100.1")
			r := b.last("zone")
			if r.Refused[www].Reason == "" || len(r.Refused) != 1 || r.Foreign != 0 {
				t.Errorf("the zone hears that %v is refused and %d sets are foreign", r.Refused, r.Foreign)
			}
			seq := f.Publish(version(2), wwwKey)
			b.pass(time.Hour)
			b.confirmed("zone", seq)
			b.has(m, "www", "198.51.100.1")
			over.Publish(own(), []rr.Key{www, address("api", "").Key()})
			b.pass(time.Second)
			b.has(m, "www", "192.0.2.2")
			b.pass(2 * time.Hour)
			b.has(m, "www", "192.0.2.2")
			b.has(m, "api")
			for _, batch := range s.batches {
				for _, c := range batch.Changes {
					if c.Key == www && c.Deletes() {
						t.Error("a set that both wanted was gone in between")
					}
				}
			}
			if r := b.last("zone"); len(r.Refused) != 0 || r.Err != nil {
				t.Errorf("afterwards the zone hears %v, %v", r.Refused, r.Err)
			}
		})
	}
}

// TestAZoneThatIsWantedAgainWhileItIsRemovedMeetsAnOverlay: what is known of a server begins anew with the removal.
func TestAZoneThatIsWantedAgainWhileItIsRemovedMeetsAnOverlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(backendtest.Profile{Limits: backend.Limits{Removes: true, Creates: true}}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		attach := func() {
			b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s})
		}
		attach()
		b.pass(time.Second)
		s.setApply(func(batch backend.Batch) error {
			if batch.Remove {
				attach()
			}
			return nil
		})
		b.engine.Withdraw(target("s0", zoneName), "zone")
		b.pass(time.Second)
		b.overlay(s).Publish(own(address("www", "198.51.100.1")), nil)
		seq := f.Publish(version(2), wwwKey)
		b.pass(time.Minute)
		b.has(m, "www", "198.51.100.1")
		if r := b.last("zone"); r.Err != nil || r.Seq != seq || r.Refused[wwwKey[0]].Reason == "" {
			t.Errorf("the zone hears %d, %v and that %v is refused; want %d", r.Seq, r.Err, r.Refused, seq)
		}
	})
}

// TestNeitherHoldsUpTheOther has one of the two without credentials.
func TestNeitherHoldsUpTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: m.Client(false)})
		over := b.overlay(s)
		seq := over.Publish(own(address("api", "198.51.100.1")), nil)
		b.pass(time.Second)
		b.confirmed("over", seq)
		if r := b.last("zone"); backend.Class(r.Err) != backend.ErrNotAuthorised {
			t.Errorf("the zone hears %v", r.Err)
		}
	})
}

// TestZonesAndOverlaysInRandomOrder changes a zone and an overlay of one server, which fails and is written to by
// others, and compares in the end.
func TestZonesAndOverlaysInRandomOrder(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			m, s := serverWith(bindLike, zoneName)
			zone, at := mustParse(zoneName), target("s0", zoneName)
			b := newBench(t, nil)
			f := b.feed(zoneName)
			b.engine.Attach(at, engine.Attachment{Name: "zone", Feed: f, Backend: s, Audit: time.Hour})
			over := b.overlay(s)
			wanted, laid := map[string]rr.Set{}, map[string]rr.Set{}
			publish := func(from map[string]rr.Set, more ...rr.Set) engine.Content {
				for _, set := range from {
					more = append(more, set)
				}
				return contentOf(zone, more...)
			}
			apex := set(zoneName, rr.TypeNS, 300, "server.example.net.")
			f.Publish(publish(wanted, apex), nil)
			for range 60 {
				name := fmt.Sprintf("h%d", random.IntN(4))
				set := address(name, fmt.Sprintf("192.0.2.%d", random.IntN(250)))
				switch random.IntN(7) {
				case 0, 1:
					wanted[name] = set
					f.Publish(publish(wanted, apex), []rr.Key{set.Key()})
				case 2:
					delete(wanted, name)
					f.Publish(publish(wanted, apex), []rr.Key{set.Key()})
				case 3:
					laid[name] = set
					c := publish(laid)
					c.SOA = rr.SOA{}
					over.Publish(c, []rr.Key{set.Key()})
				case 4:
					delete(laid, name)
					c := publish(laid)
					c.SOA = rr.SOA{}
					over.Publish(c, []rr.Key{set.Key()})
				case 5:
					m.Foreign(zone, []rr.Set{set}, nil)
				case 6:
					m.SetDown(random.IntN(2) == 0)
				}
				b.pass(time.Duration(random.IntN(3000)) * time.Millisecond)
			}
			m.SetDown(false)
			b.engine.Poke(at, f)
			b.engine.Poke(at, over)
			b.pass(time.Minute)
			c := publish(laid)
			c.SOA = rr.SOA{}
			over.Publish(c, nil) // who asks again gets it, whatever others have written
			b.engine.Audit(at)
			b.pass(time.Hour)
			b.pass(time.Hour)
			for i := range 4 {
				name := fmt.Sprintf("h%d", i)
				want, ok := laid[name]
				if !ok {
					want = wanted[name]
				}
				b.has(m, name, want.Data...)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

// TestWhatAnOverlayLetsGoStays has sets let go that were about to be sent: before they were, after they were refused,
// and after others have had them retried.
func TestWhatAnOverlayLetsGoStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(backendtest.Profile{Limits: backend.Limits{}, Bad: func(w rr.Set) bool {
			return w.Data[0] == "192.0.2.66"
		}}, zoneName)
		m.Foreign(mustParse(zoneName), []rr.Set{address("pending", "203.0.113.1"), address("refused", "203.0.113.2"), address(
			"gone", "203.0.113.3")}, nil)
		b := newBench(t, nil)
		f := b.overlay(s)
		b.pass(time.Minute)
		m.SetDown(true)
		f.Publish(own(address("pending", "192.0.2.1"), address("refused", "192.0.2.66")), nil)
		b.pass(time.Minute)
		f.Publish(own(address("refused", "192.0.2.66")), []rr.Key{address("gone", "").Key()})
		m.SetDown(false)
		b.pass(time.Hour)
		b.has(m, "pending", "203.0.113.1")
		b.has(m, "gone")
		f.Publish(own(), []rr.Key{})
		f.Publish(own(address("other", "192.0.2.9")), nil)
		b.pass(24 * time.Hour)
		b.has(m, "other", "192.0.2.9")
		b.has(m, "refused", "203.0.113.2")
		m.Foreign(mustParse(zoneName), []rr.Set{address("gone", "203.0.113.4")}, nil)
		f.Publish(own(address("gone", "192.0.2.7"), address("other", "192.0.2.9")), []rr.Key{address("gone", "").Key()})
		b.pass(time.Minute)
		b.has(m, "gone", "192.0.2.7")
		f.Publish(own(address("other", "192.0.2.9")), []rr.Key{})
		b.pass(24 * time.Hour)
		b.has(m, "gone", "192.0.2.7")
	})
}

// TestOnlyAnOverlayAsserts has a zone and an overlay of it sent by one Backend, which tells them apart.
func TestOnlyAnOverlayAsserts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s})
		b.pass(time.Minute)
		over, api := b.overlay(s), address("api", "198.51.100.1")
		over.Publish(own(api), nil)
		b.pass(time.Minute)
		over.Publish(own(), []rr.Key{api.Key()})
		b.pass(time.Minute)
		asserted := 0
		for _, batch := range s.batches {
			about := slices.ContainsFunc(batch.Changes, func(c plan.Change) bool { return c.Key == api.Key() })
			if batch.Assert != about {
				t.Errorf("that it asserts is said %t of %v", batch.Assert, batch.Changes)
			}
			if about {
				asserted++
			}
		}
		if asserted != 2 {
			t.Errorf("the overlay sent %d batches", asserted)
		}
	})
}
