package delivery

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestAServerIsNotEmptiedBetweenTwoZonesOfOneName(t *testing.T) {
	play(t, func(s *stage) {
		emptied := 0
		s.server("one", "example.org.", backendtest.Profile{Seen: func(m backendtest.Message) {
			if m.Before.Len() > 0 && m.After.Len() == 0 {
				emptied++
			}
		}})
		s.place("one", nil)
		s.zone("first", "example.org.", "one")
		s.zone("second", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servedIs("first", "True Served: Served by one.")
		s.remove("first")
		s.servedIs("second", "True Served: Served by one.")
		s.hasIs("192.0.2.1")
		if emptied > 0 {
			t.Errorf("the server had nothing %d times", emptied)
		}
		if !s.gone("first") {
			t.Error("the first Zone is still held")
		}
	})
}

// TestWhoComesIntoThePlaceOfAnotherHasItsSetsInItsOwnLedger before the other goes, whose ledger goes with it: after a
// crash, nothing else says which sets of the server are ours.
func TestWhoComesIntoThePlaceOfAnotherHasItsSetsInItsOwnLedger(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", keeping)
		s.zone("first", "example.org.", "one")
		s.zone("second", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.remove("first")
		if !s.gone("first") {
			t.Fatal("the first Zone is still held")
		}
		stored, _ := s.store.Load(zoneID("second"))
		if _, recorded := stored.Written().Get(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}); !recorded {
			t.Errorf("the ledger of the second Zone has %v", stored.Written())
		}
		s.restart(func() { s.place("one", keeping) })
		s.zone("second", "example.org.", "one") // its Record was deleted meanwhile
		if was := s.has("one", "example.org.", "www.example.org."); was != "" {
			t.Errorf("%s stays although nobody wants it", was)
		}
	})
}

func TestABackendHearsOfAZoneThatIsGoneAlthoughItWasNotWithdrawn(t *testing.T) {
	play(t, func(s *stage) {
		told := 0
		s.d.Places().OnNews(func(string) { told++ })
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		told = 0
		s.store.mu.Lock()
		delete(s.store.zones, zoneID("org"))
		s.store.mu.Unlock()
		s.core.DeleteZone(zoneID("org"))
		s.d.Sync(zoneID("org"))
		s.settle()
		if zones, _ := s.d.Places().Outcome("one"); zones != 0 || told == 0 {
			t.Errorf("the Backend has %d Zones, and is told %d times", zones, told)
		}
	})
}

// TestTwoZonesThatSwapTheirNames do not wait for each other.
func TestTwoZonesThatSwapTheirNames(t *testing.T) {
	play(t, func(s *stage) {
		net := parse(t, "example.net.")
		s.server("one", "example.org.", backendtest.Profile{}).AddZone(net, rr.SOA{TTL: 60, MName: net, RName: net, Serial: 7,
			Refresh: 1, Retry: 1, Expire: 1})
		s.place("one", nil)
		s.zone("first", "example.org.", "one")
		s.zone("second", "example.net.", "one")
		s.servedIs("first", "True Served: Served by one.")
		s.servedIs("second", "True Served: Served by one.")
		for name, fqdn := range map[string]string{"first": "example.net.", "second": "example.org."} {
			s.core.PutZone(zone.Zone{ID: zoneID(name), Created: born, Where: zone.Where{Name: parse(t, fqdn)}, TTL: 60},
				core.Version{UID: "1", Generation: 2})
		}
		s.settle()
		s.d.Sync(zoneID("first"))
		s.d.Sync(zoneID("second"))
		s.settle()
		s.servedIs("first", "True Served: Served by one.")
		s.servedIs("second", "True Served: Served by one.")
	})
}
