package zone

import (
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// pinnedZone is a pinned Zone with name servers of its own, and servers.
func pinnedZone(servers ...string) Zone {
	z := largeZone("example.org.")
	z.Policy = Policy{Pinned: true, NoAliases: true}
	z.Own = []rr.Set{setOf("example.org.", 300, rr.TypeNS, "ns1.example.org.", "ns2.example.org."), setOf(
		"ns1.example.org.", 300, rr.TypeA, "192.0.2.1")}
	for _, s := range servers {
		z.Servers = append(z.Servers, Address{rr.TypeA, s})
	}
	return z
}

func pinnedWorld(size int) *World {
	w := New(Options{})
	w.PutZone(pinnedZone("198.51.100.1"))
	for _, c := range addressClaims("example.org.", size) {
		c.Where.Ref = largeZone("example.org.").ID
		w.PutClaim(c)
	}
	w.Settle()
	return w
}

func TestNoSingleChangeOfAPinnedZoneVisitsAllSets(t *testing.T) {
	small, large := pinnedWorld(100), pinnedWorld(5_000)
	pinned := func(object, owner, record string) Claim {
		c := claimOf(object, owner, 9, record)
		c.Where.Ref = largeZone("example.org.").ID
		return c
	}
	for _, change := range []struct {
		name  string
		apply func(*World)
	}{
		{"a new record", func(w *World) { w.PutClaim(pinned("team/new", "new.example.org.", "A 192.0.2.9")) }},
		{"its end", func(w *World) { w.DeleteClaim(ID{KindRecord, "team", "new"}) }},
		{"other servers", func(w *World) { w.PutZone(pinnedZone("198.51.100.2", "198.51.100.3")) }},
		{"a name server more", func(w *World) { w.PutClaim(pinned("team/ns", "example.org.", "NS ns3.example.org.")) }},
		{"its address", func(w *World) { w.PutClaim(pinned("team/ns3", "ns3.example.org.", "A 192.0.2.3")) }},
		{"no servers", func(w *World) { w.PutZone(pinnedZone()) }},
		{"a Zone of its name", func(w *World) { w.PutZone(zoneOf("dns", "same", "example.org.", 1)) }},
		{"a pinned Zone of its name", func(w *World) {
			z := pinnedZone()
			z.ID.Name = "twin"
			w.PutZone(z)
		}},
	} {
		few := visitsOf(small, func() { change.apply(small) })
		many := visitsOf(large, func() { change.apply(large) })
		if few != many {
			t.Errorf("%s visits %d names in a World of 100, and %d in one of 5,000", change.name, few, many)
		}
	}
}

func TestTheAddressesOfServersAreGlueOnly(t *testing.T) {
	w := pinnedWorld(1)
	address := func(name string) []string {
		s, _ := w.Snapshot(largeZone("example.org.").ID)
		set, _ := s.Sets.Get(rr.Key{Name: must(dnsname.Parse(name)), Type: rr.TypeA})
		return set.Data
	}
	if got := address("ns1.example.org."); len(got) != 1 || got[0] != "192.0.2.1" {
		t.Errorf("a name server with an address has %v", got)
	}
	if got := address("ns2.example.org."); len(got) != 1 || got[0] != "198.51.100.1" {
		t.Errorf("a name server without an address has %v", got)
	}
	w.PutZone(pinnedZone())
	w.Settle()
	if got := address("ns2.example.org."); len(got) != 0 {
		t.Errorf("where no server is known it has %v", got)
	}
}
