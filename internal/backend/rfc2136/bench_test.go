package rfc2136_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// writer sends batches with rising serials.
type writer struct {
	testing.TB
	client backend.Backend
	zone   dnsname.Name
	soa    rr.SOA
}

func newWriter(t testing.TB, client backend.Backend) *writer {
	w := &writer{TB: t, client: client, zone: parse(t, "example.org.")}
	found, err := client.Read(t.Context(), w.zone, backend.Ask{Keys: []rr.Key{}})
	if err != nil {
		t.Fatal(err)
	}
	w.soa = found.SOA
	return w
}

func (w *writer) apply(changes ...plan.Change) {
	w.Helper()
	expect, next := w.soa, w.soa
	next.Serial++
	result, err := w.client.Apply(w.Context(), w.zone, backend.Batch{Changes: changes, SOA: &next, Expect: &expect})
	if err != nil {
		w.Fatal(err)
	}
	w.soa = result.SOA
}

// address is a set of one A record below the zone.
func address(t testing.TB, name, data string) rr.Set {
	return rr.NewSet(rr.Key{Name: parse(t, name+".example.org."), Type: rr.TypeA}, 300, data)
}

// hosts puts 20,000 sets into the zone, in batches as large as the limits allow, and returns how many that were.
func (w *writer) hosts() int {
	limits := w.client.Limits()
	var batch []plan.Change
	batches, bytes := 0, 0
	flush := func() {
		w.apply(batch...)
		batch, bytes, batches = nil, 0, batches+1
	}
	for i := range 20_000 {
		set := address(w, fmt.Sprintf("host-%05d", i), fmt.Sprintf("10.0.%d.%d", i/256, i%256))
		change := plan.Change{Key: set.Key(), Want: set}
		if n := limits.Size(change); bytes+n > limits.MaxBytes {
			flush()
		}
		bytes += limits.Size(change)
		batch = append(batch, change)
	}
	flush()
	return batches
}

var programs = map[string]starter{"BIND": nameserver.StartBIND, "Knot": nameserver.StartKnot}

// BenchmarkChange is one changed set in a zone of 20,000: the UPDATE, and the UPDATE with reading back.
func BenchmarkChange(b *testing.B) {
	for program, start := range programs {
		for _, read := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/read=%v", program, read), func(b *testing.B) {
				w := newWriter(b, client(b, serve(b, start), secret))
				w.hosts()
				var times []time.Duration
				have := address(b, "host-00007", "10.0.0.7")
				for i := 0; b.Loop(); i++ {
					began := time.Now()
					want := address(b, "host-00007", fmt.Sprintf("192.0.2.%d", i%200))
					w.apply(plan.Change{Key: want.Key(), Have: have, Want: want})
					if read {
						found, err := w.client.Read(b.Context(), w.zone, backend.Ask{Keys: []rr.Key{want.Key()}})
						if got, _ := found.Sets.Get(want.Key()); err != nil || !got.Equal(want) {
							b.Fatal(got, err)
						}
					}
					have = want
					times = append(times, time.Since(began))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}

// BenchmarkHosts is 20,000 new sets.
func BenchmarkHosts(b *testing.B) {
	for program, start := range programs {
		b.Run(program, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := newWriter(b, client(b, serve(b, start), secret))
				b.StartTimer()
				b.ReportMetric(float64(w.hosts()), "UPDATEs")
			}
		})
	}
}

// BenchmarkTransfer reads a zone of 20,000 sets by AXFR.
func BenchmarkTransfer(b *testing.B) {
	w := newWriter(b, client(b, serve(b, nameserver.StartBIND), secret))
	w.hosts()
	for b.Loop() {
		found, err := w.client.Read(b.Context(), w.zone, backend.Ask{})
		if err != nil || found.Sets.Len() != 20_001 {
			b.Fatal(found.Sets.Len(), err)
		}
	}
}
