package embedded

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// hosts makes a zone with so many addresses.
func hosts(b testing.TB, n int) *Zone {
	b.Helper()
	z := readZone(b, "bench.example. 3600 IN SOA ns.bench.example. root.bench.example. 1 7200 3600 604800 "+
		"300\nbench.example. 3600 IN NS ns.example.net.\n")
	changes := make([]plan.Change, n)
	for i := range changes {
		changes[i] = address(b, i, i)
	}
	z, rejected, err := z.With(nil, changes)
	if err != nil || len(rejected) > 0 {
		b.Fatal(rejected, err)
	}
	return z
}

func address(b testing.TB, host, n int) plan.Change {
	key := rr.Key{Name: mustName(b, fmt.Sprintf("host-%d.bench.example.", host)), Type: rr.TypeA}
	return plan.Change{Key: key, Want: rr.NewSet(key, 300, fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))}
}

func BenchmarkRespond(b *testing.B) {
	c := NewCatalogue().With(hosts(b, 100_000))
	for _, name := range []string{"host-%d.bench.example.", "no-%d.bench.example.", "a.b.c.d.e.no-%d.bench.example."} {
		var questions [1024][]byte
		for i := range questions {
			m := new(dns.Msg).SetQuestion(fmt.Sprintf(name, i*97), dns.TypeA)
			m.SetEdns0(4096, false)
			questions[i], _ = m.Pack()
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r responder
			buf := make([]byte, 0, udpSize)
			for i := range b.N {
				r.respond(c, questions[i%len(questions)], buf, false)
			}
		})
	}
}

func BenchmarkWith(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		z := hosts(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			soa := z.SOA()
			for i := range b.N {
				soa.Serial++
				z, _, _ = z.With(&soa, []plan.Change{address(b, i%n, i)})
			}
		})
	}
}

// BenchmarkLoad makes a zone of a million names and says what one takes.
func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		z := hosts(b, n)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/name")
		runtime.KeepAlive(z)
	}
}
