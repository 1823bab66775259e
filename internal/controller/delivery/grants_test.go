package delivery

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
)

// What grants allow is known when the World has settled, a moment after the Backend has them.
func TestABackendThatGetsGrantsGoesOnServingWhoHasOne(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servedIs("org", "True Served: Served by one.")
		soa, _, _ := m.Truth(parse(t, "example.org."))

		st, unlock := s.d.state.Lock()
		servers := st.places["one"].Servers
		unlock()
		closed := &Place{Name: "one", Created: born, Kind: "memory", Audit: -1, Servers: servers}
		granting(closed)
		s.d.Places().Put(closed)
		s.settle()
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Errorf("before it is known what the grants allow, the server has %q", got)
		}
		s.core.PutGrants("one", closed.Grants)
		s.settle()
		s.servedIs("org", "True Served: Served by one.")
		if now, _, _ := m.Truth(parse(t, "example.org.")); now != soa {
			t.Errorf("the SOA was %v and is %v", soa, now)
		}
	})
}
