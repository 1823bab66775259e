package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A bench is what decides and delivers, and the servers.
type bench struct {
	options
	progress io.Writer
	began    time.Time
	dir      string // of files that are gone in the end

	core       *core.Core
	deliveries *delivery.Deliveries
	own        *embedded.Server
	bind       *nameserver.Server
	store      store
}

// start starts everything with no Zone; end ends it.
func (b *bench) start(ctx context.Context) (end func() error, err error) {
	places, endServers, err := b.startServers(ctx)
	if err != nil {
		return nil, err
	}
	log, metrics, clock := slog.New(slog.DiscardHandler), controller.NewMetrics(), backend.SystemClock{}
	b.deliveries = delivery.New(delivery.Config{
		Store: &b.store, Clock: clock.Now, Log: log, Metrics: metrics, Changed: func(zone.ID) {}, Settled: func([]zone.ID) {},
		Refresh: func(zone.ID) {}, RefreshSets: func(zone.ID, []rr.Key) {},
	})
	b.core = core.New(core.Config{
		Options: zone.Options{PublicSuffix: kubizone.PublicSuffix}, Clock: clock.Now, Metrics: metrics,
		Settled: b.deliveries.Settle,
	})
	e := delivery.NewEngine(engine.Config{Clock: clock, Rand: rand.Float64, Log: log, Metrics: metrics})
	for _, p := range places {
		b.deliveries.Places().Put(p)
	}
	running, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { _ = b.deliveries.Run(running, e) })
	return func() error {
		cancel()
		e.Stop(context.WithoutCancel(ctx))
		parts.Wait()
		return endServers()
	}, nil
}

// decide has the Core decide about all that was put, and go on with that until ctx ends.
func (b *bench) decide(ctx context.Context) (ended func()) {
	var running sync.WaitGroup
	running.Go(func() { _ = b.core.Run(ctx, func(context.Context) bool { return true }) })
	return running.Wait
}

const keyName = "bench."

// startServers starts both name servers. BIND has all zones, without names.
func (b *bench) startServers(ctx context.Context) (places []*delivery.Place, end func() error, err error) {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	b.own, err = embedded.Serve(ctx, embedded.Options{Listen: []netip.AddrPort{netip.AddrPortFrom(loopback, 0)},
		RateLimit: math.MaxInt32})
	if err != nil {
		return nil, nil, err
	}
	key := nameserver.TSIG{Algorithm: "hmac-sha256",
		Secret: base64.StdEncoding.EncodeToString([]byte("a secret of the benchmark"))}
	key.Name, err = dnsname.Parse(keyName)
	var zones []nameserver.Zone
	for i := range b.zones {
		name, wrong := dnsname.Parse(zoneName(i))
		zones, err = append(zones, nameserver.Zone{Name: name}), errors.Join(err, wrong)
	}
	if err == nil {
		b.bind, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: filepath.Join(b.dir, "bind"), Zones: zones,
			Keys: []nameserver.TSIG{key}})
	}
	if err != nil {
		return nil, nil, errors.Join(err, b.own.Close(context.WithoutCancel(ctx)))
	}
	end = func() error {
		b.bind.Close()
		return b.own.Close(context.WithoutCancel(ctx))
	}
	client, err := rfc2136.New(rfc2136.Config{Server: b.bind.Addr(), Now: time.Now,
		Key: rfc2136.Key{Name: key.Name, Algorithm: key.Algorithm, Secret: key.Secret}})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return []*delivery.Place{
		{Name: "own", Kind: delivery.KindEmbedded, Servers: []delivery.Server{{Name: "own", Backend: b.own.Group("own")}},
			Default: true},
		{Name: "bind", Kind: "rfc2136", Servers: []delivery.Server{{Name: client.Server(), Backend: client}}, Default: true},
	}, end, nil
}

// A store keeps what is to survive the operator, as long as this program runs.
type store struct {
	mu       sync.Mutex
	ceilings map[zone.ID]uint32
}

// Load implements [delivery.Store].
func (s *store) Load(id zone.ID) (delivery.Stored, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return delivery.Stored{UID: types.UID(id.Name), Created: long, Ceiling: s.ceilings[id],
		Written: func() rr.Sets { return rr.Sets{} }}, true
}

// Hold implements [delivery.Store].
func (s *store) Hold(context.Context, zone.ID, []delivery.Delivered) error { return nil }

// Raise implements [delivery.Store].
func (s *store) Raise(_ context.Context, id zone.ID, ceiling uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ceilings == nil {
		s.ceilings = map[zone.ID]uint32{}
	}
	s.ceilings[id] = ceiling
	return nil
}

// Record implements [delivery.Store].
func (s *store) Record(context.Context, zone.ID, []rr.Set) error { return nil }

// long is when all objects were created.
var long = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func zoneName(i int) string { return fmt.Sprintf("z%04d.example.", i) }

// name is that of a Record. Neighbours are in different Zones.
func (b *bench) name(i int) string { return fmt.Sprintf("r%06d.%s", i/b.zones, zoneName(i%b.zones)) }

func (b *bench) tenant(zone int) string { return fmt.Sprintf("tenant-%03d", zone%b.tenants) }

// putZone puts a Zone that its tenant has, and that delegates all names to its namespace.
func (b *bench) putZone(i int) {
	z := &v1alpha1.Zone{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.tenant(i), Name: fmt.Sprintf("z%04d", i),
			CreationTimestamp: metav1.NewTime(long), UID: types.UID(strconv.Itoa(i)), Generation: 1},
		Spec: v1alpha1.ZoneSpec{DomainName: zoneName(i), Delegations: []v1alpha1.Delegation{
			{Namespace: b.tenant(i), Records: []v1alpha1.RecordDelegation{{Pattern: "*"}}}}},
	}
	b.core.PutZone(kubizone.ConvertZone(z), core.VersionOf(z))
}

// put puts a Record with an address.
func (b *bench) put(i int, address string, generation int64) {
	r := &v1alpha1.Record{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.tenant(i % b.zones), Name: fmt.Sprintf("r%06d-%04d", i/b.zones, i%b.zones),
			CreationTimestamp: metav1.NewTime(long), UID: types.UID(strconv.Itoa(i)), Generation: generation},
		Spec: v1alpha1.RecordSpec{DomainName: b.name(i), Type: "A", RData: address},
	}
	b.core.PutClaim(kubizone.ConvertRecord(r), core.VersionOf(r))
}

// putAll puts everything. Records have the addresses of figures.Address.
func (b *bench) putAll() {
	for i := range b.zones {
		b.putZone(i)
	}
	for i := range b.n {
		b.put(i, figures.Address(i), 1)
	}
}
