package rr

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
)

func BenchmarkParseData(b *testing.B) {
	for _, c := range []struct {
		typ  Type
		data string
	}{
		{TypeA, "192.0.2.1"},
		{TypeAAAA, "2001:db8::1"},
		{TypeCNAME, "www.example.org."},
		{TypeMX, "10 mail.example.org."},
		{TypeTXT, `"v=spf1 include:example.org -all"`},
		{TypeHTTPS, `1 . alpn="h2,h3" ipv4hint=192.0.2.1`},
	} {
		b.Run(c.typ.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseData(c.typ, c.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchSets returns sets of the kinds that most zones are made of.
func benchSets(b testing.TB, n int) []Set {
	sets := make([]Set, n)
	for i := range sets {
		owner := name(b, fmt.Sprintf("host-%06d.team-%d.example.org.", i*7919%n, i%10))
		switch i % 4 {
		case 0, 1:
			sets[i] = NewSet(Key{owner, TypeA}, 300, fmt.Sprintf("192.0.%d.%d", i>>8&255, i&255))
		case 2:
			sets[i] = NewSet(Key{owner, TypeMX}, 300, "10 mail.example.org.", "20 mail2.example.org.")
		case 3:
			sets[i] = NewSet(Key{owner, TypeTXT}, 300, fmt.Sprintf(`"owner=%d"`, i))
		}
	}
	return sets
}

var sizes = []int{1_000, 10_000, 100_000}

func BenchmarkSetsPut(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("one of %d", n), func(b *testing.B) {
			sets := benchSets(b, n)
			var all Sets
			for _, s := range sets {
				txn := all.Txn()
				txn.Put(s)
				all = txn.Sets()
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				txn := all.Txn()
				txn.Put(sets[i%n])
				all = txn.Sets()
				i++
			}
		})
		b.Run(fmt.Sprintf("all %d in one transaction", n), func(b *testing.B) {
			sets := benchSets(b, n)
			b.ReportAllocs()
			for b.Loop() {
				txn := Sets{}.Txn()
				for _, s := range sets {
					txn.Put(s)
				}
				if all := txn.Sets(); all.Len() == 0 {
					b.Fatal("empty")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/set")
		})
	}
}

func BenchmarkSetsGet(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sets := benchSets(b, n)
			txn := Sets{}.Txn()
			for _, s := range sets {
				txn.Put(s)
			}
			all := txn.Sets()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, ok := all.Get(sets[i%n].Key()); !ok {
					b.Fatal("missing")
				}
				i++
			}
		})
	}
}

func BenchmarkSetsAll(b *testing.B) {
	txn := Sets{}.Txn()
	for _, s := range benchSets(b, 100_000) {
		txn.Put(s)
	}
	all := txn.Sets()
	for b.Loop() {
		n := 0
		for range all.All() {
			n++
		}
		if n != all.Len() {
			b.Fatal(n)
		}
	}
}

func BenchmarkRRs(b *testing.B) {
	sets := benchSets(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range sets {
			if _, err := s.RRs(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/set")
}

func BenchmarkFromRRs(b *testing.B) {
	var rrs []dns.RR
	for _, s := range benchSets(b, 100_000) {
		r, err := s.RRs()
		if err != nil {
			b.Fatal(err)
		}
		rrs = append(rrs, r...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromRRs(rrs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rrs)), "ns/record")
}
