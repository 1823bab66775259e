package delivery

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/rr"
)

// A fleet puts a Place whose servers come and go.
type fleet struct {
	*stage
	clients map[string]backend.Backend
}

func (s *stage) fleet(names ...string) fleet {
	f := fleet{s, map[string]backend.Backend{}}
	for _, name := range names {
		f.clients[name] = s.server(name, "example.org.", backendtest.Profile{}).Client(true)
	}
	return f
}

// are puts the servers that there are.
func (f fleet) are(staying []string, ending ...string) {
	f.place("fleet", func(p *Place) {
		p.Default, p.Passing = true, true
		for i, name := range append(staying, ending...) {
			p.Servers = append(p.Servers, Server{Name: name, Backend: f.clients[name], Ending: i >= len(staying)})
		}
	})
}

func (f fleet) wwwIs(server, want string) {
	f.t.Helper()
	if got := f.has(server, "example.org.", "www.example.org."); got != want {
		f.t.Errorf("server %s has %q, want %q", server, got, want)
	}
}

const fleetServed = "True Served: Served by fleet."

func TestAServerThatIsAboutToEndGetsWhatIsNewUntilItEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		again bool // there is a new leader meanwhile, which has not known it before
	}{{"it was known before", false}, {"the leader is new", true}} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				f := s.fleet("one", "two")
				f.are([]string{"one", "two"})
				s.zone("org", "example.org.")
				s.record("www", "www.example.org.", "192.0.2.1")
				f.are([]string{"one"}, "two")
				if c.again {
					s.restart(func() { f.are([]string{"one"}, "two") })
					s.zone("org", "example.org.")
				}
				s.record("www", "www.example.org.", "192.0.2.2")
				f.wwwIs("one", "192.0.2.2")
				f.wwwIs("two", "192.0.2.2")
				s.reachedIs("www", fleetServed)
				f.are([]string{"one"})
				s.record("www", "www.example.org.", "192.0.2.3")
				f.wwwIs("one", "192.0.2.3")
				f.wwwIs("two", "192.0.2.2")
			})
		})
	}
}

func TestNobodyWaitsForAServerThatIsAboutToEnd(t *testing.T) {
	play(t, func(s *stage) {
		f := s.fleet("one", "two")
		f.are([]string{"one", "two"})
		s.zone("org", "example.org.")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servers["two"].SetDown(true)
		s.record("www", "www.example.org.", "192.0.2.2")
		<-time.After(time.Minute)
		s.settle()
		s.reachedIs("www", "False Unavailable: Backend fleet (two) does not serve example.org.: connection refused.")
		s.told()
		f.are([]string{"one"}, "two")
		s.reachedIs("www", fleetServed)
		s.toldOf("www", "org")
		s.record("www", "www.example.org.", "192.0.2.3")
		s.reachedIs("www", fleetServed)
		s.servedIs("org", fleetServed)
		s.placesAre("org", "fleet")
	})
}

func TestAZoneIsWithdrawnWithoutAServerThatIsAboutToEnd(t *testing.T) {
	play(t, func(s *stage) {
		f := s.fleet("one", "two")
		f.are([]string{"one", "two"})
		s.zone("org", "example.org.")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servers["two"].SetDown(true)
		f.are([]string{"one"}, "two")
		s.remove("org")
		<-time.After(time.Minute)
		s.settle()
		s.holds("org")
		f.wwwIs("one", "")
	})
}

// TestRecordsHearThatAServerWithoutThemIsGone has a Record from before there is any server told that one of two cannot
// be reached. That is over when it is gone, although the other had everything before.
func TestRecordsHearThatAServerWithoutThemIsGone(t *testing.T) {
	play(t, func(s *stage) {
		f := s.fleet("one", "two")
		f.are(nil)
		s.zone("org", "example.org.")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.servers["one"].SetDown(true)
		f.are([]string{"one", "two"})
		f.wwwIs("two", "192.0.2.1")
		s.reachedIs("www", "False Unavailable: Backend fleet (one) does not serve example.org.: connection refused.")
		s.told()
		f.are([]string{"two"})
		s.toldOf("www", "org")
		s.reachedIs("www", fleetServed)
	})
}

// TestRecordsFromBeforeThereAreServersHearWhyTheyAreNotServed has the first server of a Zone refuse.
func TestRecordsFromBeforeThereAreServersHearWhyTheyAreNotServed(t *testing.T) {
	play(t, func(s *stage) {
		f := s.fleet("one")
		f.are(nil)
		s.zone("org", "example.org.")
		s.record("www", "www.example.org.", "192.0.2.1")
		heard := ""
		s.onRefresh = func() {
			v, _ := s.core.Verdict(recordID("www"))
			heard = show(s.d.Reached(v.Zone, recordID("www"), rr.Key{Name: v.Name, Type: rr.TypeA}))
		}
		s.servers["one"].SetDown(true)
		f.are([]string{"one"})
		if want := "False Unavailable: Backend fleet (one) does not serve example.org.: connection refused."; heard != want {
			t.Errorf("Record www heard %q last, want %q", heard, want)
		}
	})
}
