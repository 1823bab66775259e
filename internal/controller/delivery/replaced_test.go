package delivery

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/plan"
)

// pods puts the Place of an instance whose pods are servers of these names, each with its own zones.
func (s *stage) pods(place string, names ...string) {
	p := &Place{Name: place, Created: born, Kind: "bind9", Audit: -1, Passing: true,
		Protection: plan.Protection{Limited: true}}
	for _, name := range names {
		if s.servers[name] == nil {
			s.servers[name] = backendtest.NewMemory(backendtest.Profile{Limits: backend.Limits{
				ApexNS: backend.ApexNSRequired, Creates: true, Removes: true, Followed: true}})
		}
		p.Servers = append(p.Servers, Server{Name: name, Backend: s.servers[name].Client(true)})
	}
	if len(names) == 0 {
		o := controller.Not(controller.ReasonBackendNotReady, "No pod runs.")
		p.Problem = &o
	}
	s.d.Places().Put(p)
	s.settle()
}

// serves compares what servers have at www.example.org., "-" being no zone.
func (s *stage) serves(want string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		got := "-"
		if _, _, there := s.servers[name].Truth(parse(s.t, "example.org.")); there {
			got = s.has(name, "example.org.", "www.example.org.")
		}
		if got != want {
			s.t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

func (s *stage) approve(name string) {
	plan := s.d.ZoneOutcome(zoneID(name)).Held.Plan
	s.store.change(zoneID(name), func(stored *Stored) { stored.Approved = []string{plan} })
	s.d.Sync(zoneID(name))
	s.settle()
}

func onPods(s *stage, names ...string) {
	s.pods("one", names...)
	s.zone("org", "example.org.", "one")
	s.record("www", "www.example.org.", "192.0.2.1")
	s.serves("192.0.2.1", names...)
}

func TestWhatIsHeldComesToThePodsThatComeInThePlaceOfOthers(t *testing.T) {
	play(t, func(s *stage) {
		onPods(s, "a", "b")
		s.remove("org")
		s.serves("192.0.2.1", "a", "b")
		s.pods("one", "b")
		s.pods("one", "b", "c")
		s.serves("192.0.2.1", "b", "c")
		s.pods("one")
		if s.gone("org") {
			t.Fatal("the object is gone although all that it has was held")
		}
		s.holds("org", "one")
		s.pods("one", "d")
		s.serves("192.0.2.1", "d")
		s.restart(func() { s.pods("one", "d") })
		s.d.Sync(zoneID("org"))
		s.zone("other", "example.net.", "none") // the World begins
		s.serves("192.0.2.1", "d")
		s.pods("one", "e")
		s.serves("192.0.2.1", "e")
		s.approve("org")
		s.serves("-", "e")
		if !s.gone("org") {
			t.Error("the object stays although its deletion was approved")
		}
	})
}

func TestAZoneThatIsDeletedWhileNoPodRunsIsHeld(t *testing.T) {
	play(t, func(s *stage) {
		onPods(s, "a")
		s.pods("one")
		s.remove("org")
		if s.gone("org") {
			t.Fatal("the object is gone although nobody has seen whether it may go")
		}
		s.pods("one", "b")
		s.serves("192.0.2.1", "b")
		s.approve("org")
		s.serves("-", "b")
	})
}

func TestASignedZoneDoesNotComeBackUnsigned(t *testing.T) {
	play(t, func(s *stage) {
		onPods(s, "a")
		s.store.change(zoneID("org"), func(stored *Stored) { stored.Signed = true })
		s.remove("org")
		s.serves("192.0.2.1", "a")
		s.pods("one", "b")
		s.serves("-", "b")
	})
}

func TestWhatAPolicyKeepsWaitsForNoPod(t *testing.T) {
	play(t, func(s *stage) {
		onPods(s, "a")
		s.pods("one")
		s.d.Places().Put(&Place{Name: "one", Created: born, Passing: true, Audit: -1,
			Problem:    &controller.Outcome{Reason: controller.ReasonBackendNotReady},
			Protection: plan.Protection{Limited: true, Policy: plan.PolicyUpsertOnly}})
		s.remove("org")
		if !s.gone("org") {
			t.Error("the object waits")
		}
	})
}
