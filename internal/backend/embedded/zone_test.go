package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func mustName(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// readZone makes a zone of a master file whose first record is its SOA.
func readZone(t testing.TB, text string) *Zone {
	t.Helper()
	var records []dns.RR
	parser := dns.NewZoneParser(strings.NewReader(text), "", "")
	for record, ok := parser.Next(); ok; record, ok = parser.Next() {
		records = append(records, record)
	}
	if err := parser.Err(); err != nil {
		t.Fatal(err)
	}
	sets, err := rr.FromRRs(records)
	if err != nil {
		t.Fatal(err)
	}
	var soa rr.SOA
	var changes []plan.Change
	for _, s := range sets {
		if s.Type != rr.TypeSOA {
			changes = append(changes, plan.Change{Key: s.Key(), Want: s})
			continue
		}
		if soa, err = rr.ParseSOA(s.Data[0]); err != nil {
			t.Fatal(err)
		}
		soa.TTL = s.TTL
	}
	z, err := NewZone(mustName(t, records[0].Header().Name), soa)
	if err != nil {
		t.Fatal(err)
	}
	z, rejected, err := z.With(nil, changes)
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	return z
}

// dump lists the names of a zone and how many names each has below it.
func (z *Zone) dump() string {
	var lines []string
	z.names.All(func(n *node) bool {
		lines = append(lines, fmt.Sprintf("%q %d %v", n.name, n.below, n.sets))
		return true
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestChangesMakeTheZoneThatTheSetsMake compares a zone that went through random changes with one made of what was
// left, and sees that no older version changed.
func TestChangesMakeTheZoneThatTheSetsMake(t *testing.T) {
	apex := mustName(t, "example.org.")
	soa := rr.SOA{MName: apex, RName: apex, Serial: 1, TTL: 300}
	rapid.Check(t, func(rt *rapid.T) {
		z, err := NewZone(apex, soa)
		if err != nil {
			rt.Fatal(err)
		}
		left := map[rr.Key]rr.Set{}
		for range rapid.IntRange(1, 8).Draw(rt, "batches") {
			old, was := z, z.dump()
			var changes []plan.Change
			for range rapid.IntRange(0, 20).Draw(rt, "changes") {
				c := drawChange(rt)
				changes = append(changes, c)
				if left[c.Key] = c.Want; c.Deletes() {
					delete(left, c.Key)
				}
			}
			var rejected any
			if z, rejected, err = z.With(nil, changes); err != nil || fmt.Sprint(rejected) != "[]" {
				rt.Fatal(rejected, err)
			}
			if old.dump() != was {
				rt.Fatalf("a change altered the zone that it was made from:\n%s\n\n%s", was, old.dump())
			}
		}
		fresh, err := NewZone(apex, soa)
		if err != nil {
			rt.Fatal(err)
		}
		var all []plan.Change
		for key, s := range left {
			all = append(all, plan.Change{Key: key, Want: s})
		}
		fresh, _, _ = fresh.With(nil, all)
		if z.dump() != fresh.dump() || z.sets != fresh.sets || z.sets != len(left)+1 {
			rt.Fatalf("after its changes the zone has %d sets\n%s\n\nmade anew %d\n%s", z.sets, z.dump(), fresh.sets,
				fresh.dump())
		}
	})
}

func drawChange(t *rapid.T) plan.Change {
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*"}), 0, 4).Draw(t, "labels")
	name, err := dnsname.FromLabels(append(labels, "example", "org"))
	if err != nil {
		t.Fatal(err)
	}
	key := rr.Key{Name: name, Type: rapid.SampledFrom([]rr.Type{rr.TypeA, rr.TypeTXT, rr.TypeMX}).Draw(t, "type")}
	c := plan.Change{Key: key}
	if rapid.IntRange(0, 2).Draw(t, "put") > 0 {
		data := map[rr.Type]string{rr.TypeA: "192.0.2.%d", rr.TypeTXT: `"%d"`, rr.TypeMX: "%d example.com."}[key.Type]
		c.Want = rr.NewSet(key, 300, fmt.Sprintf(data, rapid.IntRange(0, 3).Draw(t, "data")))
	}
	return c
}

func TestWhatAZoneCannotHoldIsRejectedAlone(t *testing.T) {
	z := readZone(t, "example.org. 300 IN SOA ns.example.org. root.example.org. 1 2 3 4 5\n")
	key := func(name string, typ rr.Type) rr.Key { return rr.Key{Name: mustName(t, name), Type: typ} }
	var large []string
	for i := range 260 {
		large = append(large, fmt.Sprintf("%q", strings.Repeat(string(rune('a'+i%26)), 250)+fmt.Sprint(i)))
	}
	wanted := []rr.Set{
		rr.NewSet(key("www.example.org.", rr.TypeA), 300, "192.0.2.1"),
		rr.NewSet(key("www.example.net.", rr.TypeA), 300, "192.0.2.1"),
		rr.NewSet(key("example.org.", rr.TypeSOA), 300, "a. b. 1 2 3 4 5"),
		rr.NewSet(key("large.example.org.", rr.TypeTXT), 300, large...),
		rr.NewSet(key("bad.example.org.", rr.TypeA), 300, "192.0.2"),
	}
	var changes []plan.Change
	for _, s := range wanted {
		changes = append(changes, plan.Change{Key: s.Key(), Want: s})
	}
	z, rejected, err := z.With(nil, changes)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"www.example.net. A: the name is not in the zone example.org.",
		"example.org. SOA: SOA cannot be written: zonefold makes the zone's SOA from the Zone's spec",
		"large.example.org. TXT: the set has 69050 octets: at most 64493 fit into a DNS message",
		`bad.example.org. A: A data "192.0.2" is not an IPv4 address`,
	}
	var got []string
	for _, r := range rejected {
		got = append(got, r.Key.String()+": "+r.Reason)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rejected\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if z.sets != 2 {
		t.Errorf("the zone has %d sets, want SOA and A", z.sets)
	}
}

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
