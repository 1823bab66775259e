package delivery

import (
	"testing"
)

func TestWhichZonesGoToServicesAlone(t *testing.T) {
	play(t, func(s *stage) {
		service := func(p *Place) { p.Hosted = true }
		s.place("service", service)
		s.place("another", service)
		s.place("server", nil)
		for _, c := range []struct {
			name string
			refs []string
			want bool
		}{
			{"one at a service", []string{"service"}, true},
			{"one at two services", []string{"service", "another"}, true},
			{"one at a server too", []string{"service", "server"}, false},
			{"one that names what is not there", []string{"service", "missing"}, false},
			{"one that is delivered nowhere", nil, false},
		} {
			if got := s.d.Places().Hosted(c.refs); got != c.want {
				t.Errorf("%s: %t, want %t", c.name, got, c.want)
			}
		}
		s.place("service", func(p *Place) { p.Hosted, p.Default = true, true })
		if !s.d.Places().Hosted(nil) {
			t.Error("one that goes where the others go: false")
		}
	})
}
