package zone

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// fullRules are as many as a Zone may have, of which none lets in a record of the name "h…".
func fullRules() []Rule {
	rule := Rule{Zones: patterns("*")}
	for i := range MaxRuleParts - 2 {
		rule.Records = append(rule.Records, RecordRule{Pattern: patterns(fmt.Sprintf("*.x%d", i))[0]})
	}
	return []Rule{rule}
}

// TestAClaimIsComparedWithABoundedNumberOfRules: whoever has a Zone in a Zone in a Zone, each with all the rules that
// it may have, does not have every record below them compared with all of these.
func TestAClaimIsComparedWithABoundedNumberOfRules(t *testing.T) {
	w, name, rules := New(Options{}), "org.", fullRules()
	for i := range 100 {
		z := zoneOf("evil", fmt.Sprint(i), name, int64(1+i))
		z.Rules = rules
		w.PutZone(z)
		name = "a." + name
	}
	w.PutClaim(claimOf("evil/h", "h."+strings.TrimPrefix(name, "a."), 500, "A 192.0.2.1"))
	w.Settle()
	compared := 0
	e, _ := w.ExplainObject(ID{KindRecord, "evil", "h"})
	for _, s := range e.Steps {
		if s.Reason != NotAsked {
			compared += w.zones[s.Zone].parts
		}
	}
	if compared == 0 || compared > MaxAskedParts {
		t.Errorf("one record below 100 Zones is compared with %d parts of rules, not with at most %d", compared,
			MaxAskedParts)
	}
	if v, _ := w.Verdict(ID{KindRecord, "evil", "h"}); v.Reason != NotDelegated || !strings.Contains(v.Message,
		"Zone evil/99 ") {
		t.Errorf("it is told %s: %s", v.Reason, v.Message)
	}
}

func TestRecordsFindTheirZoneThroughManyOthersWithFewRules(t *testing.T) {
	w, name := New(Options{}), "org."
	for i := range 100 {
		z := zoneOf("team", fmt.Sprint(i), name, int64(1+i))
		if i > 0 {
			z.Rules = []Rule{{Zones: patterns("*")}}
		}
		w.PutZone(z)
		name = "a." + name
	}
	w.PutClaim(claimOf("team/h", "h."+strings.TrimPrefix(name, "a."), 500, "A 192.0.2.1"))
	w.Settle()
	if v, _ := w.Verdict(ID{KindRecord, "team", "h"}); v.Zone.Name != "0" {
		t.Errorf("the Zone at the top, which allows it, does not take it: %s", v.Message)
	}
}

func TestRulesWithinTheLimit(t *testing.T) {
	three := Rule{Namespaces: []string{"a"}, Records: []RecordRule{{Pattern: patterns("*")[0]}}}
	many := make([]Rule, MaxRuleParts)
	for i := range many {
		many[i] = three
	}
	for _, tt := range []struct {
		sentence string
		rules    []Rule
		want     int
	}{
		{"none", nil, 0},
		{"one that fills them", fullRules(), 1},
		{"one more is too many", append(fullRules(), Rule{}), 1},
		{"those after one that is too large are not reached", append([]Rule{{Namespaces: make([]string, MaxRuleParts)}},
			three), 0},
		{"many small ones", many, MaxRuleParts / 3},
	} {
		if got := RulesWithin(tt.rules); got != tt.want {
			t.Errorf("%s: %d, not %d", tt.sentence, got, tt.want)
		}
	}
}

// TestNotesCostNoMoreThanTheyAre: the memory for the notes of an object grows with their number and not with its
// square.
func TestNotesCostNoMoreThanTheyAre(t *testing.T) {
	allocated := func(n int) uint64 {
		z := zoneOf("dns", "example", "example.org.", 1)
		c := claimOf("dns/www", "www.example.org.", 2, "A 192.0.2.1")
		for i := range n {
			z.Warnings = append(z.Warnings, Note{InvalidRule, fmt.Sprintf("Rule %d is bad.", i), ID{}})
			c.Warnings = append(c.Warnings, Note{InvalidRule, fmt.Sprintf("Word %d is bad.", i), ID{}})
		}
		w := New(Options{})
		w.PutZone(z)
		w.PutClaim(c)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.Settle()
		runtime.ReadMemStats(&after)
		if v, _ := w.Verdict(z.ID); len(v.Notes) != n+1 { // and that it has no name servers
			t.Fatalf("the Zone has %d notes", len(v.Notes))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(500), allocated(2000)
	if many > 8*few {
		t.Errorf("four times as many notes take %d octets and not %d", many, few)
	}
}

// TestLookingAheadStopsAtItsLimitAmongZonesWithoutNames: Zones that refer to each other in a ring have no names, and
// count all the same.
func TestLookingAheadStopsAtItsLimitAmongZonesWithoutNames(t *testing.T) {
	w := New(Options{})
	chain(w, 2_000, "1999")
	z := zoneOf("evil", "0", "example.org.", 2)
	z.Where = Where{Relative: must(dnsname.ParseRelative("b")), Ref: ID{KindZone, "evil", "1999"}}
	before := w.visits
	f, _ := w.ForeseeZone(z, 100)
	if !f.Alone || w.visits-before > 200 {
		t.Errorf("it looks at %d things, alone: %v", w.visits-before, f.Alone)
	}
}

func TestSetsHaveAtMost100Records(t *testing.T) {
	w := New(Options{})
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	for i := range 102 {
		w.PutClaim(claimOf(fmt.Sprint("dns/", i), "full.example.org.", int64(200-i), fmt.Sprintf("A 192.0.2.%d", i)))
	}
	w.PutClaim(claimOf("dns/duplicate", "full.example.org.", 300, "A 192.0.2.50"))
	w.PutClaim(claimOf("dns/other type", "full.example.org.", 300, `TXT "x"`))
	w.Settle()
	full := func() []string {
		var out []string
		for id := range w.claims {
			if v, _ := w.Verdict(id); v.Reason == SetFull {
				out = append(out, id.Name)
			}
		}
		slices.Sort(out)
		return out
	}
	if got := full(); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("the youngest two are left out of a set of 100, not %v", got)
	}
	w.DeleteClaim(ID{KindRecord, "dns", "101"})
	w.Settle()
	if got := full(); !slices.Equal(got, []string{"0"}) {
		t.Errorf("when the oldest goes the next has its place; left out are %v", got)
	}
	snapshot, _ := w.Snapshot(ID{KindZone, "dns", "example"})
	if set, _ := snapshot.Sets.Get(rr.Key{Name: must(dnsname.Parse("full.example.org.")), Type: rr.TypeA}); len(
		set.Data) != 100 {
		t.Errorf("the set has %d records", len(set.Data))
	}
}

// pinnedZone is a pinned Zone with name servers of its own, and servers.
func pinnedZone(servers ...string) Zone {
	z := largeZone("example.org.")
	z.Policy = Policy{Pinned: true, NoAliases: true}
	z.Own = []rr.Set{setOf("example.org.", 300, rr.TypeNS, "ns1.example.org.", "ns2.example.org."), setOf(
		"ns1.example.org.", 300, rr.TypeA, "192.0.2.1")}
	for _, s := range servers {
		z.Servers = append(z.Servers, Address{rr.TypeA, s})
	}
	return z
}

func pinnedWorld(size int) *World {
	w := New(Options{})
	w.PutZone(pinnedZone("198.51.100.1"))
	for _, c := range addressClaims("example.org.", size) {
		c.Where.Ref = largeZone("example.org.").ID
		w.PutClaim(c)
	}
	w.Settle()
	return w
}

func TestNoSingleChangeOfAPinnedZoneVisitsAllSets(t *testing.T) {
	small, large := pinnedWorld(100), pinnedWorld(5_000)
	pinned := func(object, owner, record string) Claim {
		c := claimOf(object, owner, 9, record)
		c.Where.Ref = largeZone("example.org.").ID
		return c
	}
	for _, change := range []struct {
		name  string
		apply func(*World)
	}{
		{"a new record", func(w *World) { w.PutClaim(pinned("team/new", "new.example.org.", "A 192.0.2.9")) }},
		{"its end", func(w *World) { w.DeleteClaim(ID{KindRecord, "team", "new"}) }},
		{"other servers", func(w *World) { w.PutZone(pinnedZone("198.51.100.2", "198.51.100.3")) }},
		{"a name server more", func(w *World) { w.PutClaim(pinned("team/ns", "example.org.", "NS ns3.example.org.")) }},
		{"its address", func(w *World) { w.PutClaim(pinned("team/ns3", "ns3.example.org.", "A 192.0.2.3")) }},
		{"no servers", func(w *World) { w.PutZone(pinnedZone()) }},
		{"a Zone of its name", func(w *World) { w.PutZone(zoneOf("dns", "same", "example.org.", 1)) }},
		{"a pinned Zone of its name", func(w *World) {
			z := pinnedZone()
			z.ID.Name = "twin"
			w.PutZone(z)
		}},
	} {
		few := visitsOf(small, func() { change.apply(small) })
		many := visitsOf(large, func() { change.apply(large) })
		if few != many {
			t.Errorf("%s visits %d names in a World of 100, and %d in one of 5,000", change.name, few, many)
		}
	}
}
