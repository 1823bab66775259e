package delivery

import (
	"slices"
	"testing"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestServedIsTrueOnlyWhenEveryBackendThatIsMeantHasConfirmed(t *testing.T) {
	nobody := func(p *Place) { p.Closed, p.Grants = true, []zone.Grant{{}} }
	for _, c := range []struct {
		name   string
		refs   []string
		places map[string]func(*Place)
		want   string
	}{{
		name: "all that are named are there", refs: []string{"one", "two"},
		places: map[string]func(*Place){"one": nil, "two": nil},
		want:   "True Served: Served by one, two.",
	}, {
		name: "one that is named does not exist", refs: []string{"one", "two"}, places: map[string]func(*Place){"one": nil},
		want: "False BackendNotFound: Backend two, which backendRefs names, does not exist; create it, or correct " +
			"backendRefs.",
	}, {
		name: "one that is named cannot be used", refs: []string{"one", "two"}, places: map[string]func(*Place){"one": nil,
			"two": unusable},
		want: "False BackendNotReady: Backend two cannot be used: Secret x/key cannot be read.",
	}, {
		name: "one that is named does not grant the zone", refs: []string{"one", "two"},
		places: map[string]func(*Place){"one": granting, "two": nobody},
		want: "False BackendNotGranted: Backend two, which backendRefs names, does not grant example.org. to namespace a; " +
			"add a grant there, or correct backendRefs.",
	}, {
		name: "of several the missing one gives the reason, and all are named", refs: []string{"one", "two", "three"},
		places: map[string]func(*Place){"one": nil, "two": unusable},
		want: "False BackendNotFound: Backend three, which backendRefs names, does not exist; create it, or correct " +
			"backendRefs." +
			" Backend two cannot be used: Secret x/key cannot be read.",
	}, {
		name: "a default one cannot be used", places: map[string]func(*Place){
			"one": func(p *Place) { p.Default = true }, "two": func(p *Place) { p.Default = true; unusable(p) },
		},
		want: "False BackendNotReady: Backend two cannot be used: Secret x/key cannot be read.",
	}, {
		name: "a default one that does not grant the zone is not meant", places: map[string]func(*Place){
			"one": func(p *Place) { granting(p); p.Default = true }, "two": func(p *Place) { nobody(p); p.Default = true },
		},
		want: "True Served: Served by one.",
	}, {
		name: "another one that cannot be used is nobody's business", refs: []string{"one"},
		places: map[string]func(*Place){"one": nil, "two": unusable},
		want:   "True Served: Served by one.",
	}, {
		name: "the only one that is named does not exist", refs: []string{"two"},
		places: map[string]func(*Place){"one": unusable},
		want: "False NoBackend: No Backend serves example.org. Backend two, which backendRefs names, does not exist; " +
			"create it, or correct backendRefs.",
	}, {
		name: "the only one that is named cannot be used", refs: []string{"two"},
		places: map[string]func(*Place){"two": unusable},
		want:   "False BackendNotReady: Backend two cannot be used: Secret x/key cannot be read.",
	}, {
		name: "none is named and none is default", places: map[string]func(*Place){"one": nil, "two": unusable},
		want: "False NoBackend: No Backend serves example.org.; mark a Backend as default, or name one in backendRefs.",
	}} {
		t.Run(c.name, func(t *testing.T) {
			play(t, func(s *stage) {
				for _, name := range []string{"one", "two"} {
					if change, there := c.places[name]; there {
						s.server(name, "example.org.", backendtest.Profile{})
						s.place(name, change)
					}
				}
				s.zone("org", "example.org.", c.refs...)
				s.record("www", "www.example.org.", "192.0.2.1")
				s.servedIs("org", c.want)
				s.reachedIs("www", c.want)
				if _, there := c.places["one"]; there && slices.Contains(c.refs, "one") {
					if got := s.has("one", "example.org.", "www.example.org."); got != "192.0.2.1" {
						t.Errorf("Backend one serves %q although it is there", got)
					}
				}
			})
		})
	}
}

// granting makes a Place one that grants everything.
func granting(p *Place) {
	all, err := dnsname.ParsePattern("*.")
	if err != nil {
		panic(err)
	}
	p.Closed, p.Grants = true, []zone.Grant{{Namespaces: []string{"a"}, Zones: []dnsname.Pattern{all}}}
}

func TestServedFollowsBackendsThatComeAndGo(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{})
		s.server("two", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one", "two")
		s.record("www", "www.example.org.", "192.0.2.1")
		const missing = "False BackendNotFound: Backend two, which backendRefs names, does not exist; create it, or " +
			"correct backendRefs."
		const served = "True Served: Served by one, two."
		step := func(what, want string, do func()) {
			t.Helper()
			s.told()
			do()
			s.servedIs("org", want)
			s.reachedIs("www", want)
			if told := s.told(); !slices.Contains(told, "org") {
				t.Errorf("%s: the Records are told of %q", what, told)
			}
		}
		s.servedIs("org", missing)
		step("it appears", served, func() { s.place("two", nil) })
		step("it goes", missing, func() { s.dropPlace("two") })
		step("it appears, and cannot be used",
			"False BackendNotReady: Backend two cannot be used: Secret x/key cannot be read.",
			func() { s.place("two", unusable) })
		step("it can be used", served, func() { s.place("two", nil) })
		step("a third is named",
			"False BackendNotFound: Backend three, which backendRefs names, does not exist; create it, or correct backendRefs.",
			func() { s.zone("org", "example.org.", "one", "two", "three") })
		step("it is not named any more", served, func() { s.zone("org", "example.org.", "one", "two") })

		s.told()
		s.place("two", unlisted)
		s.servedIs("org", served) // what is attached goes on
		s.record("www", "www.example.org.", "192.0.2.2")
		s.reachedIs("www", served)
		if got := s.has("two", "example.org.", "www.example.org."); got != "192.0.2.2" {
			t.Errorf("two serves %q", got)
		}
		if told := s.told(); len(told) > 0 {
			t.Errorf("nothing has changed for the Records of %q, which are told", told)
		}
	})
}
