package zone

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func hashOf(sets ...rr.Set) string {
	var h hasher
	for _, s := range sets {
		h.add(s)
	}
	h.finish()
	return h.sum
}

func setOf(owner string, ttl uint32, typ rr.Type, data ...string) rr.Set {
	return rr.NewSet(rr.Key{Name: must(dnsname.Parse(owner)), Type: typ}, ttl, data...)
}

// manySets make a tree of several levels.
func manySets(n int) []rr.Set {
	var out []rr.Set
	for i := range n {
		out = append(out, setOf(fmt.Sprintf("h%d.example.org.", i), 300, rr.TypeA, "192.0.2.1", "192.0.2.2"))
	}
	return out
}

// What is stored in status.hash is compared with what later versions compute: these
// must not change.
func TestHashIsTheSameInEveryVersion(t *testing.T) {
	for _, test := range []struct {
		name string
		sets []rr.Set
		want string
	}{
		{"nothing", nil, "6e340b9cffb37a989ca544e6bb780a2c"},
		{"one set", manySets(1), "afa2144d4714491e8694bcb842bf4e31"},
		{"as many as a leaf holds", manySets(16), "c0033e6b31db24bfda7a007802d537f9"},
		{"one more", manySets(17), "b590e3a6103be977de8fe2144a9ef7a6"},
		{"a thousand", manySets(1000), "ae339f12cd01da04e632317fff774daa"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := hashOf(test.sets...); got != test.want {
				t.Errorf("the hash is %s, not %s", got, test.want)
			}
		})
	}
}

func TestHashTellsContentsApart(t *testing.T) {
	base := setOf("www.example.org.", 300, rr.TypeA, "192.0.2.1")
	seen := map[string]string{hashOf(base): "the set itself", hashOf(): "nothing"}
	for name, s := range map[string]rr.Set{
		"another name":         setOf("ftp.example.org.", 300, rr.TypeA, "192.0.2.1"),
		"another TTL":          setOf("www.example.org.", 301, rr.TypeA, "192.0.2.1"),
		"another type":         setOf("www.example.org.", 300, rr.TypeTXT, "192.0.2.1"),
		"other data":           setOf("www.example.org.", 300, rr.TypeA, "192.0.2.2"),
		"one more record":      setOf("www.example.org.", 300, rr.TypeA, "192.0.2.1", "192.0.2.2"),
		"records run together": setOf("www.example.org.", 300, rr.TypeA, "192.0.2.1192.0.2.2"),
	} {
		hash := hashOf(s)
		if other, known := seen[hash]; known {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
}

func TestHashDependsOnTheSetsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := manySets(200)
		var h hasher
		has := map[int]bool{}
		for range upTo(t, 400, "changes") {
			i := upTo(t, len(all), "set")
			if has[i] {
				h.remove(all[i])
			} else {
				h.add(all[i])
			}
			has[i] = !has[i]
			if upTo(t, 4, "finish") == 0 {
				h.finish()
			}
		}
		h.finish()
		var left []rr.Set
		for i, s := range all {
			if has[i] {
				left = append(left, s)
			}
		}
		slices.Reverse(left)
		if want := hashOf(left...); h.sum != want {
			t.Fatalf("the hash of %d sets is %s after changes, and %s of the same sets put at once", len(left), h.sum, want)
		}
	})
}

func snapshotOf(t *testing.T, w *World, id ID) Snapshot {
	t.Helper()
	w.Settle()
	s, ok := w.Snapshot(id)
	if !ok {
		v, _ := w.Verdict(id)
		t.Fatalf("%s is not accepted: %s", id, v.Message)
	}
	return s
}

func TestHashIsNotOfTheSOAOrTheDelegations(t *testing.T) {
	w := New(Options{})
	z := zoneOf("dns", "example", "example.org.", 1)
	w.PutZone(z)
	w.PutClaim(claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"))
	before := snapshotOf(t, w, z.ID)

	z.Refresh, z.Retry, z.Expire, z.Minimum, z.RName = 1, 2, 3, 4, must(dnsname.Parse("x.example.net."))
	z.Rules = append(z.Rules, Rule{Namespaces: []string{"other"}})
	w.PutZone(z)
	after := snapshotOf(t, w, z.ID)
	if after.Hash != before.Hash {
		t.Error("the hash changed with the SOA and a delegation")
	}
	if after.SOA == before.SOA {
		t.Error("the SOA did not change")
	}

	z.TTL = 77
	w.PutZone(z)
	if snapshotOf(t, w, z.ID).Hash == after.Hash {
		t.Error("the hash did not change with the TTL of the records")
	}
	if old := before.Sets; old.Len() != 1 {
		t.Error("a Snapshot that was taken changed")
	}
}

func TestSOA(t *testing.T) {
	long := strings.Repeat("a.", 121) + "example.org." // 255 octets
	for _, test := range []struct {
		name         string
		zone         func(*Zone)
		ns           []string
		mname, rname string
	}{
		{"has defaults in the zone", nil, nil, "ns.example.org.", "hostmaster.example.org."},
		{"has the first apex NS as primary, in canonical order", nil, []string{"b.example.org.", "z.a.example.org."},
			"z.a.example.org.", "hostmaster.example.org."},
		{"has what the Zone says", func(z *Zone) {
			z.MName, z.RName = must(dnsname.Parse("m.example.")), must(dnsname.Parse("r.example."))
		}, []string{"b.example.org."}, "m.example.", "r.example."},
		{"has the zone itself where a label more does not fit", func(z *Zone) {
			z.Where.Name = must(dnsname.Parse(long))
		}, nil, long, long},
		{"has names in the root", func(z *Zone) { z.Where.Name = dnsname.Root }, nil, "ns.", "hostmaster."},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := New(Options{})
			z := zoneOf("dns", "example", "example.org.", 1)
			z.Refresh, z.Retry, z.Expire, z.Minimum = 86400, 7200, 3600000, 360
			if test.zone != nil {
				test.zone(&z)
			}
			w.PutZone(z)
			for _, ns := range test.ns {
				w.PutClaim(claimOf("dns/"+ns, z.Where.Name.String(), 1, "NS "+ns))
			}
			got := snapshotOf(t, w, z.ID).SOA
			want := rr.SOA{
				MName: must(dnsname.Parse(test.mname)), RName: must(dnsname.Parse(test.rname)),
				Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 360, TTL: z.TTL,
			}
			if got != want {
				t.Errorf("the SOA is %+v, not %+v", got, want)
			}
		})
	}
}
