package zone

import (
	gocmp "cmp"
	"fmt"
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

func TestForeseeingLeavesNoTraceAndIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(Options{MaxSet: 2, MaxTypes: 3})
		drawBase(t, w)
		for range 1 + upTo(t, 25, "operations") {
			op := drawOperation(t)
			t.Log(op.what)
			op.apply(w)
			w.Settle()
			before := image(w)
			checkForecast(t, w)
			if again := w.Settle(); len(again.Zones)+len(again.Verdicts) > 0 {
				t.Fatalf("who settles next hears of it: %+v", again)
			}
			if diff := cmp.Diff(before, image(w)); diff != "" {
				t.Fatalf("it left a trace (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(image(fresh(w, false)), image(w)); diff != "" {
				t.Fatalf("incremental differs since (-from nothing +incremental):\n%s", diff)
			}
			checkNoLeftovers(t, w)
		}
	})
}

// checkForecast compares a forecast with what comes true in another World.
func checkForecast(t *rapid.T, w *World) {
	after := fresh(w, false)
	var id ID
	var f Forecast
	var ok bool
	if pick(t, []bool{true, false}, "a zone") {
		z := drawZone(t)
		t.Logf("what if %+v", z)
		if alone, ok := w.ForeseeZone(z, 0); ok {
			checkAlone(t, fresh(w, false), z, alone.Verdict)
		}
		f, ok = w.ForeseeZone(z, 1000)
		after.PutZone(z)
		id = z.ID
	} else {
		c := drawClaim(t, ID{KindRecord, pick(t, someNamespaces, "namespace"), fmt.Sprint("r", upTo(t, 5, "record"))})
		t.Logf("what if %+v", c)
		f, ok = w.ForeseeClaim(c, 1000)
		after.PutClaim(c)
		id = c.ID
	}
	after.Settle()
	if !ok || f.Alone {
		t.Fatalf("there is no forecast: %+v", f)
	}
	if v, _ := after.Verdict(id); !v.Equal(f.Verdict) {
		t.Fatalf("%s is foretold\n%+v and gets\n%+v", id, f.Verdict, v)
	}
	told := map[ID]bool{id: true}
	for _, e := range f.Others {
		told[e.ID] = true
		if v, _ := w.Verdict(e.ID); !v.Equal(e.Before) {
			t.Fatalf("%s has\n%+v and not\n%+v", e.ID, v, e.Before)
		}
		if v, _ := after.Verdict(e.ID); !v.Equal(e.After) {
			t.Fatalf("%s is foretold\n%+v and gets\n%+v", e.ID, e.After, v)
		}
	}
	for text, v := range image(after) {
		if before, known := image(w)[text]; known && before != v && !toldAs(told, text) {
			t.Fatalf("%s gets %s, which nobody foretold", text, v)
		}
	}
}

// toldAs reports whether what image calls so is the verdict of one of some objects, or no verdict.
func toldAs(told map[ID]bool, text string) bool {
	for id := range told {
		if id.String() == text {
			return true
		}
	}
	return len(text) > len(" content") && text[len(text)-len(" content"):] == " content"
}

// checkAlone compares what is said of a Zone alone with what comes true, but for notes.
func checkAlone(t *rapid.T, after *World, z Zone, foretold Verdict) {
	after.PutZone(z)
	after.Settle()
	got, _ := after.Verdict(z.ID)
	foretold.Notes, got.Notes = nil, nil
	if !got.Equal(foretold) {
		t.Fatalf("%s is foretold by itself\n%+v and gets\n%+v", z.ID, foretold, got)
	}
}

func TestForeseeingLooksAtNoMoreThanItMay(t *testing.T) {
	w := New(Options{})
	w.PutZone(Zone{ID: ID{KindZone, "a", "org"}, TTL: 300, Rules: openRules(),
		Where: Where{Name: must(dnsname.Parse("example.org."))}})
	for i := range 1000 {
		w.PutClaim(Claim{ID: ID{KindRecord, "a", fmt.Sprint(i)}, Type: rr.TypeA, Data: []string{"192.0.2.1"},
			Where: Where{Name: must(dnsname.Parse(fmt.Sprintf("h%d.sub.example.org.", i)))}})
	}
	w.Settle()
	visits := w.visits
	sub := Where{Name: must(dnsname.Parse("sub.example.org."))}
	if _, ok := w.ForeseeClaim(Claim{ID: ID{KindRecord, "a", "cut"}, Type: rr.TypeNS, Data: []string{"ns.example.net."},
		Where: sub}, 100); ok {
		t.Error("a cut above a thousand names is foretold")
	}
	f, ok := w.ForeseeZone(Zone{ID: ID{KindZone, "a", "sub"}, Where: sub}, 100)
	if !ok || !f.Alone || !f.Verdict.Accepted || f.Verdict.Zone.Name != "org" {
		t.Errorf("of a Zone above a thousand names is said %+v, %t", f, ok)
	}
	if w.visits != visits {
		t.Errorf("%d names and objects were looked at", w.visits-visits)
	}
	if f, ok := w.ForeseeClaim(Claim{ID: ID{KindRecord, "a", "more"}, Type: rr.TypeA, Data: []string{"192.0.2.1"},
		Where: sub}, 100); !ok || !f.Verdict.Accepted {
		t.Errorf("of a record among them is said %+v, %t", f, ok)
	}
	if cost := w.visits - visits; cost > 20 {
		t.Errorf("a record among a thousand costs %d visits", cost)
	}
}

func TestForeseeingGrants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(Options{})
		drawBase(t, w)
		for range upTo(t, 10, "operations") {
			drawOperation(t).apply(w)
		}
		w.Settle()
		before := image(w)
		grants := []Grant{{several(t, someNamespaces, 3, "granted"), drawPatterns(t)}}[:upTo(t, 2, "some")]
		foretold := map[ID]bool{}
		for _, id := range w.ForeseeGrants("one", grants) {
			foretold[id] = true
		}
		after := fresh(w, false)
		after.PutGrants("one", grants)
		after.Settle()
		for id := range w.zones {
			was, _ := w.Verdict(id)
			is, _ := after.Verdict(id)
			if foretold[id] && is.Accepted && is.Zone.IsZero() {
				t.Errorf("%s is foretold to lose its grant, and gets %+v", id, is)
			}
			if len(foretold) == 0 && was.Accepted && is.Reason == NotGranted {
				t.Errorf("%s is foretold nothing, and gets %+v", id, is)
			}
		}
		w.Settle()
		if diff := cmp.Diff(before, image(w)); diff != "" {
			t.Errorf("it left a trace:\n%s", diff)
		}
	})
}
