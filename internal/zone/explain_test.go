package zone

import (
	gocmp "cmp"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestExplanationsAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(someOptions(t))
		drawBase(t, w)
		for range 1 + upTo(t, 25, "operations") {
			drawOperation(t).apply(w)
		}
		w.Settle()
		before := image(w)
		o := consult(w)
		for id := range sortedByID(w.claims) {
			e, _ := w.ExplainObject(id)
			checkObject(t, w, o, e)
			checkEnclosing(t, o, e, o.zones[o.claims[id].Where.Ref].Policy)
		}
		for id := range sortedByID(w.zones) {
			e, _ := w.ExplainObject(id)
			checkObject(t, w, o, e)
			checkZoneSteps(t, o, e)
			checkEnclosing(t, o, e, o.zones[id].Policy)
		}
		for _, id := range slices.SortedFunc(maps.Keys(o.name), ID.Compare) {
			for _, of := range []rr.Type{0, rr.TypeA, rr.TypeNS, rr.TypePTR} {
				if name := o.name[id]; !name.IsZero() {
					checkName(t, w, o, w.Explain(name, of, pick(t, someNamespaces, "who asks")))
				}
			}
		}
		if diff := cmp.Diff(before, image(w)); diff != "" {
			t.Fatalf("explaining left a trace (-before +after):\n%s", diff)
		}
		checkNoLeftovers(t, w)
	})
}

// checkObject compares what is said of an object with what was decided.
func checkObject(t *rapid.T, w *World, o *oracle, e Explanation) {
	t.Helper()
	id := e.Subject
	if v, known := w.Verdict(id); !known || !v.Equal(e.Verdict) || gocmp.Or(o.reason[id], Accepted) != e.Verdict.Reason {
		t.Fatalf("%s is explained as\n%+v; the World says\n%+v, the oracle %s", id, e.Verdict, v, o.reason[id])
	}
	c, isClaim := o.claims[id]
	if !isClaim || c.Invalid != nil || o.name[id].IsZero() {
		return
	}
	var asked []ID
	for _, s := range e.Steps {
		if s.Reason != NotAsked {
			asked = append(asked, s.Zone)
		}
		if s.Allows != (s.Rule != "") || s.Allows != (s.Reason == Accepted) || s.Message == "" {
			t.Fatalf("%s: a step contradicts itself: %+v", id, s)
		}
		if s.Allows != (s.Reason != NotAsked && o.allows(s.Zone, c)) && s.Reason != NotAsked {
			t.Fatalf("%s: the oracle does not say so: %+v", id, s)
		}
	}
	home, has := o.home[id]
	if has != (len(asked) > 0 && e.Steps[len(e.Steps)-1].Allows) || has && asked[len(asked)-1] != home {
		t.Fatalf("%s is at home in %q, and asks %v: %+v", id, home, asked, e.Steps)
	}
}

// checkEnclosing compares the Zones at and above a name with the accepted ones; policy is that of the Zone in whose
// tree the name is. In one of its own there is no other Zone.
func checkEnclosing(t *rapid.T, o *oracle, e Explanation, policy Policy) {
	t.Helper()
	var want []ID
	for name, more := e.Name, !e.Name.IsZero() && !policy.Pinned; more; name, more = name.Parent() {
		if id, has := o.owner[name]; has {
			want = append(want, id)
		}
	}
	if !policy.Pinned && !slices.Equal(e.Enclosing, want) || policy.Pinned && len(e.Enclosing) > 1 {
		t.Fatalf("%s of %s is enclosed by %v, the oracle says %v", e.Name, e.Subject, e.Enclosing, want)
	}
}

// checkZoneSteps compares who is asked for a Zone with who has a say.
func checkZoneSteps(t *rapid.T, o *oracle, e Explanation) {
	t.Helper()
	id := e.Subject
	var parent ID
	for _, s := range e.Steps {
		if s.Allows && !s.Zone.IsZero() {
			parent = s.Zone
		}
	}
	if o.reason[id] == Accepted && !o.zones[id].Policy.Pinned && (parent != o.parent[id] || len(e.Steps) == 0) {
		t.Fatalf("%s is delegated to by %q, and the steps are %+v", id, o.parent[id], e.Steps)
	}
}

// checkName compares what is said of a name with what Zones hold there.
func checkName(t *rapid.T, w *World, o *oracle, e Explanation) {
	t.Helper()
	if e.Type == 0 || e.Type == rr.TypeSOA {
		if o.zones[e.Subject].ID != e.Subject {
			t.Fatalf("%s is no Zone", e.Subject)
		}
		return
	}
	snapshot, _ := w.Snapshot(e.Zone)
	set, found := snapshot.Sets.Get(rr.Key{Name: e.Name, Type: e.Type})
	if e.Set.Data != nil && (!found || !set.Equal(e.Set)) && e.Type != rr.TypeDS {
		t.Fatalf("%s %s is said to be %v in %s, which has %v", e.Name, e.Type, e.Set, e.Zone, set)
	}
	if _, known := w.Verdict(e.Subject); known || e.Derived {
		if e.Verdict.Accepted != (e.Set.Data != nil) {
			t.Fatalf("%s %s is told %+v and is %v", e.Name, e.Type, e.Verdict, e.Set)
		}
		return
	}
	if e.Set.Data != nil || !e.Subject.IsZero() {
		t.Fatalf("nobody asks for %s %s, and yet it is %+v", e.Name, e.Type, e)
	}
	for id, c := range o.claims {
		if o.name[id] == e.Name && c.Type == e.Type && o.reason[id] == Accepted && !o.zones[o.home[id]].Policy.Pinned {
			t.Fatalf("%s has %s %s, and nobody is said to: %+v", id, e.Name, e.Type, e)
		}
	}
}

func TestWhatIsSaidOfAFreeName(t *testing.T) {
	w := New(Options{})
	name := func(s string) dnsname.Name { return must(dnsname.Parse(s)) }
	w.PutZone(Zone{ID: ID{KindZone, "dns", "org"}, TTL: 300, Where: Where{Name: name("example.org.")}, Rules: []Rule{{
		Namespaces: []string{"web"},
		Records:    []RecordRule{{Pattern: must(dnsname.ParsePattern("*.shop")), Types: []rr.Type{rr.TypeA, rr.TypeCNAME}}},
	}}})
	w.PutClaim(Claim{ID: ID{KindRecord, "web", "old"}, Where: Where{Name: name("alias.shop.example.org.")},
		Type: rr.TypeCNAME, Data: []string{"example.net."}})
	w.Settle()
	const rule = `the name "*.shop" of type A, CNAME for namespace web`
	for _, tt := range []struct {
		sentence, name, namespace string
		reason                    Reason
		rule, holder              string
	}{
		{"who has a rule may have it", "a.shop.example.org.", "web", Accepted, rule, ""},
		{"others may not", "a.shop.example.org.", "mail", NotDelegated, "", ""},
		{"without a namespace, that of the Zone asks", "a.shop.example.org.", "", NotDelegated, "", ""},
		{"outside of all Zones it is nobody's", "example.net.", "web", NoZone, "", ""},
		{"what is an alias already is nothing else, whoever is said to be younger", "alias.shop.example.org.", "web",
			Conflict, rule, "old"},
	} {
		t.Run(tt.sentence, func(t *testing.T) {
			e := w.Explain(name(tt.name), rr.TypeA, tt.namespace)
			if e.Verdict.Reason != tt.reason || !e.Subject.IsZero() || e.Holder.Name != tt.holder {
				t.Errorf("it says %+v", e)
			}
			if rule := ruleOf(e); rule != tt.rule {
				t.Errorf("the rule is %q, want %q", rule, tt.rule)
			}
		})
	}
}

func ruleOf(e Explanation) string {
	if len(e.Steps) == 0 {
		return ""
	}
	return e.Steps[len(e.Steps)-1].Rule
}
