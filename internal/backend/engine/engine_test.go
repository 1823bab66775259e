package engine_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestAnIdleTargetCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		m, s := serverWith(bindLike)
		b := newBench(t, func(c *engine.Config) { c.Audit = 0 })
		before := runtime.NumGoroutine()
		for i := range n {
			zone := fmt.Sprintf("zone%d.example.", i)
			m.AddZone(mustParse(zone), rr.SOA{MName: mustParse(zone), RName: mustParse(zone), Serial: 1},
				set(zone, rr.TypeNS, 300, "server.example.net."))
			f := b.feed(zone)
			f.Publish(contentOf(mustParse(zone), set(zone, rr.TypeNS, 300, "server.example.net.")), nil)
			b.engine.Attach(target("server", zone), engine.Attachment{Name: "b", Feed: f, Backend: s})
		}
		b.pass(time.Hour)
		synctest.Wait()
		if b.count() != n {
			t.Errorf("%d reports of %d targets", b.count(), n)
		}
		if now := runtime.NumGoroutine(); now > before+n/1000 { // the count is the whole process's
			t.Errorf("%d idle targets hold %d goroutines", n, now-before)
		}
		sent, writes := s.sent(), b.store.Writes()
		b.pass(48 * time.Hour)
		if s.sent() != sent || b.store.Writes() != writes || b.count() != n {
			t.Errorf("idle targets sent %d batches, stored %d times and reported %d times", s.sent()-sent,
				b.store.Writes()-writes, b.count()-n)
		}
	})
}

func TestAuditsAreSpreadAndWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, func(c *engine.Config) { c.Audit = time.Hour })
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Minute)
		sent, reads, writes, reports := s.sent(), s.reads, b.store.Writes(), b.count()
		b.pass(100 * time.Hour)
		synctest.Wait()
		if n := s.reads - reads; n < 75 || n > 135 {
			t.Errorf("100 hours had %d audits, want about one an hour", n)
		}
		if s.sent() != sent || b.store.Writes() != writes || b.count() != reports {
			t.Errorf("audits sent %d batches, stored %d times, reported %d times", s.sent()-sent, b.store.Writes()-writes,
				b.count()-reports)
		}
	})
}

func TestChangesGatherWhileOneIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Minute)
		s.clock, s.lasts = b.clock, time.Second
		sent, start := s.sent(), b.Now()
		f.Publish(version(1), wwwKey)
		synctest.Wait()
		if s.sent() != sent+1 || s.lastCall != start {
			t.Error("the first change of a quiet target waits")
		}
		var seq uint64
		for i := 2; i < 100; i++ {
			seq = f.Publish(version(i), wwwKey)
		}
		b.pass(time.Minute)
		if n := s.sent() - sent; n != 2 {
			t.Errorf("99 changes while one was under way took %d batches in all, want 2", n)
		}
		if r := b.last("b"); r.Seq != seq {
			t.Errorf("confirmed is %d, want %d", r.Seq, seq)
		}
	})
}

func TestWhatIsToldAServerElsewhereGathersInABurst(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits backend.Limits
		rests  bool
	}{
		{"a server elsewhere", backend.Limits{}, true},
		{"a server in this process", backend.Limits{Volatile: true, Confirms: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, s := serverWith(backendtest.Profile{Limits: c.limits}, zoneName)
				b := newBench(t, nil)
				f := b.feed(zoneName)
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
				many := func(n int) {
					var sets []rr.Set
					var keys []rr.Key
					for i := range 5 {
						one := set(fmt.Sprintf("w%d.%s", i, zoneName), rr.TypeA, 300, fmt.Sprintf("192.0.2.%d", n))
						sets, keys = append(sets, one), append(keys, one.Key())
					}
					f.Publish(contentOf(mustParse(zoneName), sets...), keys)
					synctest.Wait()
				}
				many(1)
				b.pass(time.Minute)
				sent := s.sent()
				many(2)
				many(3)
				if rests := s.sent() == sent+1; rests != c.rests || s.sent() == sent {
					t.Errorf("%d batches are sent at once", s.sent()-sent)
				}
				b.pass(time.Second)
				if n := s.sent() - sent; n != 2 {
					t.Errorf("%d batches are sent in all, want 2", n)
				}
			})
		})
	}
}

func TestCallsAreBoundedForAServerAndOverall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *engine.Config) { c.MaxActive, c.PerServer = 7, 3 })
		var spies []*spy
		for i := range 4 {
			m, s := serverWith(bindLike)
			s.clock, s.lasts = b.clock, time.Second
			spies = append(spies, s)
			for k := range 50 {
				zone := fmt.Sprintf("z%d.example.", k)
				m.AddZone(mustParse(zone), rr.SOA{MName: mustParse(zone), RName: mustParse(zone), Serial: 1},
					set(zone, rr.TypeNS, 300, "server.example.net."))
				f := b.engine.NewFeed(engine.FeedConfig{ID: fmt.Sprint(i, zone), Zone: mustParse(zone)})
				f.Publish(contentOf(mustParse(zone), set("www."+zone, rr.TypeA, 300, "192.0.2.1")), nil)
				b.engine.Attach(target(fmt.Sprint(i), zone), engine.Attachment{Name: "b", Feed: f, Backend: s})
			}
		}
		b.pass(time.Hour)
		for i, s := range spies {
			if s.most > 3 || s.most < 2 {
				t.Errorf("server %d had %d calls at a time, want up to 3", i, s.most)
			}
		}
		if b.count() != 200 {
			t.Errorf("%d reports of 200 targets", b.count())
		}
	})
}

func TestAThrottledServerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zones := []string{"a.example.", "b.example.", "c.example."}
		_, s := serverWith(bindLike, zones...)
		b := newBench(t, nil)
		var feeds []*engine.Feed
		for _, z := range zones {
			f := b.feed(z)
			f.Publish(contentOf(mustParse(z), set("www."+z, rr.TypeA, 300, "192.0.2.1")), nil)
			b.engine.Attach(target("s", z), engine.Attachment{Name: z, Feed: f, Backend: s})
			feeds = append(feeds, f)
		}
		b.pass(time.Minute)
		s.setApply(func(backend.Batch) error {
			return &backend.Error{Class: backend.ErrThrottled, After: 10 * time.Minute}
		})
		sent := s.sent()
		feeds[0].Publish(contentOf(mustParse(zones[0]), set("www."+zones[0], rr.TypeA, 300, "192.0.2.2")), nil)
		synctest.Wait()
		s.setApply(nil)
		for i, f := range feeds {
			f.Publish(contentOf(mustParse(zones[i]), set("www."+zones[i], rr.TypeA, 300, "192.0.2.3")), nil)
		}
		b.pass(9 * time.Minute)
		if n := s.sent() - sent; n != 1 {
			t.Errorf("%d batches went to a server that asked for ten minutes of silence", n)
		}
		b.pass(2 * time.Minute)
		for _, z := range zones {
			if r := b.last(z); r.Err != nil || r.Seq < 2 {
				t.Errorf("after the silence %s is not delivered: %+v", z, r)
			}
		}
	})
}

func TestAServerThatAsksForYearsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		s.setApply(func(backend.Batch) error {
			return &backend.Error{Class: backend.ErrThrottled, After: 20 * 365 * 24 * time.Hour}
		})
		seq := f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		b.pass(time.Minute)
		s.setApply(nil)
		b.pass(20 * time.Minute)
		b.confirmed("b", seq)
	})
}

func TestAServerThatComesBackWakesAllItsTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, "a.example.", "b.example.")
		b := newBench(t, func(c *engine.Config) {
			c.Backoff = func(backend.ErrorClass, int) time.Duration { return time.Hour }
		})
		m.SetDown(true)
		var f *engine.Feed
		for _, z := range []string{"a.example.", "b.example."} {
			f = b.feed(z)
			f.Publish(contentOf(mustParse(z), set("www."+z, rr.TypeA, 300, "192.0.2.1")), nil)
			b.engine.Attach(target("s", z), engine.Attachment{Name: z, Feed: f, Backend: s})
		}
		b.pass(time.Minute)
		m.SetDown(false)
		b.engine.Poke(target("s", "b.example."), f)
		b.pass(time.Second)
		for _, z := range []string{"a.example.", "b.example."} {
			if r := b.last(z); r.Err != nil || r.Seq == 0 {
				t.Errorf("%s still waits: %+v", z, r)
			}
		}
	})
}

func TestAServerInTroubleIsNotAskedAtTheRateOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		m.SetDown(true)
		f.Publish(version(0), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: f, Backend: s})
		for i := range 6000 {
			b.pass(10 * time.Millisecond)
			f.Publish(version(i), wwwKey)
		}
		if s.reads > 70 {
			t.Errorf("a server that is down was asked %d times in a minute of changes", s.reads)
		}
		m.SetDown(false)
		b.pass(5 * time.Minute)
		if r := b.last("b"); r.Err != nil || r.Seq == 0 {
			t.Errorf("after it came back: %+v", r)
		}
	})
}

// TestOfKeysThatWereAllRefusedEachIsTriedAgain has a server know the younger one of two again after a while.
func TestOfKeysThatWereAllRefusedEachIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		seq := f.Publish(version(1), nil)
		s.setApply(func(backend.Batch) error { return backend.ErrNotAuthorised })
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "older", Feed: f, Backend: m.Client(false)})
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "younger", Feed: f, Backend: s, Since: b.Now()})
		b.pass(10 * time.Minute)
		if n := s.sent(); n > 5 {
			t.Errorf("in ten minutes %d batches were sent", n)
		}
		s.setApply(nil)
		b.pass(time.Hour)
		if r := b.last("younger"); r.Err != nil || r.Seq != seq {
			t.Errorf("whose key is known again hears %+v", r)
		}
		if r := b.last("older"); backend.Class(r.Err) != backend.ErrNotAuthorised {
			t.Errorf("the other hears %+v", r)
		}
	})
}

// TestZonesWaitUntilOverlaysAreKnown has an operator start again, which learns of the sets of an overlay later than of
// the zone.
func TestZonesWaitUntilOverlaysAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		_, free := serverWith(bindLike, zoneName)
		over := address("www", "198.51.100.1")
		b := newBench(t, nil)
		release := b.engine.HoldZones("held")
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), engine.Attachment{Name: "zone", Feed: f, Backend: s, Kind: "held"})
		b.engine.Attach(target("s1", zoneName), engine.Attachment{Name: "free", Feed: f, Backend: free, Kind: "free"})
		b.pass(time.Minute)
		if s.reads > 0 || s.sent() > 0 || free.sent() == 0 || !b.engine.HoldsZones() {
			t.Errorf("the server that is held was read %d times and sent %d batches, the other one %d", s.reads, s.sent(),
				free.sent())
		}
		o := b.overlay(s)
		seq := o.Publish(own(over), nil) // overlays are delivered
		b.pass(time.Second)
		b.confirmed("over", seq)
		release()
		release()
		b.pass(time.Minute)
		b.has(m, "www", "198.51.100.1")
		if r := b.last("zone"); r.Err != nil || r.Refused[over.Key()].Reason == "" || b.engine.HoldsZones() {
			t.Errorf("the zone hears %+v", r)
		}
	})
}

// TestWhatHasChangedComesBeforeWhatIsChecked begins a run with zones of an earlier one, at a server that takes one at a
// time. The last of them is unlike the others.
func TestWhatHasChangedComesBeforeWhatIsChecked(t *testing.T) {
	const zones = 20
	for _, c := range []struct {
		name    string
		changed func(i int) bool
		place   int // of the last zone, from 0
	}{
		{"one zone has changed since", func(i int) bool { return i == zones-1 }, 1},
		{"one zone has not: its turn comes while there are others", func(i int) bool { return i < zones-1 }, 3},
		{"all have changed: first come, first served", func(int) bool { return true }, zones - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(c *engine.Config) { c.PerServer = 1 })
				m, s := serverWith(bindLike)
				s.clock, s.lasts = b.clock, time.Second
				for i := range zones {
					name := fmt.Sprintf("z%d.example.", i)
					zone := mustParse(name)
					m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 7}, set(name, rr.TypeNS, 300, "server.example.net."))
					content := contentOf(zone, set("www."+name, rr.TypeA, 300, "192.0.2.1"))
					before := content.ID()
					if c.changed(i) {
						before = "another one"
					}
					f := b.engine.NewFeed(engine.FeedConfig{ID: name, Zone: zone, Serial: 7, Ceiling: 7, Content: before})
					f.Publish(content, nil)
					b.engine.Attach(target("s", name), engine.Attachment{Name: name, Feed: f, Backend: s})
				}
				b.pass(time.Hour)
				b.lock.Lock()
				defer b.lock.Unlock()
				last := fmt.Sprintf("z%d.example.", zones-1)
				place := slices.IndexFunc(b.reports, func(r engine.Report) bool { return r.Name == last })
				if len(b.reports) < zones || place != c.place {
					t.Errorf("%s is the %dth of %d, want %d", last, place, len(b.reports), c.place)
				}
			})
		})
	}
}
