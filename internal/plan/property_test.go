package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

var types = []rr.Type{
	rr.TypeA, rr.TypeAAAA, rr.TypeTXT, rr.TypeNS, rr.TypeDS, rr.TypeCNAME, rr.TypeDNAME, rr.TypeCDS, rr.TypeRRSIG,
	rr.TypeMX,
}

func drawSets(t *rapid.T, label string) rr.Sets {
	var none rr.Sets
	txn := none.Txn()
	for range rapid.IntRange(0, 40).Draw(t, label) {
		owner := rapid.SampledFrom([]string{"", "a.", "b.", "x.a.", "y.x.a.", "*.b.", "c."}).Draw(t, "owner") + "example.org."
		n, err := dnsname.Parse(owner)
		if err != nil {
			t.Fatal(err)
		}
		key := rr.Key{Name: n, Type: rapid.SampledFrom(types).Draw(t, "type")}
		data := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3"}), 1, 3, rapid.ID[string]).Draw(t, "data")
		slices.Sort(data)
		txn.Put(rr.NewSet(key, uint32(rapid.IntRange(1, 3).Draw(t, "ttl")), data...))
	}
	return txn.Sets()
}

// TestDiffThenApply: what was planned, made, gives what is wanted in scope, leaves alone what is foreign, and leaves
// nothing more to plan, whatever order the scope, and however the keys are told.
func TestDiffThenApply(t *testing.T) {
	apex, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		have, want := drawSets(t, "have"), drawSets(t, "want")
		scope := plan.Scope{
			Apex: apex, Keep: rapid.Bool().Draw(t, "keep"), Written: drawSets(t, "written"),
			ApexNS: plan.ApexNS(rapid.IntRange(0, 2).Draw(t, "apex NS")), MinTTL: uint32(rapid.IntRange(0, 2).Draw(t, "min")),
		}
		p := plan.Diff(have, want, scope)
		got := plan.Apply(have, p.Changes)
		if again := plan.Diff(got, want, scope).Changes; len(again) > 0 && !touchesApexNS(again, apex) {
			t.Fatalf("a second plan still has %v", again)
		}
		checkWanted(t, got, have, want, scope)
		checkForeign(t, got, have, want, scope)
		checkBelief(t, have, p.Changes)
		checkExclusive(t, have, p.Changes)
	})
}

// touchesApexNS reports whether all changes are of the apex NS, which under Keep is zonefold's or not by its data.
func touchesApexNS(changes []plan.Change, apex dnsname.Name) bool {
	return !slices.ContainsFunc(changes, func(c plan.Change) bool { return c.Key != rr.Key{Name: apex, Type: rr.TypeNS} })
}

func checkWanted(t *rapid.T, got, have, want rr.Sets, scope plan.Scope) {
	for w := range want.All() {
		if (w.Key() == rr.Key{Name: scope.Apex, Type: rr.TypeNS}) && (scope.Keep || scope.ApexNS == plan.ApexNSLeft) {
			continue
		}
		if g, _ := got.Get(w.Key()); !g.Equal(scope.Clamp(w)) {
			t.Fatalf("%s is %v, want %v", w.Key(), g, w)
		}
	}
}

func checkForeign(t *rapid.T, got, have, want rr.Sets, scope plan.Scope) {
	for h := range have.All() {
		_, wanted := want.Get(h.Key())
		_, written := scope.Written.Get(h.Key())
		g, there := got.Get(h.Key())
		address := h.Type == rr.TypeA || h.Type == rr.TypeAAAA // may be needed by apex NS
		apexNS := h.Key() == rr.Key{Name: scope.Apex, Type: rr.TypeNS}
		switch {
		case wanted || apexNS:
		case !written && (scope.Keep || plan.ServerMade(h.Type)):
			if !g.Equal(h) {
				t.Fatalf("%s was not zonefold's and is %v, was %v", h.Key(), g, h)
			}
		case there && !address:
			t.Fatalf("%s is not wanted and still there", h.Key())
		}
	}
}

// checkBelief: every change says what is really there before it.
func checkBelief(t *rapid.T, have rr.Sets, changes []plan.Change) {
	seen := map[rr.Key]bool{}
	for _, c := range changes {
		if h, _ := have.Get(c.Key); !h.Equal(c.Have) || seen[c.Key] {
			t.Fatalf("change %v, but there is %v", c, h)
		}
		seen[c.Key] = true
	}
}

// checkExclusive: made one by one, no change puts a CNAME beside other sets unless both were there or are wanted.
func checkExclusive(t *rapid.T, have rr.Sets, changes []plan.Change) {
	final := plan.Apply(have, changes)
	for i := range changes {
		now := plan.Apply(have, changes[:i+1])
		n := changes[i].Key.Name
		if crowded(now, n) && !crowded(have, n) && !crowded(final, n) {
			t.Fatalf("after %d of %v a CNAME has company at %s", i+1, show(changes), n)
		}
	}
}

func crowded(sets rr.Sets, n dnsname.Name) bool {
	_, alias := sets.Get(rr.Key{Name: n, Type: rr.TypeCNAME})
	others := 0
	for range sets.At(n) {
		others++
	}
	return alias && others > 1
}

// zoneOf makes a zone of n sets.
func zoneOf(n int, ttl uint32) rr.Sets {
	var none rr.Sets
	txn := none.Txn()
	for i := range n {
		owner, _ := dnsname.Parse(fmt.Sprintf("host-%d.sub-%d.example.org.", i, i%100))
		txn.Put(rr.NewSet(rr.Key{Name: owner, Type: rr.TypeA}, ttl, fmt.Sprintf("192.0.%d.%d", i/256%256, i%256)))
	}
	return txn.Sets()
}

func BenchmarkDiff(b *testing.B) {
	apex, _ := dnsname.Parse("example.org.")
	for _, n := range []int{1_000, 10_000, 100_000} {
		have, same, other := zoneOf(n, 300), zoneOf(n, 300), zoneOf(n, 600)
		for name, want := range map[string]rr.Sets{"equal": same, "different": other, "empty": {}} {
			b.Run(fmt.Sprintf("%d_%s", n, name), func(b *testing.B) {
				for b.Loop() {
					plan.Diff(have, want, plan.Scope{Apex: apex})
				}
			})
		}
	}
}

func BenchmarkDiffOneKey(b *testing.B) {
	apex, _ := dnsname.Parse("example.org.")
	for _, n := range []int{1_000, 10_000, 100_000} {
		have, want := zoneOf(n, 300), zoneOf(n, 600)
		owner, _ := dnsname.Parse("host-7.sub-7.example.org.")
		keys := []rr.Key{{Name: owner, Type: rr.TypeA}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				plan.DiffKeys(have, want, keys, plan.Scope{Apex: apex})
			}
		})
	}
}
