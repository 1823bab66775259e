package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A follower is a real server that follows one of ours.
type follower struct {
	name string
	*nameserver.Server
}

// follow starts servers that follow zones, and the catalog if they know catalogs, and has them told of changes.
func follow(t *testing.T, s *Server, addr string, zones ...dnsname.Name) []follower {
	t.Helper()
	key := testKey(t, "follower.zonefold.", "hmac-sha256")
	sign := &nameserver.TSIG{Name: key.Name, Algorithm: key.Algorithm, Secret: key.Secret}
	catalog := mustName(t, "catalog.zonefold.")
	policy := Policy{Transfer: []Rule{{Key: key}}, Catalog: catalog}
	setPolicy(t, s, policy)
	var all []follower
	for _, start := range []struct {
		name    string
		run     func(context.Context, nameserver.Options) (*nameserver.Server, error)
		catalog dnsname.Name
	}{{"BIND", nameserver.StartBIND, catalog}, {"Knot", nameserver.StartKnot, catalog},
		{"NSD", nameserver.StartNSD, dnsname.Name{}}} {
		f, err := start.run(t.Context(), nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{*sign},
			Follow: &nameserver.Follow{
				Primary: netip.MustParseAddrPort(addr), Key: sign, Zones: zones, Catalog: start.catalog,
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		all = append(all, follower{start.name, f})
		policy.Notify = append(policy.Notify, Destination{Addr: netip.MustParseAddrPort(f.Addr()), Key: key})
	}
	setPolicy(t, s, policy)
	return all
}

// TestServersFollowByIncrements has real servers follow a zone through random changes. What they hold in the end is
// what was delivered, and they have not taken the zone whole but for the first time.
func TestServersFollowByIncrements(t *testing.T) {
	t.Parallel()
	zone := mustName(t, "bench.example.")
	s, g, addr := filled(t, Options{}, 2000)
	followers := follow(t, s, addr, zone)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for _, f := range followers {
		if err := f.Await(ctx, zone, 1); err != nil {
			t.Fatal(f.name, err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	const changes = 1000
	for i := range changes {
		applyTo(t, g, zone, randomChanges(t, random)...)
		if f := followers[i%len(followers)]; i%20 == 0 { // so that there are many increments
			if err := f.Await(ctx, zone, uint32(i+2)); err != nil {
				t.Fatal(f.name, err)
			}
		}
	}
	found, err := g.Read(ctx, zone, backend.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range followers {
		if err := f.Await(ctx, zone, changes+1); err != nil {
			t.Fatal(f.name, err)
		}
		sets, err := f.Transfer(ctx, zone)
		if err != nil {
			t.Fatal(f.name, err)
		}
		sets = slices.DeleteFunc(sets, func(s rr.Set) bool { return s.Type == rr.TypeSOA })
		if want := slices.Collect(found.Sets.All()); !slices.EqualFunc(sets, want, rr.Set.Equal) {
			t.Errorf("%s holds %d sets, which are not the %d that were delivered", f.name, len(sets), len(want))
		}
		taken, err := f.Transfers(ctx, zone)
		if err != nil {
			t.Fatal(f.name, err)
		}
		t.Logf("%s took %d increments", f.name, taken.Changes)
		if taken.Whole > 1 || taken.Changes < changes/20/len(followers) {
			t.Errorf("%s took the zone whole %d times and %d increments", f.name, taken.Whole, taken.Changes)
		}
	}
}

// randomChanges change a few names of bench.example.
func randomChanges(t *testing.T, random *rand.Rand) []plan.Change {
	var changes []plan.Change
	seen := map[int]bool{}
	for range 1 + random.IntN(4) {
		host := random.IntN(2500)
		if seen[host] {
			continue
		}
		seen[host] = true
		name := fmt.Sprintf("host-%d.bench.example.", host)
		var data []string
		for range random.IntN(5) {
			data = append(data, fmt.Sprintf("10.0.%d.%d", random.IntN(3), random.IntN(3)))
		}
		key := rr.Key{Name: mustName(t, name), Type: rr.TypeA}
		c := plan.Change{Key: key}
		if len(data) > 0 {
			c.Want = rr.NewSet(key, 300*uint32(1+random.IntN(2)), data...)
		}
		changes = append(changes, c)
		if random.IntN(3) == 0 {
			changes = append(changes, put(t, name, rr.TypeTXT, 60, fmt.Sprintf("%q", fmt.Sprint("text; ", random.IntN(9)))),
				put(t, "a.b."+name, rr.TypeMX, 60, fmt.Sprintf("%d %s", random.IntN(9), name)))
		}
	}
	return changes
}

// TestServersFollowTheCatalog has zones come and go.
func TestServersFollowTheCatalog(t *testing.T) {
	t.Parallel()
	s, g, addr := filled(t, Options{}, 1)
	followers := follow(t, s, addr)[:2] // NSD knows no catalog zones
	g.Complete()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var zones []dnsname.Name
	for i := range 20 {
		zones = append(zones, mustName(t, fmt.Sprintf("zone-%d.example.", i)))
		applyTo(t, g, zones[i], put(t, "www."+zones[i].String(), rr.TypeA, 60, "192.0.2.1"))
	}
	served := func(f follower, zone dnsname.Name, want bool) {
		t.Helper()
		for {
			if _, err := f.Serial(ctx, zone); (err == nil) == want {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s never had %s served: %v", f.name, zone, want)
			}
		}
	}
	for _, f := range followers {
		served(f, mustName(t, "bench.example."), true)
		for _, zone := range zones {
			served(f, zone, true)
		}
	}
	for _, zone := range zones[:10] {
		if _, err := g.Apply(ctx, zone, backend.Batch{Remove: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range followers {
		for i, zone := range zones {
			served(f, zone, i >= 10)
		}
	}
	for _, f := range followers {
		taken, err := f.Transfers(ctx, mustName(t, "catalog.zonefold."))
		if err != nil || taken.Changes == 0 {
			t.Errorf("%s took the catalog zone by increments %d times, and whole %d times (%v)", f.name, taken.Changes,
				taken.Whole, err)
		}
	}
}
