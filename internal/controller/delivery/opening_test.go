package delivery

import (
	"errors"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
)

// opens looks whether what waits for everything has been called.
func (s *stage) opens(want bool, when string) {
	s.t.Helper()
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != want {
		s.t.Errorf("%s: opened is %t", when, s.opened)
	}
}

// troubled has the store refuse ceilings.
func (s *store) troubled(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = err
}

func TestAServerOfThisProcessOpensWhenItHasEverything(t *testing.T) {
	forgets := backendtest.Profile{Limits: backend.Limits{Creates: true, Confirms: true, Volatile: true}}
	start := func(s *stage) {
		s.end()
		s.gate, s.opened = make(chan struct{}), false
		s.begin()
		s.server("one", "example.org.", forgets)
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.opens(false, "before the objects are known")
		close(s.gate)
	}
	play(t, func(s *stage) {
		start(s)
		s.opens(true, "when the zone is delivered")
	})
	play(t, func(s *stage) {
		hold := s.store.stop("hold")
		start(s)
		s.settle()
		s.place("one", nil) // somebody looks at every Backend again
		again := s.store.stop("load")
		hold()
		s.opens(false, "when the zone is written down and not delivered")
		again()
		s.opens(true, "when the zone is delivered after all")
	})
	play(t, func(s *stage) {
		s.store.troubled(errors.New("no connection"))
		start(s)
		<-time.After(10 * time.Second)
		s.opens(false, "while no ceiling can be stored")
		s.store.troubled(nil)
		<-time.After(10 * time.Second)
		s.opens(true, "when it can be again")
	})
	play(t, func(s *stage) {
		s.store.troubled(errors.New("the object is not valid"))
		start(s)
		<-time.After(openingPatience - time.Second)
		s.opens(false, "while it is waited for")
		<-time.After(2 * time.Second)
		s.opens(true, "when one zone has failed for long")
	})
}

func TestWhatABackendThatCannotBeUsedHasIsNotTakenAway(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.restart(func() { s.place("one", unusable) })
		s.zone("org", "example.org.", "one")
		if all := s.d.Everything(); !all[Delivered{"one", parse(t, "example.org.")}] {
			t.Errorf("what is delivered is %v", all)
		}
	})
}
