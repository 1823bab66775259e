package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// options are the embedded server's defaults, but for the limit of equal answers: it counts as always and allows all,
// for everything comes from one address.
func options() embedded.Options {
	return embedded.Options{Listen: []netip.AddrPort{netip.AddrPortFrom(loopback, 0)}, RateLimit: math.MaxInt32}
}

// loaded is what a serving process says when it answers.
type loaded struct {
	Addr string
	Took time.Duration // to take the zone over
	CPU  time.Duration // for that, user and system together
	Heap int64         // octets that the zone has, after a collection
}

// serve is the process that answers. It ends with its context, or when its input does, which the parent's end is too.
func serve(ctx context.Context, args []string, out, progress io.Writer) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(progress)
	file := f.String("zone", "", "master `file`")
	n := f.Int("hosts", 0, "or how many addresses to make up")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	batch := func() (backend.Batch, error) { return hosts(*n) }
	if *file != "" {
		batch = func() (backend.Batch, error) { return master(*file) }
	}
	server, err := embedded.Serve(ctx, options())
	if err != nil {
		return err
	}
	said, err := load(ctx, server, batch)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(said); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	<-ctx.Done()
	return server.Close(context.WithoutCancel(ctx))
}

// load hands a zone to the server and forgets what it was made of, so that what is in memory afterwards is the
// server's.
func load(ctx context.Context, server *embedded.Server, batchOf func() (backend.Batch, error)) (loaded, error) {
	before := heap()
	batch, err := batchOf()
	if err != nil {
		return loaded{}, err
	}
	policy := embedded.Policy{Transfer: []embedded.Rule{{Prefixes: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}}}
	if err := server.SetPolicy(groupName, policy); err != nil {
		return loaded{}, err
	}
	busy, err := figures.CPUOf(os.Getpid())
	if err != nil {
		return loaded{}, err
	}
	began := time.Now()
	if err := apply(ctx, server.Group(groupName), batch); err != nil {
		return loaded{}, err
	}
	said := loaded{Addr: server.Addrs()[0].String(), Took: time.Since(began), CPU: -busy}
	if busy, err = figures.CPUOf(os.Getpid()); err != nil {
		return loaded{}, err
	}
	said.CPU += busy
	said.Heap = heap() - before
	return said, nil
}

const groupName = "bench"

func apply(ctx context.Context, g *embedded.Group, batch backend.Batch) error {
	zone, err := dnsname.Parse(zoneName)
	if err != nil {
		return err
	}
	result, err := g.Apply(ctx, zone, batch)
	if err == nil && len(result.Rejected) > 0 {
		err = fmt.Errorf("%s: %s", result.Rejected[0].Key, result.Rejected[0].Reason)
	}
	return err
}

// heap returns what is in use after a collection, and gives the rest back to the system.
func heap() int64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// master reads a master file.
func master(file string) (batch backend.Batch, err error) {
	in, err := os.Open(file)
	if err != nil {
		return batch, err
	}
	defer in.Close()
	var records []dns.RR
	parser := dns.NewZoneParser(in, "", file)
	for record, ok := parser.Next(); ok; record, ok = parser.Next() {
		records = append(records, record)
	}
	sets, err := rr.FromRRs(records)
	if err = errors.Join(parser.Err(), err); err != nil {
		return batch, err
	}
	batch.Create = true
	for _, s := range sets {
		if s.Type != rr.TypeSOA {
			batch.Changes = append(batch.Changes, plan.Change{Key: s.Key(), Want: s})
			continue
		}
		soa, err := rr.ParseSOA(s.Data[0])
		if err != nil {
			return batch, err
		}
		soa.TTL = s.TTL
		batch.SOA = &soa
	}
	return batch, nil
}
