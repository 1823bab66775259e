package backendtest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// patience is how long the suite waits for a condition before it gives up.
const patience = 60 * time.Second

// rig drives one target of a Harness through an Engine, as a controller does.
type rig struct {
	testing.TB
	Harness
	zone   dnsname.Name
	store  *Store
	limits backend.Limits

	attach  engine.Attachment // what a restart attaches again
	engine  *engine.Engine
	feed    *engine.Feed
	want    engine.Content
	ever    map[rr.Key]bool // every key that was ever published
	applies atomic.Int64
	news    *news
	unsure  bool // the last engine could not say which serial was its last: the next one takes a higher one
}

// news collects reports.
type news struct {
	mu   sync.Mutex
	cond *sync.Cond
	last map[string]engine.Report // by attachment
	all  []engine.Report
}

func newRig(t *testing.T, h Harness) *rig {
	r := &rig{TB: t, Harness: h, zone: h.Zone, store: &Store{}, limits: h.Backend().Limits(), ever: map[rr.Key]bool{}}
	r.attach = engine.Attachment{Name: "one", Backend: h.Backend(), Kind: "test"}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

// start makes a new engine with what is stored, and attaches; nothing is published yet.
func (r *rig) start() {
	r.news = &news{last: map[string]engine.Report{}}
	n := r.news
	n.cond = sync.NewCond(&n.mu)
	r.engine = engine.New(engine.Config{
		Ceilings: r.store, Ledger: r.store, Clock: backend.SystemClock{}, Rand: func() float64 { return 0.5 },
		Timeout: patience,
		Backoff: func(backend.ErrorClass, int) time.Duration { return 20 * time.Millisecond },
		Report: func(report engine.Report) {
			r.store.Note(report)
			n.mu.Lock()
			defer n.mu.Unlock()
			n.last[report.Name] = report
			n.all = append(n.all, report)
			n.cond.Broadcast()
		},
	})
	config, written := r.store.Restart(engine.FeedConfig{ID: "team/zone", Zone: r.zone, Created: time.Unix(1, 0)})
	r.feed = r.engine.NewFeed(config)
	r.attach.Written = written
	r.attachAs(r.attach)
}

func (r *rig) key() backend.TargetKey { return backend.TargetKey{Server: "server", Zone: r.zone} }

// attachAs attaches with the rig's feed, counting what is applied.
func (r *rig) attachAs(a engine.Attachment) {
	a.Feed = r.feed
	a.Backend = counted{a.Backend, &r.applies}
	r.engine.Attach(r.key(), a)
}

// stop ends the engine, in order where a server forgets: what it has last served is stored then.
func (r *rig) stop() {
	if seen := r.store.Raised("team/zone"); r.limits.Volatile {
		label, ok := r.feed.ReleaseSerials()
		if r.unsure = !ok; ok {
			r.store.Settle("team/zone", label, seen)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r.engine.Stop(ctx)
}

// counted counts the batches.
type counted struct {
	backend.Backend
	applies *atomic.Int64
}

// Apply counts.
func (c counted) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	c.applies.Add(1)
	return c.Backend.Apply(ctx, zone, b)
}

// soa is the zone's, as a Zone has it.
func (r *rig) soa() rr.SOA {
	return rr.SOA{
		MName: r.name("ns1"), RName: r.name("hostmaster"), Refresh: 3600, Retry: 600, Expire: 86400, Minimum: 60, TTL: 300,
	}
}

// name returns a name in the zone.
func (r *rig) name(relative string) dnsname.Name {
	r.Helper()
	if relative == "@" {
		return r.zone
	}
	n, err := dnsname.Parse(relative + "." + r.zone.String())
	if err != nil {
		r.Fatal(err)
	}
	return n
}

// set makes a set of a name in the zone, with a TTL of 300.
func (r *rig) set(relative string, t rr.Type, data ...string) rr.Set {
	r.Helper()
	canonical := make([]string, len(data))
	for i, d := range data {
		var err error
		if canonical[i], err = rr.ParseData(t, d); err != nil {
			r.Fatal(err)
		}
	}
	return rr.NewSet(rr.Key{Name: r.name(relative), Type: t}, 300, canonical...)
}

// content makes the content of sets.
func (r *rig) content(sets rr.Sets) engine.Content {
	h := fnv.New64a()
	for s := range sets.All() {
		fmt.Fprintln(h, s.Key(), s.TTL, s.Data)
	}
	return engine.Content{Sets: sets, SOA: r.soa(), Hash: fmt.Sprintf("%016x", h.Sum64())}
}

// publish publishes sets and returns their sequence number.
func (r *rig) publish(sets rr.Sets) uint64 {
	changed := changedKeys(r.want.Sets, sets)
	if r.want.Hash == "" {
		changed = nil
	}
	r.want = r.content(sets)
	for s := range sets.All() {
		r.ever[s.Key()] = true
	}
	r.store.Wanted("team/zone", r.want)
	seq := r.feed.Publish(r.want, changed)
	r.store.Published("team/zone", seq, r.want)
	return seq
}

func changedKeys(a, b rr.Sets) []rr.Key {
	keys := []rr.Key{}
	for s := range a.All() {
		if o, _ := b.Get(s.Key()); !o.Equal(s) {
			keys = append(keys, s.Key())
		}
	}
	for s := range b.All() {
		if _, ok := a.Get(s.Key()); !ok {
			keys = append(keys, s.Key())
		}
	}
	return keys
}

// await waits for a report of an attachment that satisfies ok.
func (r *rig) await(attachment, what string, ok func(engine.Report) bool) engine.Report {
	r.Helper()
	n := r.news
	n.mu.Lock()
	defer n.mu.Unlock()
	deadline := time.Now().Add(patience)
	alarm := time.AfterFunc(patience, n.cond.Broadcast)
	defer alarm.Stop()
	for {
		report, heard := n.last[attachment]
		if heard && ok(report) {
			return report
		}
		if time.Now().After(deadline) {
			r.Fatalf("never %s; the last report of %s: %+v", what, attachment, report)
		}
		n.cond.Wait()
	}
}

// confirmed waits until the published content is confirmed.
func (r *rig) confirmed(seq uint64) engine.Report {
	r.Helper()
	return r.await(cmp.Or(r.attach.Name, "one"), fmt.Sprintf("confirmed %d", seq), func(report engine.Report) bool {
		return report.Seq >= seq && report.Err == nil
	})
}

// sync publishes sets, waits for the confirmation and checks the truth.
func (r *rig) sync(sets rr.Sets) engine.Report {
	r.Helper()
	report := r.confirmed(r.publish(sets))
	r.check(sets, report)
	return report
}

// restart ends the engine and begins a new one with the same content, and checks that this changes nothing.
func (r *rig) restart() {
	r.Helper()
	before, truth, _ := r.Truth(r.zone)
	r.stop()
	applies := r.applies.Load()
	r.start()
	report := r.confirmed(r.publish(r.want.Sets))
	after, now, _ := r.Truth(r.zone)
	if !equalSets(truth, now) {
		r.Errorf("a restart changed the zone from %d sets to %d", truth.Len(), now.Len())
	}
	if r.limits.Read == backend.ReadNone || r.unsure {
		return
	}
	if before != after {
		r.Errorf("a restart changed the SOA from %s to %s", before.Data(), after.Data())
	}
	if n := r.applies.Load() - applies; n != 0 && len(report.Refused) == 0 {
		r.Errorf("a restart sent %d batches", n)
	}
}
