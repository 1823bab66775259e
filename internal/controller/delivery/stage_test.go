package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A stage is a Core, Deliveries and an engine at work, with servers and a store in memory. It plays in a bubble
// (testing/synctest): settle returns when nothing moves any more, and time passes only then.
type stage struct {
	t       *testing.T
	core    *core.Core
	d       *Deliveries
	store   *store
	servers map[string]*backendtest.Memory
	known   map[string]bool // Zones that the Core has
	end     func()
	gate    chan struct{} // the World begins when it is closed; nil: at once

	onRefresh func() // is called when all claims of a Zone are told; nil: nothing is

	mu        sync.Mutex
	refreshed []string
	drifts    []Drift
	opened    bool
	settled   []string // Records that were told since told was called last
}

func (s *stage) settledAre(ids []zone.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.settled = append(s.settled, id.Name)
	}
}

func (s *stage) drifted(x Drift) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drifts = append(s.drifts, x)
}

func play(t *testing.T, f func(*stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, store: &store{zones: map[zone.ID]Stored{}, written: map[zone.ID]rr.Sets{}},
			servers: map[string]*backendtest.Memory{}}
		s.begin()
		f(s)
		s.end()
	})
}

// begin starts everything but servers and store; end ends it.
func (s *stage) begin() {
	log, metrics, clock := slog.New(slog.DiscardHandler), controller.NewMetrics(), backend.SystemClock{}
	s.known = map[string]bool{}
	s.d = New(Config{
		Store: s.store, Clock: clock.Now, Log: log, Metrics: metrics,
		Changed: func(zone.ID) {}, Settled: s.settledAre, Refresh: s.refresh, RefreshSets: s.refreshSets, OnDrift: s.drifted,
	})
	s.d.WhenDelivered(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened = true
	})
	s.core = core.New(core.Config{Clock: clock.Now, Metrics: metrics, Settled: s.d.Settle})
	engine := NewEngine(engine.Config{Clock: clock, Rand: func() float64 { return 0.5 }, Log: log, Metrics: metrics})
	ctx, cancel := context.WithCancel(s.t.Context())
	var parts sync.WaitGroup
	parts.Go(func() { _ = s.d.Run(ctx, engine) })
	gate := s.gate
	parts.Go(func() {
		_ = s.core.Run(ctx, func(context.Context) bool {
			if gate != nil {
				<-gate
			}
			return true
		})
	})
	synctest.Wait()
	s.end = func() {
		cancel()
		engine.Stop(context.Background())
		parts.Wait()
	}
}

// restart makes everything anew; before has the Backends put, which come first.
func (s *stage) restart(before func()) {
	s.end()
	s.begin()
	before()
}

func (s *stage) settle() { synctest.Wait() }

func (s *stage) refresh(id zone.ID) {
	if s.onRefresh != nil {
		s.onRefresh()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refreshed = append(s.refreshed, id.Name)
}

func (s *stage) refreshSets(id zone.ID, keys []rr.Key) { s.settledAre(s.core.ServedAt(id, keys)) }

// told returns whose claims have been told since it was called last.
func (s *stage) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.refreshed, s.settled = nil, nil }()
	return s.refreshed
}

// toldOf fails if nobody has told a Record, by itself or with all of its Zone, since told was called last.
func (s *stage) toldOf(record, zone string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.settled, record) && !slices.Contains(s.refreshed, zone) {
		s.t.Errorf("Record %s is not told: Zones %q and Records %q are", record, s.refreshed, s.settled)
	}
}

// untold fails if somebody has told a Record, by itself or with all of its Zone, since told was called last.
func (s *stage) untold(record, zone string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.settled, record) || slices.Contains(s.refreshed, zone) {
		s.t.Errorf("Record %s is told for nothing: Zones %q and Records %q are", record, s.refreshed, s.settled)
	}
}

func zoneID(name string) zone.ID   { return zone.ID{Kind: zone.KindZone, Namespace: "a", Name: name} }
func recordID(name string) zone.ID { return zone.ID{Kind: zone.KindRecord, Namespace: "a", Name: name} }

// zone puts a Zone that allows everything and names Backends.
func (s *stage) zone(name, fqdn string, refs ...string) {
	s.t.Helper()
	id := zoneID(name)
	s.store.change(id, func(stored *Stored) { stored.Created, stored.Refs = born, refs })
	all, err := dnsname.ParsePattern("*")
	apex, err2 := dnsname.ParsePattern("@")
	if err := errors.Join(err, err2); err != nil {
		s.t.Fatal(err)
	}
	if !s.known[name] {
		s.known[name] = true
		s.core.PutZone(zone.Zone{
			ID: id, Created: born, Where: zone.Where{Name: parse(s.t, fqdn)}, TTL: 60,
			Rules: []zone.Rule{{Zones: []dnsname.Pattern{all}, Records: []zone.RecordRule{{Pattern: all}, {Pattern: apex}}}},
		}, core.Version{UID: "1", Generation: 1})
	}
	s.d.Sync(id)
	s.settle()
}

// remove deletes a Zone, as far as what it has published lets go of it.
func (s *stage) remove(name string) {
	s.store.change(zoneID(name), func(stored *Stored) { stored.Deleting = true })
	s.core.DeleteZone(zoneID(name))
	s.d.Sync(zoneID(name))
	s.settle()
}

func (s *stage) record(name, fqdn, address string) {
	s.t.Helper()
	s.core.PutClaim(zone.Claim{
		ID: recordID(name), Created: born, Where: zone.Where{Name: parse(s.t, fqdn)}, Type: rr.TypeA, Data: []string{address},
	}, core.Version{UID: "1", Generation: 1})
	s.settle()
}

// server makes a name server with an empty zone.
func (s *stage) server(name, fqdn string, profile backendtest.Profile) *backendtest.Memory {
	s.t.Helper()
	m := backendtest.NewMemory(profile)
	m.AddZone(parse(s.t, fqdn), rr.SOA{TTL: 60, MName: parse(s.t, "ns."+fqdn), RName: parse(s.t, "host."+fqdn), Serial: 7,
		Refresh: 1, Retry: 1, Expire: 1})
	s.servers[name] = m
	return m
}

// place puts a Backend with the server of its name, if there is one.
func (s *stage) place(name string, change func(*Place)) {
	p := &Place{Name: name, Created: born, Kind: "memory", Audit: -1}
	if m := s.servers[name]; m != nil {
		p.Servers = []Server{{Name: name, Backend: m.Client(true)}}
	}
	if change != nil {
		change(p)
	}
	s.d.Places().Put(p)
	s.core.PutGrants(name, p.Grants)
	s.settle()
}

func (s *stage) dropPlace(name string) {
	s.d.Places().Delete(name)
	s.core.PutGrants(name, nil)
	s.settle()
}

// unusable makes a Place one that cannot be used.
func unusable(p *Place) {
	o := controller.Not(controller.ReasonSecretNotFound, "Secret x/key cannot be read.")
	p.Servers, p.Problem = nil, &o
}

// servedIs compares the outcome of a Zone, and of a Record of it if there is one, with "True Reason: Message".
func (s *stage) servedIs(name, want string) {
	s.t.Helper()
	if got := show(s.d.ZoneOutcome(zoneID(name)).Served); got != want {
		s.t.Errorf("Zone %s is %s\nwant %s", name, got, want)
	}
}

func (s *stage) reachedIs(record, want string) {
	s.t.Helper()
	v, ok := s.core.Verdict(recordID(record))
	if !ok || !v.Accepted {
		s.t.Fatalf("Record %s: %+v", record, v)
	}
	if got := show(s.d.Reached(v.Zone, recordID(record), rr.Key{Name: v.Name, Type: rr.TypeA})); got != want {
		s.t.Errorf("Record %s is %s\nwant %s", record, got, want)
	}
}

// placesAre compares status.backends, as "name reason" each.
func (s *stage) placesAre(name string, want ...string) {
	s.t.Helper()
	var got []string
	for _, p := range s.d.ZoneOutcome(zoneID(name)).Places {
		got = append(got, strings.TrimSpace(p.Place+" "+p.Reason))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the Backends of %s are %q, want %q", name, got, want)
	}
}

// holds compares where a Zone is held, so that its object cannot vanish.
func (s *stage) holds(name string, want ...string) {
	s.t.Helper()
	var got []string
	stored, _ := s.store.Load(zoneID(name))
	for _, d := range stored.Delivered {
		got = append(got, d.Place)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s is held for %q, want %q", name, got, want)
	}
}

// has reports what a server holds at a name.
func (s *stage) has(server, fqdn, name string) string {
	s.t.Helper()
	_, sets, ok := s.servers[server].Truth(parse(s.t, fqdn))
	if !ok {
		s.t.Fatalf("%s has no zone %s", server, fqdn)
	}
	set, _ := sets.Get(rr.Key{Name: parse(s.t, name), Type: rr.TypeA})
	return strings.Join(set.Data, " ")
}

func show(o controller.Outcome) string {
	return fmt.Sprintf("%s %s: %s", o.Status, o.Reason, o.Message)
}

var born = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func parse(t testing.TB, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// store keeps in memory what a dialect keeps in the status of Zones.
type store struct {
	mu      sync.Mutex
	zones   map[zone.ID]Stored
	written map[zone.ID]rr.Sets
	trouble error                    // of Raise
	gates   map[string]chan struct{} // what "load" and "hold" wait for
	// In order: "hold b", "raise", "record www.example.org. A".
	calls []string
}

func (s *store) change(id zone.ID, f func(*Stored)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.zones[id]
	f(&stored)
	s.zones[id] = stored
}

// stop has calls wait until start is called.
func (s *store) stop(call string) (start func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gates = map[string]chan struct{}{call: gate}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.gates[call] == gate {
			s.gates = nil
		}
		close(gate)
	}
}

func (s *store) wait(call string) {
	s.mu.Lock()
	gate := s.gates[call]
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// Load implements Store.
func (s *store) Load(id zone.ID) (Stored, bool) {
	s.wait("load")
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.zones[id]
	written := s.written[id]
	stored.Written = func() rr.Sets { return written }
	return stored, ok
}

// Hold implements Store. An object that is being deleted and held nowhere vanishes.
func (s *store) Hold(_ context.Context, id zone.ID, where []Delivered) error {
	s.wait("hold")
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.zones[id]
	if stored.Deleting && len(where) == 0 {
		delete(s.zones, id)
		return nil
	}
	if slices.Equal(stored.Delivered, where) {
		return nil
	}
	var names []string
	for _, d := range where {
		names = append(names, d.Place)
	}
	s.calls = append(s.calls, strings.TrimSpace("hold "+strings.Join(names, " ")))
	stored.Delivered = where
	s.zones[id] = stored
	return nil
}

// Raise implements Store.
func (s *store) Raise(_ context.Context, id zone.ID, ceiling uint32) error {
	var trouble error
	s.change(id, func(stored *Stored) {
		if trouble = s.trouble; trouble == nil {
			stored.Ceiling = ceiling
			s.calls = append(s.calls, "raise")
		}
	})
	return trouble
}

// Record implements Store.
func (s *store) Record(_ context.Context, id zone.ID, sets []rr.Set) error {
	s.change(id, func(*Stored) {
		txn := s.written[id].Txn()
		defer func() { s.written[id] = txn.Sets() }()
		for _, set := range sets {
			txn.Put(set)
			s.calls = append(s.calls, "record "+set.Key().String())
		}
	})
	return nil
}

// gone reports whether the object of a Zone has vanished.
func (s *stage) gone(name string) bool {
	_, there := s.store.Load(zoneID(name))
	return !there
}
