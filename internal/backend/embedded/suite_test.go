package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// applyTo applies changes to a zone of a group, with the next serial.
func applyTo(t testing.TB, g *Group, zone dnsname.Name, changes ...plan.Change) {
	t.Helper()
	batch := backend.Batch{Changes: changes}
	if g.zone(zone) == nil {
		batch.Create = true
		batch.SOA = &rr.SOA{MName: mustName(t, "ns.example.net."), RName: zone, Serial: 1, Refresh: 3600, Retry: 600,
			Expire: 86400, Minimum: 60, TTL: 300}
	}
	result, err := g.Apply(t.Context(), zone, batch)
	if err != nil || len(result.Rejected) > 0 {
		t.Fatal(result.Rejected, err)
	}
}

// put is a change that makes a set.
func put(t testing.TB, name string, typ rr.Type, ttl uint32, data ...string) plan.Change {
	t.Helper()
	key := rr.Key{Name: mustName(t, name), Type: typ}
	return plan.Change{Key: key, Want: rr.NewSet(key, ttl, data...)}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		s, _ := serve(t, Options{})
		g := s.Group("test")
		zone := mustName(t, "example.org.")
		applyTo(t, g, zone, put(t, "example.org.", rr.TypeNS, 300, "server.example.net."))
		var large []string
		for i := range 260 {
			large = append(large, fmt.Sprintf("%q", strings.Repeat(string(rune('a'+i%26)), 250)+fmt.Sprint(i)))
		}
		return backendtest.Harness{
			Zone: zone, Missing: mustName(t, "missing.example."),
			Backend: func() backend.Backend { return s.Group("test") },
			Truth: func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
				z := s.Catalogue().Zone(zone)
				if z == nil {
					return rr.SOA{}, rr.Sets{}, false
				}
				found, err := g.Read(t.Context(), zone, backend.Ask{})
				if err != nil {
					t.Fatal(err)
				}
				return found.SOA, found.Sets, true
			},
			Foreign: func(put []rr.Set, gone []rr.Key) {
				var changes []plan.Change
				for _, set := range put {
					changes = append(changes, plan.Change{Key: set.Key(), Want: set})
				}
				for _, key := range gone {
					changes = append(changes, plan.Change{Key: key})
				}
				applyTo(t, g, zone, changes...)
			},
			Bad: func(owner dnsname.Name) rr.Set {
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, large...)
			},
			MaxApplies: 30,
		}
	})
}
