package delivery

import (
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestAnAuditFindsWhatSomebodyElseHasWritten(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		set := rr.NewSet(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}, 60, "192.0.2.9")
		m.Foreign(parse(t, "example.org."), []rr.Set{set}, nil)
		s.settle()
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.9" {
			t.Fatalf("somebody else's data is %q before anybody looks", got)
		}
		s.d.Servers().Audit(zoneID("org"))
		s.d.Servers().Audit(zoneID("unknown"))
		s.settle()
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Errorf("after an audit it is %q", got)
		}
		if got := fmt.Sprint(s.drifts); got != "[{Zone a/org one [www.example.org. A]}]" {
			t.Errorf("told of %s", got)
		}
	})
}
