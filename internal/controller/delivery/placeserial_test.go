package delivery

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
)

// TestAServerWithSerialsOfItsOwnIsToldOfWithTheZones has a change wait at a server that counts for itself: the serial
// that is shown of the Backend is the Zone's, and that of the content that the server has.
func TestAServerWithSerialsOfItsOwnIsToldOfWithTheZones(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{Limits: backend.Limits{SOA: backend.SOAServer}})
		s.place("one", func(p *Place) { p.Default = true })
		s.zone("org", "example.org.")
		s.record("www", "www.example.org.", "192.0.2.1")
		id := zoneID("org")
		shown := func(when string, want uint32) {
			t.Helper()
			s.settle()
			if out := s.d.ZoneOutcome(id); len(out.Places) != 1 || out.Places[0].Serial != want {
				t.Errorf("%s: the Backend has %+v, want serial %d", when, out.Places, want)
			}
		}
		mint := func() uint32 {
			t.Helper()
			s.settle()
			if err := s.d.Mint(s.t.Context(), id); err != nil {
				t.Fatal(err)
			}
			return s.d.ZoneOutcome(id).Label.Serial
		}
		first := mint()
		shown("at first", first)
		m.SetDown(true)
		s.record("www", "www.example.org.", "192.0.2.2")
		second := mint()
		if first == second {
			t.Fatalf("both contents have serial %d", first)
		}
		shown("while it does not have the change", first)
		m.SetDown(false)
		<-time.After(time.Hour)
		shown("when it has", second)
	})
}
