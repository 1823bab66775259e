package delivery

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/controller"
)

// denied gives a Place a client whose credentials its server does not take.
func (s *stage) denied(p *Place) {
	p.Servers = []Server{{Name: p.Name, Backend: s.servers[p.Name].Client(false)}}
}

// eachWithdrawal delivers a Zone to a Backend, changes the Backend so that it cannot be used, and has the Zone leave
// it. The Zone has to be withdrawn when the Backend is as before.
func eachWithdrawal(t *testing.T, change func(*stage, *Place), meanwhile func(*testing.T, *stage)) {
	t.Helper()
	for _, c := range []struct {
		name  string
		leave func(*stage)
	}{
		{"of a Zone that is deleted", func(s *stage) { s.remove("org") }},
		{"of a Zone that names another Backend", func(s *stage) { s.zone("org", "example.org.", "two") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				s.server("one", "example.org.", backendtest.Profile{})
				s.server("two", "example.org.", backendtest.Profile{})
				s.place("one", nil)
				s.place("two", nil)
				s.zone("org", "example.org.", "one")
				s.record("www", "www.example.org.", "192.0.2.1")
				s.place("one", func(p *Place) { change(s, p) })
				c.leave(s)
				meanwhile(t, s)
				s.place("one", nil)
				if got := s.has("one", "example.org.", "www.example.org."); got != "" {
					t.Errorf("%s is still there", got)
				}
			})
		})
	}
}

func TestAWithdrawalGetsTheCredentialsThatItsBackendHasNow(t *testing.T) {
	eachWithdrawal(t, (*stage).denied, func(t *testing.T, s *stage) {
		if s.has("one", "example.org.", "www.example.org.") == "" {
			t.Fatal("it was withdrawn with credentials that the server does not take")
		}
	})
}

func TestAWithdrawalGoesToTheServersThatItsBackendNamesNow(t *testing.T) {
	mistyped := func(s *stage, p *Place) {
		p.Servers = []Server{{Name: "mistyped", Backend: s.servers["one"].Client(false)}}
	}
	eachWithdrawal(t, mistyped, func(t *testing.T, s *stage) {
		if s.gone("org") {
			t.Fatal("the object is gone although its record is still published")
		}
	})
}

// TestAWithdrawalEndsWhereNothingIsWrittenAnyMore has a Backend only observe from which a Zone is being withdrawn.
func TestAWithdrawalEndsWhereNothingIsWrittenAnyMore(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.place("one", s.denied)
		s.remove("org")
		if s.gone("org") {
			t.Fatal("the object is gone although its record is still published")
		}
		s.place("one", func(p *Place) { p.Observe = true })
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" || !s.gone("org") {
			t.Errorf("the server has %q, and the object is gone: %t", got, s.gone("org"))
		}
	})
}

const secretGone = "Backend one cannot be used: Secret x/key cannot be read."

func TestNothingIsSentWithCredentialsThatAreGone(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.place("one", unusable)
		s.servedIs("org", "True Served: Served by one.") // what is served stays served
		s.reachedIs("www", "True Served: Served by one.")

		s.told()
		s.record("www", "www.example.org.", "192.0.2.2")
		s.toldOf("www", "org")
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Errorf("the server has been sent %q", got)
		}
		s.servedIs("org", "False BackendNotReady: "+secretGone)
		s.reachedIs("www", "False BackendNotReady: "+secretGone)
		s.holds("org", "one")

		s.remove("org")
		s.servedIs("org",
			"False Withdrawing: example.org. cannot be withdrawn from Backend one: Secret x/key cannot be read.")
		if s.gone("org") {
			t.Error("the object is gone although its record is still published")
		}
		s.place("one", nil)
		if got := s.has("one", "example.org.", "www.example.org."); got != "" || !s.gone("org") {
			t.Errorf("%q is left when the credentials are back", got)
		}
	})
}

func TestWhatIsToldFollowsASecretThatGoesAndComes(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", s.denied)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		const wrong = "False NotAuthorised: Backend one (one) does not serve example.org.: BADKEY."
		step := func(want string, change func(*Place)) {
			t.Helper()
			s.told()
			s.place("one", change)
			s.servedIs("org", want)
			s.reachedIs("www", want)
			s.toldOf("www", "org")
		}
		s.reachedIs("www", wrong)
		step("False BackendNotReady: "+secretGone, unusable)
		step(wrong, s.denied)
		step("False BackendNotReady: "+secretGone, unusable)
		<-time.After(time.Hour) // in the bubble: while the server is tried again
		step("True Served: Served by one.", nil)
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Errorf("it serves %q", got)
		}
	})
}

// TestFormerCredentialsAreNotUsedWhenThoseOfNowAreRefused has a service refuse the only credentials that there are now.
func TestFormerCredentialsAreNotUsedWhenThoseOfNowAreRefused(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.place("one", func(p *Place) {
			o := controller.Not(controller.ReasonNotAuthorised, "The zones cannot be listed: BADKEY.")
			p.Servers, p.Problem = nil, &o
		})
		s.record("www", "www.example.org.", "192.0.2.2")
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
			t.Errorf("the server has been sent %q", got)
		}
		s.servedIs("org", "False BackendNotReady: Backend one cannot be used: The zones cannot be listed: BADKEY.")
		s.place("one", nil)
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.2" {
			t.Errorf("it serves %q with credentials that work", got)
		}
	})
}

// unlisted makes a Place one whose servers are not known now.
func unlisted(p *Place) {
	o := controller.Not(controller.ReasonUnavailable, "The zones cannot be listed.")
	p.Servers, p.Problem = nil, &o
}

func TestWhatCannotBeListedNowGoesOn(t *testing.T) {
	for _, reason := range []string{
		controller.ReasonPending, controller.ReasonUnavailable, controller.ReasonBackendNotReady,
	} {
		play(t, func(s *stage) {
			s.server("one", "example.org.", backendtest.Profile{})
			s.place("one", nil)
			s.zone("org", "example.org.", "one")
			s.place("one", func(p *Place) {
				o := controller.Not(reason, "It is not known yet.")
				p.Servers, p.Problem = nil, &o
			})
			s.record("www", "www.example.org.", "192.0.2.1")
			if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
				t.Errorf("%s: it serves %q", reason, got)
			}
		})
	}
}

// TestAKeyOfOthersStopsNothing has the operator's own name server get what is new although who copies from it cannot be
// let.
func TestAKeyOfOthersStopsNothing(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		embedded := func(p *Place) { p.Kind = KindEmbedded }
		s.place("one", embedded)
		s.zone("org", "example.org.", "one")
		s.record("www", "www.example.org.", "192.0.2.1")
		s.place("one", func(p *Place) { embedded(p); unusable(p) })
		s.record("www", "www.example.org.", "192.0.2.2")
		if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.2" {
			t.Errorf("the server has %q", got)
		}
		s.server("two", "example.org.", backendtest.Profile{})
		s.restart(func() {
			s.place("one", func(p *Place) {
				o := controller.Not(controller.ReasonSecretNotFound, "Secret x/key cannot be read.")
				p.Kind, p.Problem = KindEmbedded, &o
			})
			s.place("two", nil)
		})
		s.zone("org", "example.org.", "two") // it has moved meanwhile
		if got := s.has("one", "example.org.", "www.example.org."); got != "" {
			t.Errorf("the server still has %q, which an earlier run has left", got)
		}
		s.holds("org", "two")
	})
}
