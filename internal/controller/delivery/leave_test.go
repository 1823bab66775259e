package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhenADeletedZoneGoes(t *testing.T) {
	type at = map[obstacle]time.Duration
	const hour = time.Hour
	for _, c := range []struct {
		name   string
		asked  bool
		waited time.Duration
		at     at
		goes   bool
		again  time.Duration
	}{
		{"servers that cannot be reached are waited for", false, hour / 4, at{unreachable: hour}, false, hour * 3 / 4},
		{"until the time is over", false, hour, at{unreachable: hour}, true, 0},
		{"until the longest time is over", false, hour, at{unreachable: 2 * hour}, false, hour},
		{"one that is under way is waited for as long as it takes", false, 9 * hour, at{underWay: hour}, false, 0},
		{"also beside one that cannot be reached", false, 9 * hour, at{underWay: hour, unreachable: hour}, false, 0},
		{"and is asked again when the time is over", false, 0, at{underWay: hour}, false, hour},
		{"what the brake holds is not let go by time", false, 9 * hour, at{byTheBrake: hour}, false, 0},
		{"also beside one that cannot be reached", false, 9 * hour, at{byTheBrake: hour, unreachable: hour}, false, 0},
		{"somebody who asks does not wait", true, 0, at{unreachable: hour}, true, 0},
		{"whatever is in the way", true, 0, at{byTheBrake: hour, underWay: hour}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if goes, again := leaves(c.asked, c.waited, c.at); goes != c.goes || again != c.again {
				t.Errorf("it goes: %t, or is asked again after %s; want %t, %s", goes, again, c.goes, c.again)
			}
		})
	}
}

// lefts keeps in memory what a Backend's status lists.
type lefts struct {
	mu       sync.Mutex
	d        *Deliveries
	list     map[zone.ID]*Left
	approved []string
	full     string // the Place that nothing is stored for
}

func (s *lefts) All() (ids []zone.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.list {
		ids = append(ids, id)
	}
	return ids
}

func (s *lefts) Load(id zone.ID) (*Left, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[id], s.approved
}

func (s *lefts) Leave(_ context.Context, l *Left) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Place == s.full {
		return errors.New("it cannot be stored")
	}
	s.list[l.ID()] = l
	return nil
}

func (s *lefts) Remove(_ context.Context, id zone.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, id)
	s.d.Sync(id)
	return nil
}

func (s *lefts) Raise(_ context.Context, id zone.ID, ceiling uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := *s.list[id]
	l.Ceiling = ceiling
	s.list[id] = &l
	return nil
}

// leaving is a stage with a Zone at a server that keeps foreign sets, which is deleted while the server is down.
func leaving(t *testing.T, f func(s *stage, l *lefts, remove func(change func(*Stored)))) {
	t.Helper()
	play(t, func(s *stage) {
		l := &lefts{list: map[zone.ID]*Left{}}
		s.keepLeft(l)
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", patient)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.record("ftp", "ftp.example.org.", "192.0.2.2")
		f(s, l, func(change func(*Stored)) {
			s.store.change(zoneID("org"), func(stored *Stored) {
				stored.Deleted = time.Now()
				if change != nil {
					change(stored)
				}
			})
			s.remove("org")
		})
	})
}

func patient(p *Place) { p.Keep, p.LeaveAfter = true, time.Hour }

// keepLeft gives the Deliveries a store for what is left behind.
func (s *stage) keepLeft(l *lefts) {
	l.d = s.d
	s.d.Places().KeepLeft(l)
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestWhoWantsWhatWasLeftBehindHasItInItsOwnLedger before it is forgotten there: the server is down until then, so
// that nothing but what was left behind says whose the sets are.
func TestWhoWantsWhatWasLeftBehindHasItInItsOwnLedger(t *testing.T) {
	leaving(t, func(s *stage, l *lefts, remove func(func(*Stored))) {
		s.servers["one"].SetDown(true)
		remove(func(stored *Stored) { stored.Leave = true })
		if !s.gone("org") || len(l.All()) != 1 {
			t.Fatalf("%d Zones are left behind", len(l.All()))
		}
		s.zone("heir", "example.org.", "one")
		s.servers["one"].SetDown(false)
		pass(time.Hour)
		if len(l.All()) > 0 || s.has("one", "example.org.", "www.example.org.") != "192.0.2.1" {
			t.Fatalf("%d Zones are left behind, and the server has www %q", len(l.All()),
				s.has("one", "example.org.", "www.example.org."))
		}
		stored, _ := s.store.Load(zoneID("heir"))
		if _, recorded := stored.Written().Get(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}); !recorded {
			t.Error("nothing says that www is the heir's")
		}
	})
}

func TestAZoneLeavesBehindWhatItsServersHold(t *testing.T) {
	leaving(t, func(s *stage, l *lefts, remove func(func(*Stored))) {
		m := s.servers["one"]
		m.SetDown(true)
		remove(nil)
		pass(59 * time.Minute)
		if s.gone("org") || len(l.All()) > 0 {
			t.Fatal("it has not waited")
		}
		pass(2 * time.Minute)
		if !s.gone("org") || len(l.All()) != 1 {
			t.Fatalf("after an hour it is not gone, or not listed: %v", l.All())
		}
		left, _ := l.Load(l.All()[0])
		if left.Sets.Len() != 2 || left.Whole {
			t.Errorf("it has left %d sets behind", left.Sets.Len())
		}
		// somebody else takes one of the names, and makes another
		other := rr.NewSet(rr.Key{Name: parse(t, "ftp.example.org."), Type: rr.TypeA}, 60, "203.0.113.9")
		third := rr.NewSet(rr.Key{Name: parse(t, "third.example.org."), Type: rr.TypeA}, 60, "203.0.113.9")
		m.Foreign(parse(t, "example.org."), []rr.Set{other, third}, nil)
		m.SetDown(false)
		pass(10 * time.Minute)
		if got := s.has("one", "example.org.", "www.example.org."); got != "" {
			t.Errorf("www is still %s", got)
		}
		for _, name := range []string{"ftp.example.org.", "third.example.org."} {
			if got := s.has("one", "example.org.", name); got != "203.0.113.9" {
				t.Errorf("%s, which is somebody else's, is %q", name, got)
			}
		}
		if len(l.All()) != 0 {
			t.Error("it is still listed")
		}
	})
}

// TestWhatIsLeftBehindAtOneOfTwoGoes although nothing could be stored for the other one before the Zone was withdrawn.
func TestWhatIsLeftBehindAtOneOfTwoGoes(t *testing.T) {
	play(t, func(s *stage) {
		l := &lefts{list: map[zone.ID]*Left{}, full: "two"}
		s.keepLeft(l)
		for _, name := range []string{"one", "two"} {
			s.server(name, "example.org.", backendtest.Profile{})
			s.place(name, patient)
		}
		s.zone("org", "example.org.", "one", "two")
		s.record("www", "www.example.org.", "192.0.2.1")
		for _, m := range s.servers {
			m.SetDown(true)
		}
		s.store.change(zoneID("org"), func(stored *Stored) { stored.Deleted, stored.Leave = time.Now(), true })
		s.remove("org")
		if s.gone("org") || len(l.All()) != 1 {
			t.Fatalf("it is gone, or is listed %d times", len(l.All()))
		}
		for _, name := range []string{"one", "two"} {
			s.servers[name].SetDown(false)
			pass(time.Hour)
		}
		if !s.gone("org") || len(l.All()) > 0 {
			t.Errorf("it is not gone, or is listed still: %v", l.All())
		}
	})
}

func TestWhoLeadsNextRemovesWhatWasLeftBehind(t *testing.T) {
	leaving(t, func(s *stage, l *lefts, remove func(func(*Stored))) {
		s.servers["one"].SetDown(true)
		remove(func(stored *Stored) { stored.Leave = true })
		if !s.gone("org") || len(l.All()) != 1 {
			t.Fatal("it did not go at once")
		}
		s.gate = make(chan struct{})
		s.restart(func() {
			s.keepLeft(l)
			s.place("one", patient)
			close(s.gate)
		})
		s.settle()
		s.servers["one"].SetDown(false)
		pass(10 * time.Minute)
		if got := s.has("one", "example.org.", "www.example.org."); got != "" || len(l.All()) != 0 {
			t.Errorf("www is still %q, and %v listed", got, l.All())
		}
	})
}

func TestAZoneOfTheNameTakesOverWhatWasLeftBehind(t *testing.T) {
	leaving(t, func(s *stage, l *lefts, remove func(func(*Stored))) {
		m := s.servers["one"]
		m.SetDown(true)
		remove(func(stored *Stored) { stored.Leave = true })
		s.known["again"] = false
		s.zone("again", "example.org.", "one")
		s.core.DeleteClaim(recordID("ftp"))
		s.settle()
		m.SetDown(false)
		var seen []string
		for range 600 {
			pass(time.Second)
			if now := s.has("one", "example.org.", "www.example.org."); !slices.Contains(seen, now) {
				seen = append(seen, now)
			}
		}
		if !slices.Equal(seen, []string{"192.0.2.1"}) {
			t.Errorf("www, which both have, was %q", seen)
		}
		if got := s.has("one", "example.org.", "ftp.example.org."); got != "" || len(l.All()) != 0 {
			t.Errorf("ftp, which only the first had, is %q, and %v listed", got, l.All())
		}
		s.servedIs("again", "True Served: Served by one.")
	})
}

func TestWhatTheBrakeHoldsStaysHeldWhenItsZoneGoes(t *testing.T) {
	leaving(t, func(s *stage, l *lefts, remove func(func(*Stored))) {
		braked := func(p *Place) {
			patient(p)
			p.Protection = plan.Protection{Limited: true, MaxDeletedPercent: 20, MinDeleted: 1}
		}
		s.place("one", braked)
		remove(func(stored *Stored) { stored.UID = "first" })
		pass(5 * time.Hour)
		if s.gone("org") || len(l.All()) > 0 {
			t.Fatal("what is held went by time")
		}
		s.store.change(zoneID("org"), func(stored *Stored) { stored.Leave = true })
		s.d.Sync(zoneID("org"))
		s.settle()
		if !s.gone("org") || len(l.All()) != 1 {
			t.Fatal("it did not go at once when it was asked to")
		}
		pass(5 * time.Hour)
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Fatalf("www, whose deletion nobody has approved, is %q", got)
		}
		held := s.d.Places().LeftOutcome(l.All()[0])
		if held == nil || held.Reason != controller.ReasonTooManyDeletions || held.Plan == "" {
			t.Fatalf("the Backend says %+v", held)
		}
		l.approved = []string{held.Plan}
		s.d.Sync(l.All()[0])
		pass(time.Minute)
		if got := s.has("one", "example.org.", "www.example.org."); got != "" || len(l.All()) != 0 {
			t.Errorf("www is %q after the approval, and %v listed", got, l.All())
		}

		// nobody takes the approval off the Backend
		s.zone("again", "example.org.", "one")
		pass(time.Minute)
		s.store.change(zoneID("again"), func(stored *Stored) { stored.UID, stored.Leave = "second", true })
		s.remove("again")
		pass(5 * time.Hour)
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" || len(l.All()) != 1 {
			t.Fatalf("www of another Zone is %q by the same approval, and %v listed", got, l.All())
		}
		again := s.d.Places().LeftOutcome(l.All()[0])
		if again == nil || again.Plan == "" || again.Plan == held.Plan || !strings.Contains(again.Message, again.Plan) {
			t.Errorf("the Backend says %+v", again)
		}
	})
}

func TestAZoneThatIsOneOfItsOwnGoesAsAWhole(t *testing.T) {
	play(t, func(s *stage) {
		l := &lefts{list: map[zone.ID]*Left{}}
		s.keepLeft(l)
		m := s.server("one", "other.org.", backendtest.Profile{Limits: backend.Limits{Creates: true, Removes: true}})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		m.SetDown(true)
		s.store.change(zoneID("org"), func(stored *Stored) { stored.Leave = true })
		s.remove("org")
		m.SetDown(false)
		pass(10 * time.Minute)
		if zones := m.Zones(); len(zones) != 1 || len(l.All()) != 0 {
			t.Errorf("the server has %v, and %v listed", zones, l.All())
		}
	})
}
