package delivery

import (
	"log/slog"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhatAnOldLeaderHasPublishedLateIsWithdrawn(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*stage)
	}{
		{"from a Zone that is served", func(*stage) {}},
		{"from a Zone that is being withdrawn", func(s *stage) {
			s.servers["one"].SetDown(true)
			s.remove("org")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				m := s.server("one", "example.org.", backendtest.Profile{})
				s.place("one", keeping)
				s.zone("org", "example.org.", "one")
				s.record("www", "www.example.org.", "192.0.2.1")
				set := func(name string) rr.Set {
					return rr.NewSet(rr.Key{Name: parse(t, name), Type: rr.TypeA}, 60, "192.0.2.9")
				}
				late, foreign := set("late.example.org."), set("foreign.example.org.")
				m.Foreign(parse(t, "example.org."), []rr.Set{late, foreign}, nil)
				c.before(s)

				written := rr.Sets{}.Txn()
				written.Put(late)
				s.d.Learn(zoneID("org"), written.Sets())
				m.SetDown(false)
				<-time.After(time.Hour) // in the bubble: until the server is tried again
				s.settle()
				if got := s.has("one", "example.org.", "late.example.org."); got != "" {
					t.Errorf("what the old leader has published is %q", got)
				}
				if got := s.has("one", "example.org.", "foreign.example.org."); got != "192.0.2.9" {
					t.Errorf("what nobody of us has written is %q", got)
				}
			})
		})
	}
}

func TestNothingIsForgottenOfAZoneBeforeItHasBeenLookedAt(t *testing.T) {
	d := New(Config{
		Store: &store{zones: map[zone.ID]Stored{}}, Clock: backend.SystemClock{}.Now, Log: slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(),
		Changed: func(zone.ID) {}, Settled: func([]zone.ID) {}, Refresh: func(zone.ID) {},
		RefreshSets: func(zone.ID, []rr.Key) {},
	})
	id := zoneID("org")
	check := func(when string) {
		t.Helper()
		if !d.ZoneOutcome(id).Leaving {
			t.Errorf("%s, its content may be cleared from the status although it is still published", when)
		}
	}
	check("before the World has settled")
	w := zone.New(zone.Options{})
	w.PutZone(zone.Zone{ID: id, Created: born, Where: zone.Where{Name: parse(t, "example.org.")}, TTL: 60})
	d.Settle(core.Settlement{Delta: w.Settle(), View: w})
	check("before what is stored has been read")
}

// TestWhatIsHeardLateSaysNothingOfWhatWasLearntMeanwhile has a report on its way while more is learnt.
func TestWhatIsHeardLateSaysNothingOfWhatWasLearntMeanwhile(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", keeping)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		m.SetDown(true)
		st, unlock := s.d.state.Lock()
		var last engine.Report
		for _, a := range st.zones[zoneID("org")].current().at {
			last = *a.report
		}
		e := st.engine
		unlock()
		s.d.Learn(zoneID("org"), rr.Sets{})
		e.report(last)
		if s.d.ZoneOutcome(zoneID("org")).Confirmed {
			t.Error("the server has not been read since, and the ledger is not needed")
		}
	})
}

func TestTheLedgerIsNeededUntilEveryServerIsReadOrHasLostTheZone(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stage)
	}{
		{"more is learnt of what servers may have", func(s *stage) { s.d.Learn(zoneID("org"), rr.Sets{}) }},
		{"the Zone leaves a server", func(s *stage) { s.zone("org", "example.org.", "one") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				for _, name := range []string{"one", "two"} {
					s.server(name, "example.org.", backendtest.Profile{})
					s.place(name, keeping)
				}
				s.zone("org", "example.org.", "one", "two")
				s.record("www", "www.example.org.", "192.0.2.1")
				if !s.d.ZoneOutcome(zoneID("org")).Confirmed {
					t.Error("both servers have the zone, and the ledger is needed")
				}
				s.servers["two"].SetDown(true)
				c.change(s)
				s.settle()
				if s.d.ZoneOutcome(zoneID("org")).Confirmed {
					t.Error("nobody knows what a server has, and the ledger is not needed")
				}
				s.servers["two"].SetDown(false)
				<-time.After(time.Hour) // in the bubble: until the server is tried again
				s.settle()
				if !s.d.ZoneOutcome(zoneID("org")).Confirmed {
					t.Error("all is said, and the ledger is needed")
				}
			})
		})
	}
}
