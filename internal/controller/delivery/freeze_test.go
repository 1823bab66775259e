package delivery

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/zone"
)

// frozenAs has a store of tests give back a content as what is published.
func (s *stage) frozenAs(name string, content zone.Snapshot, known bool) {
	s.store.change(zoneID(name), func(stored *Stored) {
		stored.Published = func() (zone.Snapshot, bool) { return content, known }
	})
}

func (s *stage) wwwIs(want string) {
	s.t.Helper()
	s.settle()
	if got := s.has("one", "example.org.", "www.example.org."); got != want {
		s.t.Errorf("the server has %q, want %q", got, want)
	}
}

// oneZone begins with a Zone that a server has.
func (s *stage) oneZone() {
	s.server("one", "example.org.", backendtest.Profile{})
	s.place("one", func(p *Place) { p.Default = true })
	s.zone("org", "example.org.")
	s.record("www", "www.example.org.", "192.0.2.1")
	s.wwwIs("192.0.2.1")
}

func (s *stage) freeze(reason string) {
	s.d.Freeze(zoneID("org"), &Freeze{Reason: reason})
	s.settle()
}

func (s *stage) thaw() {
	s.d.Freeze(zoneID("org"), nil)
	s.settle()
}

func TestAFrozenZoneStaysAsItIsUntilItIsThawed(t *testing.T) {
	play(t, func(s *stage) {
		s.oneZone()
		s.freeze("moving")
		s.servedIs("org", "True Served: Served by one.")
		s.record("other", "other.example.org.", "192.0.2.7")
		s.record("www", "www.example.org.", "192.0.2.2")
		s.wwwIs("192.0.2.1")
		s.servedIs("org", "False Frozen: moving. What is published stays as it is, and 2 sets wait: other.example.org. A, "+
			"www.example.org. A; zonefold thaw a/org lets the Zone follow its objects again.")
		s.reachedIs("www",
			"False Frozen: Zone a/org is frozen: www.example.org. A is served unchanged until someone thaws the Zone.")
		s.record("www", "www.example.org.", "192.0.2.1") // as it was: it does not wait any more
		s.reachedIs("www", "True Served: Served by one.")
		s.record("www", "www.example.org.", "192.0.2.3")
		s.told()
		s.thaw()
		s.wwwIs("192.0.2.3")
		s.servedIs("org", "True Served: Served by one.")
		s.reachedIs("www", "True Served: Served by one.")
		s.toldOf("www", "org")
		s.toldOf("other", "org")
	})
}

func TestAServerThatWasEditedGetsWhatIsFrozen(t *testing.T) {
	play(t, func(s *stage) {
		s.oneZone()
		s.freeze("")
		s.record("www", "www.example.org.", "192.0.2.2")
		s.record("other", "other.example.org.", "192.0.2.7")
		s.d.Servers().Audit(zoneID("org"))
		s.wwwIs("192.0.2.1")
	})
}

// TestAFrozenZoneAfterARestart has the operator find what was published in the store, or not.
func TestAFrozenZoneAfterARestart(t *testing.T) {
	for _, c := range []struct {
		name   string
		known  bool
		served string
	}{
		{"what was published is known", true, "False Frozen: What is published stays as it is, and 1 set waits: " +
			"www.example.org. A; zonefold thaw a/org lets the Zone follow its objects again."},
		{"what was published is not known", false, "False Frozen: example.org. was frozen before it was published, or its " +
			"published content is no longer known; Backend one gets nothing until it is thawed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				s.oneZone()
				published := s.d.ZoneOutcome(zoneID("org"))
				s.frozenAs("org", published.Snapshot, c.known)
				s.store.change(zoneID("org"), func(stored *Stored) {
					stored.Name, stored.Serial, stored.Content = published.Snapshot.Name, published.Label.Serial, published.Label.ID
				})
				gate := make(chan struct{})
				s.gate = gate
				s.restart(func() { s.place("one", func(p *Place) { p.Default = true }) })
				s.freeze("")
				s.zone("org", "example.org.")
				s.record("www", "www.example.org.", "192.0.2.2")
				close(gate)
				s.wwwIs("192.0.2.1")
				s.servedIs("org", c.served)
				now := s.d.ZoneOutcome(zoneID("org")).Label
				if c.known && (now.Serial != published.Label.Serial || now.ID != published.Label.ID) {
					t.Errorf("what was published is %+v now, and was %+v", now, published.Label)
				}
				s.thaw()
				s.wwwIs("192.0.2.2")
			})
		})
	}
}

// TestWhoFreezesAZoneKeepsNoNameThatIsNotItsOwn takes the Zone away, or its name, while it is frozen.
func TestWhoFreezesAZoneKeepsNoNameThatIsNotItsOwn(t *testing.T) {
	play(t, func(s *stage) {
		s.oneZone()
		s.freeze("")
		renamed := zone.Where{Name: parse(t, "example.net.")}
		s.core.PutZone(zone.Zone{ID: zoneID("org"), Created: born, Where: renamed, TTL: 60},
			core.Version{UID: "1", Generation: 2})
		s.wwwIs("")
		s.remove("org")
		if !s.gone("org") {
			t.Error("the Zone is deleted, frozen as it is, and stays")
		}
	})
}
