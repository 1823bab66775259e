package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A server is one of those that zones are delivered to.
type server struct {
	name, address string
	asker         *rig.Asker
	holds         func(context.Context, dnsname.Name) (rr.Sets, error)
}

func (b *bench) servers() (all []server, end func(), err error) {
	end = func() {
		for _, s := range all {
			s.asker.Close()
		}
	}
	for _, s := range []server{
		{name: "the embedded server", address: b.own.Addrs()[0].String(), holds: b.ownHolds},
		{name: "BIND", address: b.bind.Addr(), holds: b.bindHolds},
	} {
		if s.asker, err = rig.NewAsker(s.name, s.address); err != nil {
			end()
			return nil, nil, err
		}
		all = append(all, s)
	}
	return all, end, nil
}

func (b *bench) ownHolds(ctx context.Context, zone dnsname.Name) (rr.Sets, error) {
	found, err := b.own.Group("own").Read(ctx, zone, backend.Ask{})
	return found.Sets, err
}

func (b *bench) bindHolds(ctx context.Context, zone dnsname.Name) (rr.Sets, error) {
	sets, err := b.bind.Transfer(ctx, zone)
	txn := rr.Sets{}.Txn()
	for _, s := range sets {
		txn.Put(s)
	}
	return txn.Sets(), err
}

// measure does everything once.
func (b *bench) measure(ctx context.Context) (*result, error) {
	servers, end, err := b.servers()
	if err != nil {
		return nil, err
	}
	defer end()
	out := &result{options: b.options, servers: [2]served{{name: servers[0].name}, {name: servers[1].name}}}
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended, err := b.begin(ctx, servers, out)
	defer func() {
		cancel()
		ended()
	}()
	if err == nil {
		err = b.change(ctx, servers, out)
	}
	return out, err
}

// begin puts everything, and waits until both servers have all zones.
func (b *bench) begin(ctx context.Context, servers []server, out *result) (ended func(), err error) {
	b.say("%d Records in %d Zones of %d namespaces", b.n, b.zones, b.tenants)
	profiled, err := b.profiled()
	if err != nil {
		return func() {}, err
	}
	before := usage()
	began := time.Now()
	b.putAll()
	out.put = time.Since(began)
	ended = b.decide(ctx)
	var waiting sync.WaitGroup
	wrong := make([]error, len(servers))
	for i, s := range servers {
		waiting.Go(func() {
			for zone := 0; zone < b.zones && wrong[i] == nil; zone++ {
				last := b.n - b.zones + zone
				wrong[i] = s.asker.Await(ctx, b.name(last), figures.Address(last))
				if zone == 0 {
					out.servers[i].first = time.Since(began)
				}
			}
			out.servers[i].all = time.Since(began)
		})
	}
	waiting.Wait()
	if err := errors.Join(errors.Join(wrong...), profiled()); err != nil {
		return ended, err
	}
	b.say("BIND has all after %.1f s; the memory is looked at", out.servers[1].all.Seconds())
	out.coldUsage = usage().since(before)
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	out.heap = int64(m.HeapAlloc)
	out.memory, out.peak, err = figures.MemoryOf(os.Getpid())
	return ended, err
}

// profiled writes a CPU profile, if one is wanted, until the function that it returns is called.
func (b *bench) profiled() (end func() error, err error) {
	if b.profile == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(b.profile)
	if err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, pprof.StartCPUProfile(file)
}

// change gives Records other addresses, so many a second. Those of the first Record of each Zone are waited for.
func (b *bench) change(ctx context.Context, servers []server, out *result) error {
	b.say("%d changes a second for %s", b.rate, b.lasts)
	before := usage()
	last := make([]atomic.Int32, b.n) // the number of the change that a Record had last
	var changes atomic.Int32
	put := func(i int) (address string) {
		number := changes.Add(1)
		last[i].Store(number)
		address = figures.NewAddress(int(number))
		b.put(i, address, int64(number)+1)
		return address
	}
	until, stop := context.WithTimeout(ctx, b.lasts)
	defer stop()
	var running sync.WaitGroup
	wrong := make([]error, len(servers))
	for i, s := range servers {
		running.Go(func() {
			for zone := i; until.Err() == nil && wrong[i] == nil; zone = (zone + len(servers)) % b.zones {
				began := time.Now()
				address := put(zone)
				if wrong[i] = s.asker.Await(ctx, b.name(zone), address); wrong[i] == nil {
					out.servers[i].change = append(out.servers[i].change, time.Since(began))
				}
				_ = figures.Pause(until, 100*time.Millisecond)
			}
		})
	}
	tick := time.NewTicker(time.Second / time.Duration(b.rate))
	defer tick.Stop()
	for until.Err() == nil {
		select {
		case <-until.Done():
		case <-tick.C:
			put(b.zones + rand.IntN(b.n-b.zones))
		}
	}
	running.Wait()
	out.changes, out.changeUsage = int(changes.Load()), usage().since(before)
	var err error
	if _, out.peakLater, err = figures.MemoryOf(os.Getpid()); err != nil {
		return err
	}
	return errors.Join(errors.Join(wrong...), b.compare(ctx, servers, last))
}

// compare waits until every server holds every Record as it was put last, and nothing else.
func (b *bench) compare(ctx context.Context, servers []server, last []atomic.Int32) error {
	b.say("comparing all")
	for _, s := range servers {
		for zone := range b.zones {
			deadline, cancel := context.WithTimeout(ctx, time.Minute)
			err := b.compareZone(deadline, s, zone, last)
			for err != nil && figures.Pause(deadline, time.Second) == nil {
				err = b.compareZone(deadline, s, zone, last)
			}
			cancel()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) compareZone(ctx context.Context, s server, zone int, last []atomic.Int32) error {
	name, err := dnsname.Parse(zoneName(zone))
	if err != nil {
		return err
	}
	sets, err := s.holds(ctx, name)
	if err != nil {
		return fmt.Errorf("reading %s from %s: %w", name, s.name, err)
	}
	found := map[string]string{}
	for set := range sets.All() {
		if set.Type == rr.Type(dns.TypeA) {
			found[set.Name.String()] = set.Data[0]
		}
	}
	want := 0
	for i := zone; i < b.n; i += b.zones {
		address := figures.Address(i)
		if number := last[i].Load(); number > 0 {
			address = figures.NewAddress(int(number))
		}
		if got := found[b.name(i)]; got != address {
			return fmt.Errorf("%s of %s is %q, want %q", b.name(i), s.name, got, address)
		}
		want++
	}
	if len(found) != want {
		return fmt.Errorf("%s of %s has %d addresses, want %d", name, s.name, len(found), want)
	}
	return nil
}
