package delivery

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// What happens while something else is under way.

func TestAZoneThatIsOffAndOnAgainBetweenTwoLooksIsDeliveredAsItIs(t *testing.T) {
	play(t, func(s *stage) {
		woken := 0
		s.d.Places().OnNews(func(string) { woken++ })
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servedIs("org", "True Served: Served by one.")
		start := s.store.stop("load")
		s.named("org", "example.net.")
		s.record("www", "www.example.org.", "192.0.2.2")
		s.named("org", "example.org.")
		if _, complete := s.d.Servers().ZonesAt("one", func(zone.ID) bool { return true }); complete {
			t.Error("the server has everything before the zone is delivered again")
		}
		woken = 0
		start()
		s.settle()
		if woken == 0 {
			t.Error("who waits for the server to have everything is not told")
		}
		s.servedIs("org", "True Served: Served by one.")
		s.reachedIs("www", "True Served: Served by one.")
		s.hasIs("192.0.2.2")
	})
}

func TestAStatusKeepsWhatIsBeingStored(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.server("two", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.place("two", nil)
		s.zone("org", "example.org.", "none")
		start := s.store.stop("hold")
		s.zone("org", "example.org.", "one")
		s.placesAre("org", "one Pending")
		start()
		s.settle()
		s.placesAre("org", "one")

		start = s.store.stop("hold")
		s.zone("org", "example.org.", "one", "two")
		s.placesAre("org", "one", "two Pending")
		s.zone("org", "example.org.", "one")
		start()
		s.settle()
		s.placesAre("org", "one")
	})
}

// TestAStatusKeepsWhatIsBeingStoredOfABackendThatOnlyObserved or the two would undo each other's writes for ever.
func TestAStatusKeepsWhatIsBeingStoredOfABackendThatOnlyObserved(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", func(p *Place) { p.Observe = true })
		s.zone("org", "example.org.", "one")
		s.placesAre("org", "one Observing")
		start := s.store.stop("hold")
		s.place("one", nil)
		s.placesAre("org", "one Pending")
		start()
		s.settle()
		s.placesAre("org", "one")
	})
}

// named gives a Zone another name.
func (s *stage) named(name, fqdn string) {
	s.t.Helper()
	all, err := dnsname.ParsePattern("*")
	if err != nil {
		s.t.Fatal(err)
	}
	s.core.PutZone(zone.Zone{
		ID: zoneID(name), Created: born, Where: zone.Where{Name: parse(s.t, fqdn)}, TTL: 60,
		Rules: []zone.Rule{{Zones: []dnsname.Pattern{all}, Records: []zone.RecordRule{{Pattern: all}}}},
	}, core.Version{UID: "1", Generation: 2})
	s.settle()
}

// hasIs compares what server one holds at www.example.org.
func (s *stage) hasIs(want string) {
	s.t.Helper()
	if got := s.has("one", "example.org.", "www.example.org."); got != want {
		s.t.Errorf("the server has %q, want %q", got, want)
	}
}

// A valve is a Backend whose calls wait, or fail.
type valve struct {
	backend.Backend
	gate chan struct{}                  // for Apply; nil: open
	err  *atomic.Pointer[backend.Error] // of Read; nil, or of nothing: none
}

func (v *valve) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	if v.gate != nil {
		<-v.gate
	}
	return v.Backend.Apply(ctx, zone, b)
}

func (v *valve) Read(ctx context.Context, zone dnsname.Name, a backend.Ask) (backend.Observed, error) {
	if v.err != nil && v.err.Load() != nil {
		return backend.Observed{}, v.err.Load()
	}
	return v.Backend.Read(ctx, zone, a)
}

// valve makes a server and a Backend one whose calls go through a valve.
func (s *stage) valve(v valve) *valve {
	s.t.Helper()
	v.Backend = s.server("one", "example.org.", backendtest.Profile{}).Client(true)
	s.place("one", func(p *Place) { p.Servers = []Server{{Name: "one", Backend: &v}} })
	return &v
}

func TestRecordsAreToldOfTheFirstDeliveryAlthoughSomethingChangedMeanwhile(t *testing.T) {
	play(t, func(s *stage) {
		gate := make(chan struct{})
		v := s.valve(valve{gate: gate})
		s.record("www", "www.example.org.", "192.0.2.1")
		s.zone("org", "example.org.", "one")
		s.reachedIs("www", "False Pending: Backend one is about to receive it.")
		s.record("other", "other.example.org.", "192.0.2.1")
		s.told()
		v.gate = nil
		close(gate)
		s.settle()
		s.reachedIs("www", "True Served: Served by one.")
		s.toldOf("www", "org")
	})
}

func TestRecordsAreToldThatNobodyServesThemAnyMore(t *testing.T) {
	const none = "False NoBackend: No Backend serves example.org.; mark a Backend as default, or name one in backendRefs."
	for _, c := range []struct {
		name   string
		change func(*stage)
		want   string
	}{
		{"every Backend is deleted", func(s *stage) { s.dropPlace("one"); s.told(); s.dropPlace("two") }, none},
		{"no Backend is one for all any more", func(s *stage) { s.place("one", nil); s.told(); s.place("two", nil) }, none},
		{"one of two Backends is deleted", func(s *stage) { s.told(); s.dropPlace("one") }, "True Served: Served by two."},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				for _, name := range []string{"one", "two"} {
					s.server(name, "example.org.", backendtest.Profile{})
					s.place(name, func(p *Place) { p.Default = true })
				}
				s.zone("org", "example.org.")
				s.record("www", "www.example.org.", "192.0.2.1")
				s.reachedIs("www", "True Served: Served by one, two.")
				c.change(s)
				s.servedIs("org", c.want)
				s.reachedIs("www", c.want)
				s.toldOf("www", "org")
			})
		})
	}
}

func TestWhoWaitsForAServerHearsThatItDoesNotTakeAZone(t *testing.T) {
	play(t, func(s *stage) {
		woken := 0
		s.d.Places().OnNews(func(string) { woken++ })
		var trouble atomic.Pointer[backend.Error]
		trouble.Store(&backend.Error{Class: backend.ErrUnavailable, Words: "connection refused"})
		s.valve(valve{err: &trouble})
		s.zone("org", "example.org.", "one")
		complete := func() bool {
			_, complete := s.d.Servers().ZonesAt("one", func(zone.ID) bool { return true })
			return complete
		}
		if complete() {
			t.Fatal("a server that does not answer has everything")
		}
		woken = 0
		trouble.Store(&backend.Error{Class: backend.ErrRejected, Words: "no such zone here"})
		<-time.After(10 * time.Minute) // in the bubble: until the server is tried again
		s.settle()
		if !complete() || woken == 0 {
			t.Errorf("it is complete: %v, which is told %d times", complete(), woken)
		}
	})
}

func TestABackendThatCannotBeUsedIsPutAgainWhileAZoneIsLookedAt(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.server("two", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.place("two", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servedIs("org", "True Served: Served by one.")
		s.place("one", unusable)
		s.hasIs("192.0.2.1")
		start := s.store.stop("hold")
		s.zone("org", "example.org.", "one", "two") // what it is held for is written down
		s.place("one", unusable)                    // somebody has looked at every Backend again
		start()
		s.settle()
		s.hasIs("192.0.2.1")
	})
}

func TestAZoneThatIsRenamedWhileItIsHeldIsNotPublishedBeforeItIsHeld(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{})
		m.AddZone(parse(t, "example.net."), rr.SOA{TTL: 60, MName: parse(t, "ns.example.net."), RName: parse(t,
			"host.example.net."), Serial: 7, Refresh: 1, Retry: 1, Expire: 1})
		s.place("one", nil)
		s.record("www", "www.example.net.", "192.0.2.1")
		start := s.store.stop("hold")
		s.zone("org", "example.org.", "one")
		s.named("org", "example.net.")
		next := s.store.stop("hold")
		start()
		s.settle()
		if got := s.has("one", "example.net.", "www.example.net."); got != "" {
			t.Errorf("the server was given %q before it was written down that it has the zone", got)
		}
		next()
		s.settle()
		s.reachedIs("www", "True Served: Served by one.")
		stored, _ := s.store.Load(zoneID("org"))
		if got := fmt.Sprint(stored.Delivered); got != "[{one example.net.}]" {
			t.Errorf("it is held for %s", got)
		}
	})
}
