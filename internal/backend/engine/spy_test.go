package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// bench is an engine with a clock of its own and what it reported. Its tests run in a bubble.
type bench struct {
	*testing.T
	*clock
	engine *engine.Engine
	store  *backendtest.Store

	lock    sync.Mutex
	reports []engine.Report
}

func newBench(t *testing.T, change func(*engine.Config)) *bench {
	b := &bench{T: t, clock: newClock(), store: &backendtest.Store{}}
	config := engine.Config{
		Ceilings: b.store, Ledger: b.store, Clock: b.clock, Rand: rand.New(rand.NewPCG(1, 2)).Float64,
		Report: func(r engine.Report) {
			b.lock.Lock()
			defer b.lock.Unlock()
			b.reports = append(b.reports, r)
		},
	}
	if change != nil {
		change(&config)
	}
	b.engine = engine.New(config)
	t.Cleanup(b.stop)
	return b
}

// stop stops the engine and lets time pass for what is under way.
func (b *bench) stop() {
	done := make(chan struct{})
	go func() {
		b.engine.Stop(context.Background())
		close(done)
	}()
	b.pass(time.Minute)
	<-done
}

// last returns the newest report of an attachment.
func (b *bench) last(name string) engine.Report {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, r := range slices.Backward(b.reports) {
		if r.Name == name {
			return r
		}
	}
	return engine.Report{}
}

func (b *bench) count() int {
	b.lock.Lock()
	defer b.lock.Unlock()
	return len(b.reports)
}

// spy counts and may change the calls of a Backend.
type spy struct {
	backend.Backend
	clock    *clock // of the bench; nil: calls take no time
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
	lasts := s.lasts
	if s.clock != nil {
		s.lastCall = s.clock.Now()
	}
	s.mu.Unlock()
	if s.clock != nil {
		s.clock.wait(lasts)
	}
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

func (b *bench) feed(zone string) *engine.Feed {
	return b.engine.NewFeed(engine.FeedConfig{ID: zone, Zone: mustParse(zone)})
}

// version is a content that differs from others by n.
func version(n int) engine.Content {
	return contentOf(mustParse(zoneName), set(zoneName, rr.TypeNS, 300, "server.example.net."),
		set("www.example.org.", rr.TypeA, 300, fmt.Sprintf("192.0.2.%d", n)))
}

var wwwKey = []rr.Key{{Name: mustParse("www.example.org."), Type: rr.TypeA}}
