package backend_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// bench is an engine with virtual time and what it reported. Its tests run in a bubble: time.Sleep moves the clock.
type bench struct {
	*testing.T
	engine *backend.Engine
	store  *backendtest.Store

	mu      sync.Mutex
	reports []backend.Report
}

func newBench(t *testing.T, change func(*backend.Config)) *bench {
	b := &bench{T: t, store: &backendtest.Store{}}
	config := backend.Config{
		Ceilings: b.store, Ledger: b.store, Clock: backend.SystemClock{}, Rand: rand.New(rand.NewPCG(1, 2)).Float64,
		Report: func(r backend.Report) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.reports = append(b.reports, r)
		},
	}
	if change != nil {
		change(&config)
	}
	b.engine = backend.New(config)
	t.Cleanup(func() { b.engine.Stop(context.Background()) })
	return b
}

// last returns the newest report of an attachment.
func (b *bench) last(name string) backend.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range slices.Backward(b.reports) {
		if r.Name == name {
			return r
		}
	}
	return backend.Report{}
}

func (b *bench) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reports)
}

// spy counts and may change the calls of a Backend.
type spy struct {
	backend.Backend
	mu       sync.Mutex
	batches  []backend.Batch
	reads    int
	active   int
	most     int
	lasts    time.Duration // of a call
	apply    func(backend.Batch) error
	lastCall time.Time
}

func (s *spy) enter() func() {
	s.mu.Lock()
	s.active++
	s.most = max(s.most, s.active)
	s.lastCall = time.Now()
	lasts := s.lasts
	s.mu.Unlock()
	time.Sleep(lasts)
	return func() {
		s.mu.Lock()
		s.active--
		s.mu.Unlock()
	}
}

func (s *spy) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	defer s.enter()()
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	return s.Backend.Read(ctx, zone, ask)
}

func (s *spy) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	s.mu.Lock()
	s.batches = append(s.batches, batch)
	apply := s.apply
	s.mu.Unlock()
	defer s.enter()()
	if apply != nil {
		if err := apply(batch); err != nil {
			return backend.Result{}, err
		}
	}
	return s.Backend.Apply(ctx, zone, batch)
}

func (s *spy) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.batches)
}

func (s *spy) setApply(f func(backend.Batch) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apply = f
}

// serverWith makes a server in memory that has zones as BIND would, and a spy on it.
func serverWith(p backendtest.Profile, zones ...string) (*backendtest.Memory, *spy) {
	m := backendtest.NewMemory(p)
	for _, z := range zones {
		zone := mustParse(z)
		m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 1}, set(z, rr.TypeNS, 300, "server.example.net."))
	}
	return m, &spy{Backend: m.Client(true)}
}

var bindLike = backendtest.Profile{Limits: backend.Limits{ApexNS: backend.ApexNSRequired}}

const zoneName = "example.org."

func target(server, zone string) backend.TargetKey {
	return backend.TargetKey{Server: server, Zone: mustParse(zone)}
}

func (b *bench) feed(zone string) *backend.Feed {
	return b.engine.NewFeed(backend.FeedConfig{ID: zone, Zone: mustParse(zone)})
}

// version is a content that differs from others by n.
func version(n int) backend.Content {
	return contentOf(mustParse(zoneName), set(zoneName, rr.TypeNS, 300, "server.example.net."),
		set("www.example.org.", rr.TypeA, 300, fmt.Sprintf("192.0.2.%d", n)))
}

var wwwKey = []rr.Key{{Name: mustParse("www.example.org."), Type: rr.TypeA}}

func TestAnIdleTargetCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		m, s := serverWith(bindLike)
		b := newBench(t, func(c *backend.Config) { c.Audit = 0 })
		before := runtime.NumGoroutine()
		for i := range n {
			zone := fmt.Sprintf("zone%d.example.", i)
			m.AddZone(mustParse(zone), rr.SOA{MName: mustParse(zone), RName: mustParse(zone), Serial: 1}, set(zone, rr.TypeNS, 300, "server.example.net."))
			f := b.feed(zone)
			f.Publish(contentOf(mustParse(zone), set(zone, rr.TypeNS, 300, "server.example.net.")), nil)
			b.engine.Attach(target("server", zone), backend.Attachment{Name: "b", Feed: f, Backend: s})
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if b.count() != n {
			t.Errorf("%d reports of %d targets", b.count(), n)
		}
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d idle targets hold %d goroutines", n, now-before)
		}
		sent, writes := s.sent(), b.store.Writes()
		time.Sleep(48 * time.Hour)
		if s.sent() != sent || b.store.Writes() != writes || b.count() != n {
			t.Errorf("idle targets sent %d batches, stored %d times and reported %d times", s.sent()-sent, b.store.Writes()-writes, b.count()-n)
		}
	})
}

func TestAuditsAreSpreadAndWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, func(c *backend.Config) { c.Audit = time.Hour })
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		time.Sleep(time.Minute)
		sent, reads, writes, reports := s.sent(), s.reads, b.store.Writes(), b.count()
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		if n := s.reads - reads; n < 75 || n > 135 {
			t.Errorf("100 hours had %d audits, want about one an hour", n)
		}
		if s.sent() != sent || b.store.Writes() != writes || b.count() != reports {
			t.Errorf("audits sent %d batches, stored %d times, reported %d times", s.sent()-sent, b.store.Writes()-writes, b.count()-reports)
		}
	})
}

func TestChangesGatherWhileOneIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		time.Sleep(time.Minute)
		s.lasts = time.Second
		sent, start := s.sent(), time.Now()
		f.Publish(version(1), wwwKey)
		synctest.Wait()
		if s.sent() != sent+1 || s.lastCall != start {
			t.Error("the first change of a quiet target waits")
		}
		var seq uint64
		for i := 2; i < 100; i++ {
			seq = f.Publish(version(i), wwwKey)
		}
		time.Sleep(time.Minute)
		if n := s.sent() - sent; n != 2 {
			t.Errorf("99 changes while one was under way took %d batches in all, want 2", n)
		}
		if r := b.last("b"); r.Seq != seq {
			t.Errorf("confirmed is %d, want %d", r.Seq, seq)
		}
	})
}

func TestCallsAreBoundedForAServerAndOverall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *backend.Config) { c.MaxActive, c.PerServer = 7, 3 })
		var spies []*spy
		for i := range 4 {
			m, s := serverWith(bindLike)
			s.lasts = time.Second
			spies = append(spies, s)
			for k := range 50 {
				zone := fmt.Sprintf("z%d.example.", k)
				m.AddZone(mustParse(zone), rr.SOA{MName: mustParse(zone), RName: mustParse(zone), Serial: 1}, set(zone, rr.TypeNS, 300, "server.example.net."))
				f := b.engine.NewFeed(backend.FeedConfig{ID: fmt.Sprint(i, zone), Zone: mustParse(zone)})
				f.Publish(contentOf(mustParse(zone), set("www."+zone, rr.TypeA, 300, "192.0.2.1")), nil)
				b.engine.Attach(target(fmt.Sprint(i), zone), backend.Attachment{Name: "b", Feed: f, Backend: s})
			}
		}
		time.Sleep(time.Hour)
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
		var feeds []*backend.Feed
		for _, z := range zones {
			f := b.feed(z)
			f.Publish(contentOf(mustParse(z), set("www."+z, rr.TypeA, 300, "192.0.2.1")), nil)
			b.engine.Attach(target("s", z), backend.Attachment{Name: z, Feed: f, Backend: s})
			feeds = append(feeds, f)
		}
		time.Sleep(time.Minute)
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
		time.Sleep(9 * time.Minute)
		if n := s.sent() - sent; n != 1 {
			t.Errorf("%d batches went to a server that asked for ten minutes of silence", n)
		}
		time.Sleep(2 * time.Minute)
		for _, z := range zones {
			if r := b.last(z); r.Err != nil || r.Seq < 2 {
				t.Errorf("after the silence %s is not delivered: %+v", z, r)
			}
		}
	})
}

func TestAServerThatComesBackWakesAllItsTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, "a.example.", "b.example.")
		b := newBench(t, func(c *backend.Config) {
			c.Backoff = func(backend.ErrorClass, int) time.Duration { return time.Hour }
		})
		m.SetDown(true)
		for _, z := range []string{"a.example.", "b.example."} {
			f := b.feed(z)
			f.Publish(contentOf(mustParse(z), set("www."+z, rr.TypeA, 300, "192.0.2.1")), nil)
			b.engine.Attach(target("s", z), backend.Attachment{Name: z, Feed: f, Backend: s})
		}
		time.Sleep(time.Minute)
		m.SetDown(false)
		b.engine.Poke(target("s", "a.example."))
		time.Sleep(time.Second)
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
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		for i := range 6000 {
			time.Sleep(10 * time.Millisecond)
			f.Publish(version(i), wwwKey)
		}
		if s.reads > 70 {
			t.Errorf("a server that is down was asked %d times in a minute of changes", s.reads)
		}
		m.SetDown(false)
		time.Sleep(5 * time.Minute)
		if r := b.last("b"); r.Err != nil || r.Seq == 0 {
			t.Errorf("after it came back: %+v", r)
		}
	})
}

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
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		time.Sleep(time.Second)
		if r := b.last("b"); !errors.Is(r.Err, backend.ErrRejected) || len(r.Refused) > 0 {
			t.Errorf("%d sets are refused by a server that takes nothing: %v", len(r.Refused), r.Err)
		}
		if s.sent() > 50 {
			t.Errorf("finding out took %d batches", s.sent())
		}
		s.setApply(nil)
		time.Sleep(time.Hour)
		if r := b.last("b"); r.Err != nil || r.Seq != seq || len(r.Refused) > 0 {
			t.Errorf("after it recovered: %+v", r)
		}
		if _, sets, _ := m.Truth(mustParse(zoneName)); sets.Len() != 1001 {
			t.Errorf("the server holds %d sets, want 1001", sets.Len())
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
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		time.Sleep(time.Second)
		if r := b.last("b"); r.Err != nil || !strings.Contains(r.Refused[wwwKey[0]], "SERVFAIL") {
			t.Fatalf("not refused: %+v", r)
		}
		time.Sleep(24 * time.Hour)
		if s.sent() > 100 {
			t.Errorf("a day of a refused set took %d batches", s.sent())
		}
		s.setApply(nil)
		time.Sleep(2 * time.Hour)
		if r := b.last("b"); r.Err != nil || len(r.Refused) > 0 {
			t.Errorf("it is not tried again: %+v", r)
		}
	})
}

func TestNothingIsSentAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{MaxChanges: 1}}, zoneName)
		s.lasts = time.Second
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), backend.Attachment{Name: "b", Feed: f, Backend: s})
		time.Sleep(time.Minute)
		var sets []rr.Set
		for i := range 100 {
			sets = append(sets, set(fmt.Sprintf("n%d.example.org.", i), rr.TypeA, 300, "192.0.2.1"))
		}
		f.Publish(contentOf(mustParse(zoneName), sets...), nil)
		time.Sleep(10500 * time.Millisecond)
		sent, reports := s.sent(), b.count()
		b.engine.Stop(context.Background())
		if s.active != 0 {
			t.Error("a message is under way after Stop")
		}
		f.Publish(version(2), nil)
		b.engine.Poke(target("s", zoneName))
		b.engine.Attach(target("t", zoneName), backend.Attachment{Name: "c", Feed: f, Backend: s})
		time.Sleep(time.Hour)
		if s.sent() != sent || b.count() != reports {
			t.Errorf("after Stop %d batches were sent and %d reports made", s.sent()-sent, b.count()-reports)
		}
		if _, err := f.Mint(context.Background()); err == nil {
			t.Error("a label was made after Stop")
		}
	})
}
