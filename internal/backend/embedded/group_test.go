package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// batch makes a zone of one address.
func batch(t testing.TB, serial uint32, address string) backend.Batch {
	soa := rr.SOA{MName: mustName(t, "ns.example.net."), RName: mustName(t, "root.example.net."), Serial: serial, TTL: 60}
	return backend.Batch{Create: true, SOA: &soa,
		Changes: []plan.Change{put(t, "www.example.org.", rr.TypeA, 60, address)}}
}

func TestTheNewestOfSeveralGroupsIsServed(t *testing.T) {
	s, _ := serve(t, Options{})
	s.Publish(NewCatalogue())
	zone := mustName(t, "example.org.")
	a, b := s.Group("a"), s.Group("b")
	for _, step := range []struct {
		what   string
		group  *Group
		batch  backend.Batch
		serial uint32 // that is served; 0: the zone is not
		of     *Group
	}{
		{"one group", b, batch(t, 5, "192.0.2.5"), 5, b},
		{"another that is behind", a, batch(t, 4, "192.0.2.4"), 5, b},
		{"it catches up", a, batch(t, 5, "192.0.2.5"), 5, a},
		{"the other goes on", b, batch(t, 1<<31+1, "192.0.2.6"), 1<<31 + 1, b},
		{"and further (RFC 1982)", b, batch(t, 1<<31+6, "192.0.2.7"), 5, a},
		{"the first goes", a, backend.Batch{Remove: true}, 1<<31 + 6, b},
		{"it goes again", a, backend.Batch{Remove: true}, 1<<31 + 6, b},
		{"all are gone", b, backend.Batch{Remove: true}, 0, nil},
	} {
		if _, err := step.group.Apply(t.Context(), zone, step.batch); err != nil {
			t.Fatal(step.what, err)
		}
		z := s.Catalogue().Zone(zone)
		switch {
		case step.of == nil && z != nil:
			t.Errorf("%s: the zone is still served", step.what)
		case step.of != nil && (z == nil || z != step.of.zone(zone) || z.soa.Serial != step.serial):
			t.Errorf("%s: another one is served", step.what)
		}
	}
}

func TestAZoneOfADroppedGroupGoesToAnother(t *testing.T) {
	zone := mustName(t, "example.org.")
	for _, c := range []struct {
		name   string
		drop   func(*Server)
		served bool
	}{
		{"a group that is there", func(*Server) {}, true},
		{"one that was dropped", func(s *Server) { s.DropPolicy("a") }, false},
		{"one that was dropped and is back", func(s *Server) {
			s.DropPolicy("a")
			if err := s.SetPolicy("a", Policy{}); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		s, _ := serve(t, Options{})
		s.Publish(NewCatalogue())
		apply := func(group string, b backend.Batch) {
			t.Helper()
			if _, err := s.Group(group).Apply(t.Context(), zone, b); err != nil {
				t.Fatal(err)
			}
		}
		apply("a", batch(t, 5, "192.0.2.5"))
		c.drop(s)
		if s.Catalogue().Zone(zone) == nil {
			t.Errorf("%s: its zone is not served", c.name)
		}
		apply("b", batch(t, 6, "192.0.2.6"))
		apply("b", backend.Batch{Remove: true})
		if served := s.Catalogue().Zone(zone) != nil; served != c.served {
			t.Errorf("%s: when another has lost the zone it is served: %v", c.name, served)
		}
	}
}

func TestBatchesThatDoNotFit(t *testing.T) {
	s, _ := serve(t, Options{})
	g, zone := s.Group("a"), mustName(t, "example.org.")
	apply := func(edit func(*backend.Batch)) error {
		b := batch(t, 5, "192.0.2.5")
		edit(&b)
		_, err := g.Apply(t.Context(), zone, b)
		return err
	}
	if err := apply(func(b *backend.Batch) { b.Create = false }); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("a zone that is not there: %v", err)
	}
	if err := apply(func(b *backend.Batch) { b.SOA = nil }); !errors.Is(err, backend.ErrRejected) {
		t.Errorf("a zone without an SOA: %v", err)
	}
	if err := apply(func(*backend.Batch) {}); err != nil {
		t.Fatal(err)
	}
	before := s.Catalogue()
	for name, c := range map[string]struct {
		edit func(*backend.Batch)
		want error
	}{
		"the serial again, with other content": {func(b *backend.Batch) { b.SOA.Minimum = 7 }, backend.ErrRejected},
		"an older serial":                      {func(b *backend.Batch) { b.SOA.Serial = 4 }, backend.ErrRejected},
		"somebody else wrote": {func(b *backend.Batch) {
			b.SOA.Serial, b.Expect = 6, &rr.SOA{Serial: 4}
		}, backend.ErrConflict},
		"somebody else wrote, and it is to go": {func(b *backend.Batch) {
			*b = backend.Batch{Remove: true, Expect: &rr.SOA{Serial: 4}}
		}, backend.ErrConflict},
		"one set of two does not fit": {func(b *backend.Batch) {
			b.SOA.Serial = 6
			b.Changes = append(b.Changes, put(t, "www.example.net.", rr.TypeA, 60, "192.0.2.1"))
		}, backend.ErrRejected},
	} {
		if err := apply(c.edit); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if s.Catalogue() != before {
			t.Errorf("%s changed something", name)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Apply(ended, zone, batch(t, 6, "192.0.2.6")); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
}

// TestWritersOfOneZoneTakeTurns has several count one zone up while others read, transfer and set policies.
func TestWritersOfOneZoneTakeTurns(t *testing.T) {
	s, g, addr := filled(t, Options{}, 500)
	zone := mustName(t, "bench.example.")
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	const each, several = 50, 4
	for i := range several {
		writers.Go(func() {
			for n := range each {
				b := backend.Batch{Changes: []plan.Change{put(t, fmt.Sprintf("w%d.bench.example.", i), rr.TypeA, uint32(n),
					"192.0.2.1")}}
				if _, err := g.Apply(t.Context(), zone, b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Go(func() {
		for ended := false; !ended; {
			select { // the last round comes after the writers: one there is, however soon they end
			case <-done:
				ended = true
			default:
			}
			setPolicy(t, s, Policy{Transfer: []Rule{loopback()}, Catalog: mustName(t, "catalog.example.")})
			setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
			if records, _, err := fetch(t, addr, ixfr("bench.example.", 1), nil); err != nil || len(records) == 0 {
				t.Errorf("%d records, %v", len(records), err)
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	if serial := g.zone(zone).soa.Serial; serial != 1+each*several {
		t.Errorf("%d changes led from serial 1 to %d", each*several, serial)
	}
	records, _, err := fetch(t, addr, ixfr("bench.example.", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if soas := len(records) - len(sorted(records)); soas != 2+2*each*several {
		t.Errorf("%d SOAs in the increment", soas)
	}
}

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
