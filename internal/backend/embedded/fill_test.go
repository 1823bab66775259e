package embedded

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestZonesWithoutNameServersAreCompleted(t *testing.T) {
	s, _ := serve(t, Options{})
	g := s.Group("test")
	zone := mustName(t, "lone.example.")
	soa := rr.SOA{MName: mustName(t, "ns.lone.example."), RName: zone, Serial: 1, TTL: 60}
	send := func(changes ...plan.Change) {
		t.Helper()
		if _, err := g.Apply(t.Context(), zone, backend.Batch{Create: true, SOA: &soa, Changes: changes}); err != nil {
			t.Fatal(err)
		}
		soa.Serial++
	}
	check := func(when string, sets int, want ...string) {
		t.Helper()
		found, err := g.Read(t.Context(), zone, backend.Ask{})
		if err != nil || found.Sets.Len() != sets {
			t.Errorf("%s: the zone was given %d sets and shows %d (%v)", when, sets, found.Sets.Len(), err)
		}
		var got []string
		var served []dns.RR
		m := &message{limit: dns.MaxMsgSize, buf: make([]byte, headerSize)}
		if err := newWriter(m, nil).zone(s.Catalogue().Zone(zone)); err != nil {
			t.Fatal(err)
		}
		served = unpack(t, m.buf).Answer
		for _, line := range sorted(served) {
			got = append(got, strings.ReplaceAll(line, "lone.example.", "@"))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: served\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	send()
	check("a zone of nothing", 0, "@ 60 IN NS ns.@", "ns.@ 60 IN A 192.0.2.1")
	send(put(t, "ns.lone.example.", rr.TypeAAAA, 30, "2001:db8::1"))
	check("with an address", 1, "@ 60 IN NS ns.@", "ns.@ 30 IN AAAA 2001:db8::1")
	soa.MName = mustName(t, "ns.example.net.")
	send(put(t, "ns.lone.example.", rr.TypeA, 30, "192.0.2.7"))
	check("with another SOA", 2, "@ 60 IN NS ns.example.net.", "ns.@ 30 IN A 192.0.2.7", "ns.@ 30 IN AAAA 2001:db8::1")
	send(put(t, "lone.example.", rr.TypeNS, 30, "a.example.net."))
	check("with a name server", 3, "@ 30 IN NS a.example.net.", "ns.@ 30 IN A 192.0.2.7", "ns.@ 30 IN AAAA 2001:db8::1")
	soa.MName = mustName(t, "alias.lone.example.")
	send(plan.Change{Key: rr.Key{Name: zone, Type: rr.TypeNS}}, put(t, "alias.lone.example.", rr.TypeCNAME, 30,
		"ns.lone.example."),
		plan.Change{Key: rr.Key{Name: soa.MName, Type: rr.TypeA}},
		plan.Change{Key: rr.Key{Name: mustName(t, "ns.lone.example."), Type: rr.TypeA}})
	check("with an alias in its place", 2, "@ 60 IN NS nameserver.invalid.", "alias.@ 30 IN CNAME ns.@",
		"ns.@ 30 IN AAAA 2001:db8::1")
}
