package engine_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// world is what outlives lives: the servers and what is stored.
type world struct {
	t *testing.T
	*clock
	rand    *rand.Rand
	zone    dnsname.Name
	store   *backendtest.Store
	servers []*backendtest.Memory
	copies  map[int]backendtest.Copy // what other replicas hold of servers that live in the operator's process
	recent  []engine.Content
	keep    bool
	log     *slog.Logger
}

func mustParse(s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		panic(err)
	}
	return n
}

func set(owner string, typ rr.Type, ttl uint32, data ...string) rr.Set {
	return rr.NewSet(rr.Key{Name: mustParse(owner), Type: typ}, ttl, data...)
}

func contentOf(zone dnsname.Name, sets ...rr.Set) engine.Content {
	var none rr.Sets
	txn := none.Txn()
	for _, s := range sets {
		txn.Put(s)
	}
	h := fnv.New64a()
	for s := range txn.Sets().All() {
		fmt.Fprintln(h, s.Key(), s.TTL, s.Data)
	}
	soa := rr.SOA{MName: zone, RName: zone, Refresh: 1, Retry: 2, Expire: 3, Minimum: 4, TTL: 5}
	return engine.Content{Sets: txn.Sets(), SOA: soa, Hash: fmt.Sprint(h.Sum64())}
}

// randomContent has a few sets of few names, so that contents return.
func (w *world) randomContent() engine.Content {
	sets := []rr.Set{set("example.org.", rr.TypeNS, 300, "server.example.net.")}
	for i := range 8 {
		owner := fmt.Sprintf("n%d.example.org.", i)
		switch w.rand.IntN(4) {
		case 0:
			sets = append(sets, set(owner, rr.TypeA, 300, fmt.Sprintf("192.0.2.%d", w.rand.IntN(3))))
		case 1:
			sets = append(sets, set(owner, rr.TypeCNAME, 300, fmt.Sprintf("t%d.example.net.", w.rand.IntN(2))))
		case 2:
			sets = append(sets, set(owner, rr.TypeA, 300, "192.0.2.9"), set(owner, rr.TypeTXT, uint32(w.rand.IntN(3)), `"x"`))
		}
	}
	return contentOf(w.zone, sets...)
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, clock: newClock(), rand: rand.New(rand.NewPCG(seed, 1)), zone: mustParse("example.org."),
		store: &backendtest.Store{}}
	w.keep = w.rand.IntN(2) == 0
	w.log = slog.New(slog.DiscardHandler)
	if os.Getenv("CRASH_LOG") != "" {
		w.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	for range 1 + w.rand.IntN(3) {
		limits := backend.Limits{ApexNS: backend.ApexNSRequired, MaxChanges: w.rand.IntN(5)}
		m := backendtest.NewMemory(backendtest.Profile{Limits: limits, Async: w.rand.IntN(4) / 3})
		m.AddZone(w.zone, rr.SOA{MName: w.zone, RName: w.zone, Serial: 1}, set("example.org.", rr.TypeNS, 300,
			"server.example.net."))
		w.servers = append(w.servers, m)
	}
	w.copies = map[int]backendtest.Copy{}
	if w.rand.IntN(2) == 0 {
		limits := backend.Limits{Creates: true, Confirms: true, Volatile: true, MaxChanges: w.rand.IntN(5)}
		w.copies[len(w.servers)] = backendtest.Copy{}
		w.servers = append(w.servers, backendtest.NewMemory(backendtest.Profile{Limits: limits}))
	}
	w.store.Targets = len(w.servers)
	return w
}

// client returns what a life delivers to a server with.
func (w *world) client(i int, l *life) backend.Backend {
	m, its := w.servers[i], l.part(firstServer+2*i)
	last, volatile := w.copies[i]
	if !volatile {
		return slowBackend{m.Client(true), its}
	}
	switch w.rand.IntN(3) {
	case 0:
		m.Lose(w.zone, backendtest.Copy{})
	case 1:
		m.Lose(w.zone, last)
	}
	return sameProcess{m.Client(true), l, func() {
		if its.chance(0.3) {
			w.copies[i] = m.Copy(w.zone)
		}
	}}
}

// settled stores, a while later, that no serial after the label was served.
func (w *world) settled(f *engine.Feed, l *luck) {
	seen := w.store.Raised("zone")
	label, ok := f.ReleaseSerials()
	if !ok {
		return
	}
	go func() {
		l.pause(10 * time.Millisecond)
		w.store.Settle("zone", label, seen)
	}()
}

// longest are how long lives last at most after their last content.
var longest = []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, 20 * time.Second,
	30 * time.Hour}

// live runs the operator for a random while, or until the last content is everywhere, and returns that.
func (w *world) live(last bool) engine.Content {
	if last || w.keep {
		// A message of an earlier life that arrives after this one has confirmed without writing is foreign to it; the lease
		// between leaders is far longer than messages are on their way.
		w.pass(100 * time.Millisecond)
	}
	l := &life{seed: w.rand.Uint64(), clock: w.clock}
	var reports []*luck
	for i := range w.servers {
		reports = append(reports, l.part(firstServer+2*i+1))
	}
	confirmed := map[string]uint64{}
	refused := map[string]map[rr.Key]engine.Refusal{}
	var mu sync.Mutex
	var f *engine.Feed
	e := engine.New(engine.Config{
		Ceilings: slowStore{w.store, l.part(ofCeilings)}, Ledger: slowStore{w.store, l.part(ofLedgers)}, Clock: w.clock,
		Rand: func() float64 { return 0.5 }, Log: w.log,
		Timeout: time.Minute, Audit: time.Hour,
		Report: func(r engine.Report) {
			if l.over() {
				return
			}
			if its := reports[index(r.Target)]; its.chance(0.5) || last {
				w.store.Note(r)
				w.settled(f, its)
			}
			mu.Lock()
			defer mu.Unlock()
			confirmed[r.Target.Server], refused[r.Target.Server] = r.Seq, r.Refused
		},
	})
	config, written := w.store.Restart(engine.FeedConfig{ID: "zone", Zone: w.zone})
	f = e.NewFeed(config)
	for i := range w.servers {
		_, volatile := w.copies[i]
		e.Attach(backend.TargetKey{Server: strconv.Itoa(i), Zone: w.zone}, engine.Attachment{
			Name: "b", Feed: f, Keep: w.keep && !volatile, Written: written, Backend: w.client(i, l),
		})
	}
	content, seq := w.publish(f)
	publishing := l.part(ofPublishing)
	for range w.rand.IntN(12) {
		w.pass(publishing.random(20 * time.Millisecond))
		content, seq = w.publish(f)
	}
	if last {
		w.awaitAll(&mu, confirmed, seq)
		e.Stop(context.Background())
		for server, sets := range refused {
			if len(sets) > 0 {
				w.t.Errorf("server %s refuses %v", server, sets)
			}
		}
		return content
	}
	w.pass(publishing.random(longest[w.rand.IntN(len(longest))]))
	l.lock.Lock()
	l.dead = true
	l.lock.Unlock()
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	go e.Stop(dead)
	return content
}

func index(t backend.TargetKey) int {
	i, err := strconv.Atoi(t.Server)
	if err != nil {
		panic(err)
	}
	return i
}

func (w *world) publish(f *engine.Feed) (engine.Content, uint64) {
	c := w.randomContent()
	if n := len(w.recent); n > 0 && w.rand.IntN(3) == 0 {
		c = w.recent[w.rand.IntN(n)]
	}
	w.recent = append(w.recent[max(0, len(w.recent)-3):], c)
	w.store.Wanted("zone", c)
	seq := f.Publish(c, nil)
	w.store.Published("zone", seq, c)
	return c, seq
}

func (w *world) awaitAll(mu *sync.Mutex, confirmed map[string]uint64, seq uint64) {
	for range 10_000 {
		mu.Lock()
		done := len(confirmed) == len(w.servers)
		for _, s := range confirmed {
			done = done && s >= seq
		}
		mu.Unlock()
		if done {
			w.pass(time.Minute)
			return
		}
		w.pass(time.Second)
	}
	w.t.Errorf("%d is not confirmed: %v", seq, confirmed)
}

// check compares the servers with the content and with one another.
func (w *world) check(seed uint64, want engine.Content) {
	t := w.t
	serials := map[uint32]uint64{}
	var serial uint32
	for i, m := range w.servers {
		soa, sets, _ := m.Truth(w.zone)
		for _, broken := range m.Broken(w.zone) {
			t.Errorf("seed %d, server %d: %s", seed, i, broken)
		}
		for s := range want.Sets.All() {
			if got, _ := sets.Get(s.Key()); !got.Equal(s) {
				t.Errorf("seed %d, server %d holds %v, want %v", seed, i, got, s)
			}
		}
		if sets.Len() != want.Sets.Len() {
			t.Errorf("seed %d, server %d holds %d sets, want %d", seed, i, sets.Len(), want.Sets.Len())
		}
		if serial != 0 && soa.Serial != serial {
			t.Errorf("seed %d, server %d has serial %d, another %d", seed, i, soa.Serial, serial)
		}
		serial = soa.Serial
		for s, content := range m.History(w.zone) {
			if other, ok := serials[s]; ok && other != content {
				t.Errorf("seed %d: serial %d stood for two contents on two servers", seed, s)
			}
			serials[s] = content
		}
	}
}

// TestCrashes kills the engine at random moments, thousands of times: whatever was on its way, no serial falls or
// stands for two contents on any server, and the last life brings all servers to one content under one serial. On one
// processor what happens at one moment happens in one order, so that a seed that failed fails again, all but always.
func TestCrashes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	worlds := 1000
	if testing.Short() {
		worlds = 100
	}
	first := uint64(1)
	if s := os.Getenv("CRASH_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, worlds = n, 1
	}
	for seed := first; seed < first+uint64(worlds) && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			for range 1 + w.rand.IntN(8) {
				w.live(false)
			}
			want := w.live(true)
			w.check(seed, want)
			w.pass(time.Hour)
			synctest.Wait()
		})
	}
}

// life is one run of the operator. When it ends nothing it does has any effect, but for messages that are on their way.
type life struct {
	lock sync.Mutex
	dead bool
	seed uint64
	*clock
}

// luck is the chance of one part of a life: it has its own, so that the order in which parts run at one moment changes
// no other part's.
type luck struct {
	*life
	own  sync.Mutex
	rand *rand.Rand
}

// The parts of a life; each server has one of its own from firstServer on, and one for what becomes of its reports.
const (
	ofPublishing = iota
	ofCeilings
	ofLedgers
	firstServer
)

func (l *life) part(i int) *luck {
	return &luck{life: l, rand: rand.New(rand.NewPCG(l.seed, uint64(i)))}
}

func (l *luck) chance(p float64) bool {
	l.own.Lock()
	defer l.own.Unlock()
	return l.rand.Float64() < p
}

func (l *life) over() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.dead
}

// random returns a time up to most.
func (l *luck) random(most time.Duration) time.Duration {
	l.own.Lock()
	defer l.own.Unlock()
	return time.Duration(l.rand.Int64N(int64(most)))
}

// pause makes a server or the store take a random time.
func (l *luck) pause(most time.Duration) { l.wait(l.random(most)) }

// slowBackend takes time for each call, loses answers, and is silent once its life is over; a message that is on its
// way then may still arrive.
type slowBackend struct {
	backend.Backend
	*luck
}

func (b slowBackend) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	b.pause(5 * time.Millisecond)
	if b.over() || b.chance(0.02) {
		return backend.Observed{}, backend.ErrUnavailable
	}
	return b.Backend.Read(ctx, zone, ask)
}

func (b slowBackend) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if b.over() || b.chance(0.02) {
		return backend.Result{}, backend.ErrUnavailable
	}
	b.pause(5 * time.Millisecond)
	if b.chance(0.02) {
		b.pause(50 * time.Millisecond)
	}
	result, err := b.Backend.Apply(ctx, zone, batch)
	if b.over() || b.chance(0.02) {
		return backend.Result{}, backend.ErrUnavailable
	}
	return result, err
}

// sameProcess is a server that lives in the operator's own process: its calls take no time, and none has an effect once
// the life is over.
type sameProcess struct {
	backend.Backend
	*life
	applied func()
}

func (b sameProcess) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.dead {
		return backend.Result{}, backend.ErrUnavailable
	}
	result, err := b.Backend.Apply(ctx, zone, batch)
	b.applied()
	return result, err
}

// slowStore takes time, fails now and then, and is closed once its life is over.
type slowStore struct {
	*backendtest.Store
	*luck
}

func (s slowStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	s.pause(5 * time.Millisecond)
	if s.over() || s.chance(0.05) {
		return backend.ErrUnavailable
	}
	err := s.Store.Raise(ctx, feed, ceiling)
	if s.chance(0.05) {
		return backend.ErrUnavailable
	}
	return err
}

func (s slowStore) Record(ctx context.Context, feed string, sets []rr.Set) error {
	s.pause(5 * time.Millisecond)
	if s.over() || s.chance(0.05) {
		return backend.ErrUnavailable
	}
	return s.Store.Record(ctx, feed, sets)
}
