package zone

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A large zone is one Zone that lets one namespace have every name below it.
func largeZone(name string) Zone {
	return Zone{
		ID: ID{KindZone, "dns", name}, Created: time.Unix(1, 0), Where: Where{Name: must(dnsname.Parse(name))}, TTL: 300,
		Rules: []Rule{{Namespaces: []string{"team"}, Zones: patterns("*"), Records: []RecordRule{{Pattern: patterns("*")[0]},
			{Pattern: patterns("@")[0]}}}},
	}
}

func patterns(texts ...string) []dnsname.Pattern {
	var out []dnsname.Pattern
	for _, text := range texts {
		out = append(out, must(dnsname.ParsePattern(text)))
	}
	return out
}

// addressClaims makes n claims for names of their own in a Zone.
func addressClaims(zone string, n int) []Claim {
	out := make([]Claim, n)
	for i := range out {
		out[i] = addressClaim(zone, i, 1)
	}
	return out
}

func addressClaim(zone string, i, last int) Claim {
	return Claim{
		ID: ID{KindRecord, "team", fmt.Sprintf("host-%06d-%s", i, zone)}, Created: time.Unix(int64(2+i/100), 0),
		Where: Where{Name: must(dnsname.Parse(fmt.Sprintf("host-%06d.%s", i, zone)))},
		Type:  rr.TypeA, Data: []string{fmt.Sprintf("10.%d.%d.%d", i>>8&255, i&255, last)},
	}
}

// composed returns a settled World with a Zone of n sets.
func composed(n int) *World {
	w := New(Options{})
	w.PutZone(largeZone("example.org."))
	for _, c := range addressClaims("example.org.", n) {
		w.PutClaim(c)
	}
	w.Settle()
	return w
}

// changes are the single changes whose cost must not depend on the size of the zone.
// Each is applied to a composed World, and undone.
func changes() map[string]func(w *World, i int) {
	id := largeZone("example.org.").ID
	settle := func(w *World) {
		w.Settle()
		w.Snapshot(id)
	}
	odd, even := addressClaim("example.org.", 500, 2), addressClaim("example.org.", 500, 3)
	fresh := addressClaim("example.org.", 999_999, 1)
	return map[string]func(w *World, i int){
		"changed claim": func(w *World, i int) {
			if i%2 == 0 {
				w.PutClaim(even)
			} else {
				w.PutClaim(odd)
			}
			settle(w)
		},
		"new and deleted claim": func(w *World, i int) {
			if i%2 == 0 {
				w.PutClaim(fresh)
			} else {
				w.DeleteClaim(fresh.ID)
			}
			settle(w)
		},
		"changed SOA": func(w *World, i int) {
			z := largeZone("example.org.")
			z.Refresh = uint32(i)
			w.PutZone(z)
			settle(w)
		},
	}
}

func BenchmarkOneChange(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000} {
		w := composed(size)
		for what, change := range changes() {
			b.Run(fmt.Sprintf("%s/%d", what, size), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					change(w, i)
					i++
				}
			})
		}
	}
}

func BenchmarkComposeZone10000(b *testing.B) {
	zone, claims := largeZone("example.org."), addressClaims("example.org.", 10_000)
	b.ReportAllocs()
	for b.Loop() {
		w := New(Options{})
		w.PutZone(zone)
		for _, c := range claims {
			w.PutClaim(c)
		}
		w.Settle()
		w.Snapshot(zone.ID)
	}
}

func BenchmarkCompose1000Zones100(b *testing.B) {
	var zones []Zone
	var claims []Claim
	for i := range 1000 {
		z := largeZone(fmt.Sprintf("zone-%d.example.", i))
		zones = append(zones, z)
		claims = append(claims, addressClaims(z.Where.Name.String(), 100)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := New(Options{})
		for _, z := range zones {
			w.PutZone(z)
		}
		for _, c := range claims {
			w.PutClaim(c)
		}
		w.Settle()
		for _, z := range zones {
			w.Snapshot(z.ID)
		}
	}
}

// BenchmarkMemory reports what a World needs for a claim, names and data included.
func BenchmarkMemory(b *testing.B) {
	const size = 100_000
	for b.Loop() {
		before := heap()
		w := composed(size)
		b.ReportMetric(float64(heap()-before)/size, "bytes/claim")
		runtime.KeepAlive(w)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
