package dynamodb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/backend/route53"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

const tableOfTests = "external-dns"

func parse(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func address(t testing.TB, name, data string) rr.Set {
	t.Helper()
	return rr.NewSet(rr.Key{Name: parse(t, name+".example.org."), Type: rr.TypeA}, 300, data)
}

func serve(t testing.TB) *dynamodbtest.Server {
	t.Helper()
	s, err := dynamodbtest.Start(t.Context(), tableOfTests, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func access(s *dynamodbtest.Server) Config {
	return Config{Table: tableOfTests, Account: route53.Config{AccessKeyID: dynamodbtest.AccessKeyID,
		SecretAccessKey: dynamodbtest.SecretAccessKey, Region: "eu-west-1", Endpoint: s.URL}}
}

func open(t testing.TB, cfg Config) *Table {
	t.Helper()
	table, err := New(cfg, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A shared zone is one of a server beside a table, which an engine writes to.
type sharedZone struct {
	*testing.T
	memory *backendtest.Memory
	server *dynamodbtest.Server
	table  *Table
	engine *engine.Engine
	feed   *engine.Feed

	mu      sync.Mutex
	last    engine.Report
	seq     uint64
	applies int
}

// counted counts what is applied.
type counted struct {
	backend.Backend
	z *sharedZone
}

// Apply applies.
func (c *counted) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	c.z.mu.Lock()
	c.z.applies++
	c.z.mu.Unlock()
	return c.Backend.Apply(ctx, zone, b)
}

func share(t *testing.T) *sharedZone {
	z := &sharedZone{T: t, server: serve(t), memory: backendtest.NewMemory(backendtest.Profile{
		Limits: backend.Limits{ApexNS: backend.ApexNSRequired}})}
	z.table = open(t, access(z.server))
	zone := parse(t, "example.org.")
	z.memory.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 1},
		rr.NewSet(rr.Key{Name: zone, Type: rr.TypeNS}, 300, "server.example.net."))
	store := &backendtest.Store{}
	z.engine = engine.New(engine.Config{Ceilings: store, Ledger: store, Clock: backend.SystemClock{},
		Rand: func() float64 { return 0 }, Report: func(r engine.Report) {
			z.mu.Lock()
			defer z.mu.Unlock()
			z.last = r
		}})
	t.Cleanup(func() { z.engine.Stop(context.Background()) })
	z.feed = z.engine.NewFeed(engine.FeedConfig{ID: "example.org.", Zone: zone})
	return z
}

func (z *sharedZone) foreign(sets ...rr.Set) { z.memory.Foreign(parse(z, "example.org."), sets, nil) }

// attach attaches the zone for owners; what is written is written as the first of them.
func (z *sharedZone) attach(write, observe bool, owners ...string) {
	f := registry.InTable(tableOfTests)
	r := &registry.Registry{Formats: []registry.Format{f}, Owners: owners}
	if write {
		r.Writes, r.Writer = &f, owners[0]
	}
	z.engine.Attach(backend.TargetKey{Server: "s", Zone: parse(z, "example.org.")}, engine.Attachment{Name: "b",
		Feed: z.feed, Backend: z.table.Beside(&counted{z.memory.Client(true), z}, owners), Keep: true, Registry: r,
		Observe: observe})
}

func (z *sharedZone) want(sets []rr.Set, changed ...rr.Set) {
	txn, hash := rr.Sets{}.Txn(), ""
	for _, s := range sets {
		txn.Put(s)
		hash += fmt.Sprintln(s.Name, s.Type, s.Data)
	}
	var keys []rr.Key
	for _, s := range changed {
		keys = append(keys, s.Key())
	}
	zone := parse(z, "example.org.")
	z.seq = z.feed.Publish(engine.Content{Sets: txn.Sets(), SOA: rr.SOA{MName: zone, RName: zone, TTL: 300}, Hash: hash},
		keys)
}

// await waits for a report.
func (z *sharedZone) await(what string, done func(engine.Report) bool) engine.Report {
	z.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		z.mu.Lock()
		r := z.last
		z.mu.Unlock()
		if done(r) {
			return r
		}
		if time.Now().After(end) {
			z.Fatalf("%s: after half a minute the report is %+v", what, r)
		}
		<-time.After(time.Millisecond)
	}
}

// served waits until what is wanted is confirmed, apart from some refusals.
func (z *sharedZone) served(what string, refused int) engine.Report {
	z.Helper()
	return z.await(what, func(r engine.Report) bool {
		return r.Seq == z.seq && r.Err == nil && len(r.Refused) == refused
	})
}

// holds compares what the server has with lines such as "www A 192.0.2.1", and the table with lines such as
// "www.example.org#A# of prod".
func (z *sharedZone) holds(what string, want ...string) {
	z.Helper()
	zone := parse(z, "example.org.")
	see := func() []string {
		_, sets, _ := z.memory.Truth(zone)
		var got []string
		for s := range sets.All() {
			if s.Type != rr.TypeNS {
				got = append(got, s.Name.In(zone)+" "+s.Type.String()+" "+strings.Join(s.Data, " "))
			}
		}
		owners := z.server.Owners()
		for _, key := range slices.Sorted(maps.Keys(owners)) {
			got = append(got, key+" of "+owners[key])
		}
		return got
	}
	got := see()
	for end := time.Now().Add(10 * time.Second); !slices.Equal(got, want) && time.Now().Before(end); got = see() {
		<-time.After(time.Millisecond)
	}
	if !slices.Equal(got, want) {
		z.Errorf("%s: there is\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
