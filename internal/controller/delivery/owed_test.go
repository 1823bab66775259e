package delivery

import (
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/rr"
)

func keeping(p *Place) { p.Keep = true }

func TestWhatAnEarlierRunPublishedIsOwedUntilItsBackendCanBeUsed(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.server("two", "example.org.", backendtest.Profile{})
		put := func() {
			s.place("one", keeping)
			s.place("two", keeping)
		}
		objects := func() {
			s.zone("org", "example.org.", "one", "two")
			s.record("www", "www.example.org.", "192.0.2.1")
		}
		put()
		objects()
		s.servedIs("org", "True Served: Served by one, two.")
		s.holds("org", "one", "two")

		for range 2 { // the second run has only what the first has stored
			s.restart(func() {
				s.place("one", nil)
				s.place("two", func(p *Place) { keeping(p); unusable(p) })
			})
			objects()
			s.servedIs("org", "False BackendNotReady: Backend two cannot be used: Secret x/key cannot be read.")
			s.placesAre("org", "one", "two BackendNotReady")
			s.holds("org", "one", "two")
			if out := s.d.ZoneOutcome(zoneID("org")); out.Confirmed || !out.Keeping {
				t.Error("the ledger forgets what is at a Backend that cannot be used now")
			}
		}

		s.remove("org")
		s.servedIs("org",
			"False Withdrawing: example.org. cannot be withdrawn from Backend two: Secret x/key cannot be read.")
		if s.gone("org") || s.has("two", "example.org.", "www.example.org.") == "" {
			t.Error("the object is gone although its record is still published")
		}
		s.place("two", keeping)
		if !s.gone("org") || s.has("two", "example.org.", "www.example.org.") != "" {
			t.Error("what was owed has not been withdrawn")
		}
	})
}

func TestAZoneIsHeldOnlyForWhatMayHaveBeenPublished(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Place)
		twice  bool // the Place can be used at first
	}{
		{"a Backend that could never be used", unusable, false},
		{"a Backend that only observes", func(p *Place) { p.Observe = true }, false},
		{"a Backend that only observes, and cannot be used", func(p *Place) { p.Observe = true; unusable(p) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				s.server("one", "example.org.", backendtest.Profile{})
				if c.twice {
					s.place("one", nil)
					s.zone("org", "example.org.", "one")
					s.restart(func() { s.place("one", c.change) })
				} else {
					s.place("one", c.change)
				}
				s.zone("org", "example.org.", "one")
				s.zone("org", "example.org.", "one") // its object is looked at again
				s.holds("org")
				s.remove("org")
				if !s.gone("org") {
					t.Error("the object stays")
				}
			})
		})
	}
}

// TestAServerThatKeepsForeignSetsIsToldNothingUnrecorded although another one has the content already: nothing but the
// ledger says after a crash which sets of the server are ours.
func TestAServerThatKeepsForeignSetsIsToldNothingUnrecorded(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.server("two", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.place("two", keeping)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.zone("org", "example.org.", "one", "two")
		stored, _ := s.store.Load(zoneID("org"))
		key := rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}
		if _, recorded := stored.Written().Get(key); !recorded ||
			s.has("two", "example.org.", "www.example.org.") != "192.0.2.1" {
			t.Errorf("the ledger has %v, the server %q", stored.Written(), s.has("two", "example.org.", "www.example.org."))
		}
	})
}

// TestWhatWasOursBeforeIsForeignAtAServerThatComesLater whether the same run has published it or an earlier one.
func TestWhatWasOursBeforeIsForeignAtAServerThatComesLater(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("the operator begins again: %t", again), func(t *testing.T) {
			play(t, func(s *stage) {
				s.server("one", "example.org.", backendtest.Profile{})
				objects := func() {
					s.place("one", keeping)
					s.zone("org", "example.org.", "one")
					s.record("www", "www.example.org.", "192.0.2.1")
				}
				if objects(); again {
					s.restart(objects)
				}
				s.core.DeleteClaim(recordID("www"))
				s.settle()
				if was := s.has("one", "example.org.", "www.example.org."); was != "" {
					t.Fatalf("the server still has %s", was)
				}
				foreign := rr.NewSet(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}, 60, "192.0.2.9")
				s.server("two", "example.org.", backendtest.Profile{}).Foreign(parse(t, "example.org."), []rr.Set{foreign}, nil)
				s.place("two", keeping)
				s.zone("org", "example.org.", "one", "two")
				s.servedIs("org", "True Served: Served by one, two.")
				if has := s.has("two", "example.org.", "www.example.org."); has != "192.0.2.9" {
					t.Errorf("the foreign set is %q there", has)
				}
			})
		})
	}
}
