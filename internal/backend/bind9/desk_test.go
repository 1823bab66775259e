package bind9

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

const patience = 60 * time.Second

// A desk drives the targets of one zone as a controller does.
type desk struct {
	testing.TB
	zone   dnsname.Name
	engine *engine.Engine
	feed   *engine.Feed
	count  int // of targets

	mu   sync.Mutex
	last map[string]engine.Report // by attachment
	news *sync.Cond
}

func newDesk(t testing.TB, zone string, targets ...*Client) *desk {
	t.Helper()
	d := &desk{TB: t, zone: parse(t, zone), count: len(targets), last: map[string]engine.Report{}}
	d.news = sync.NewCond(&d.mu)
	store := &backendtest.Store{Targets: len(targets)}
	d.engine = engine.New(engine.Config{
		Ceilings: store, Ledger: store, Clock: backend.SystemClock{}, Rand: rand.Float64, Timeout: patience,
		Backoff: func(backend.ErrorClass, int) time.Duration { return 20 * time.Millisecond },
		Report: func(report engine.Report) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.last[report.Name] = report
			d.news.Broadcast()
		},
	})
	d.feed = d.engine.NewFeed(engine.FeedConfig{ID: "team/zone", Zone: d.zone, Created: time.Unix(1, 0)})
	for i, c := range targets {
		key := backend.TargetKey{Server: c.Server(), Zone: d.zone}
		d.engine.Attach(key, engine.Attachment{Name: fmt.Sprint(i), Feed: d.feed, Backend: c, Kind: "bind9"})
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		d.engine.Stop(ctx)
	})
	return d
}

// content is the zone with two name servers, their addresses, and n hosts.
func (d *desk) content(n int, more ...rr.Set) engine.Content {
	txn := rr.Sets{}.Txn()
	put := func(name string, typ rr.Type, data ...string) {
		txn.Put(rr.NewSet(rr.Key{Name: d.name(name), Type: typ}, 300, data...))
	}
	put("", rr.TypeNS, "ns1."+d.zone.String(), "ns2."+d.zone.String())
	put("ns1", rr.TypeA, "192.0.2.53")
	put("ns2", rr.TypeA, "192.0.2.54")
	for i := range n {
		put(fmt.Sprintf("host-%06d", i), rr.TypeA, fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
	}
	for _, set := range more {
		txn.Put(set)
	}
	return engine.Content{
		Sets: txn.Sets(), Hash: fmt.Sprint(n, more),
		SOA: rr.SOA{MName: d.name("ns1"), RName: d.name("hostmaster"), Refresh: 3600, Retry: 600, Expire: 86400, Minimum: 60,
			TTL: 300},
	}
}

func (d *desk) name(relative string) dnsname.Name {
	if relative == "" {
		return d.zone
	}
	return parse(d, relative+"."+d.zone.String())
}

// delivered publishes and waits until every target has confirmed.
func (d *desk) delivered(content engine.Content) map[string]engine.Report {
	d.Helper()
	seq := d.feed.Publish(content, nil)
	alarm := time.AfterFunc(patience, d.news.Broadcast)
	defer alarm.Stop()
	deadline := time.Now().Add(patience)
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		done := len(d.last) == d.count
		for _, r := range d.last {
			done = done && r.Seq >= seq && r.Err == nil
		}
		if done {
			all := map[string]engine.Report{}
			for name, r := range d.last {
				all[name] = r
			}
			return all
		}
		if time.Now().After(deadline) {
			d.Fatalf("never confirmed: %+v", d.last)
		}
		d.news.Wait()
	}
}

// A witness asks a server for names of a zone all the time, as anybody may. Until the first answer the server may not
// know or refuse the zone; from then on all of it is there.
type witness struct {
	answers, silence atomic.Int64
	end              context.CancelFunc
	done             sync.WaitGroup
}

func (d *desk) witness(at netip.AddrPort, hosts int) *witness {
	ctx, end := context.WithCancel(context.Background())
	w := &witness{end: end}
	d.Cleanup(w.stop)
	w.done.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			name := d.name(fmt.Sprintf("host-%06d", i*7919%hosts))
			m := new(dns.Msg)
			m.SetQuestion(name.String(), dns.TypeA)
			answer, _, err := new(dns.Client).Exchange(m, at.String())
			switch {
			case err != nil && w.answers.Load() == 0: // the server is down
				w.silence.Add(1)
			case err != nil:
				d.Errorf("asking for %s: %v", name, err)
				return
			case answer.Rcode == dns.RcodeSuccess && len(answer.Answer) == 1:
				w.answers.Add(1)
			case w.answers.Load() == 0 && (answer.Rcode == dns.RcodeRefused || answer.Rcode == dns.RcodeServerFailure):
				w.silence.Add(1)
			default:
				d.Errorf("after %d right answers, %s is answered %s with %d records", w.answers.Load(), name,
					dns.RcodeToString[answer.Rcode], len(answer.Answer))
				return
			}
		}
	})
	return w
}

func (w *witness) stop() {
	w.end()
	w.done.Wait()
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	within(t, patience, what, ok)
}

func within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never %s", what)
		}
	}
}
