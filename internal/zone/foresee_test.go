package zone

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

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
