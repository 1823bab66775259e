package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// lines reads lines such as "www A", each a set with data of its own; "www A 2" has other data.
func lines(t *testing.T, text ...string) rr.Sets {
	t.Helper()
	txn := rr.Sets{}.Txn()
	for _, line := range text {
		f := strings.Fields(line)
		typ, err := rr.ParseType(f[1])
		if err != nil {
			t.Fatal(err)
		}
		txn.Put(rr.NewSet(rr.Key{Name: name(t, f[0]+".example.org."), Type: typ}, 300, strings.Join(f[2:], "")+"x"))
	}
	return txn.Sets()
}

func TestWhatABrakeHolds(t *testing.T) {
	const before = "a A, b A, c A, d A, e TXT, x.tree A"
	limit := func(percent, least int) plan.Protection {
		return plan.Protection{Limited: true, MaxDeletedPercent: percent, MinDeleted: least}
	}
	upsert, create := plan.Protection{Policy: plan.PolicyUpsertOnly}, plan.Protection{Policy: plan.PolicyCreateOnly}
	for _, c := range []struct {
		name       string
		protection plan.Protection
		want, held string
		counted    int
	}{
		{"without a protection nothing is held", plan.Protection{}, "", "", 0},
		{"a third may go, and goes", limit(34, 0), "a A, b A, c A, d A", "", 2},
		{"half may not, and none of it goes", limit(34, 0), "a A, b A, c A", "d A, e TXT, x.tree A", 0},
		{"three may go of any zone", limit(34, 3), "a A, b A, c A", "", 3},
		{"none may go, and nothing does", limit(0, 0), "a A, b A, c A, d A, e TXT", "x.tree A", 0},
		{"additions go out beside it", limit(0, 0), "a A, b A, c A, d A, n A", "e TXT, x.tree A", 0},
		{"changes go out beside it", limit(0, 0), "a A 2, b A, c A, d A", "e TXT, x.tree A", 0},
		{"a name that becomes an alias loses nothing", limit(0, 0), "a CNAME, b A, c A, d A, e TXT, x.tree A", "", 0},
		{"a name keeps a set of another type and loses one", limit(0, 0), "a AAAA, b A, c A, d A, e TXT, x.tree A", "a A", 0},
		{"a DNAME does not hide what is held", limit(0, 0), "a A, b A, c A, d A, e TXT, tree DNAME",
			"tree DNAME, x.tree A", 0},
		{"a DNAME beside it comes", limit(0, 0), "a A, b A, c A, d A, tree2 DNAME, x.tree A", "e TXT", 0},
		{"UpsertOnly deletes nothing", upsert, "a A 2, n A", "b A, c A, d A, e TXT, x.tree A", 0},
		{"UpsertOnly changes a name into an alias", upsert, "a CNAME, b A, c A, d A, e TXT, x.tree A", "", 0},
		{"CreateOnly changes nothing either", create, "a A 2, b CNAME, c A, d A, e TXT, x.tree A, n A",
			"a A, b A, b CNAME", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			have, want := lines(t, strings.Split(before, ", ")...), rr.Sets{}
			if c.want != "" {
				want = lines(t, strings.Split(c.want, ", ")...)
			}
			changes := plan.Diff(have, want, plan.Scope{Apex: name(t, "example.org.")}).Changes
			b := plan.Brake{Protection: c.protection, Base: have.Len(), Recent: &plan.Recent{},
				Approves: func([]rr.Key) bool { return false }}
			out := b.Hold(changes)
			var held []string
			for _, change := range slices.Concat(out.Held...) {
				held = append(held, change.Key.Name.In(name(t, "example.org."))+" "+change.Key.Type.String())
			}
			slices.Sort(held)
			if got := strings.Join(held, ", "); got != c.held || len(out.Counted) != c.counted {
				t.Errorf("held is %q and %d count; want %q and %d", got, len(out.Counted), c.held, c.counted)
			}
			if len(out.Free)+len(slices.Concat(out.Held...)) != len(changes) {
				t.Errorf("%d changes became %d and %d", len(changes), len(out.Free), len(held))
			}
		})
	}
}

func TestDeletionsCountForAnHour(t *testing.T) {
	var r plan.Recent
	at := time.Date(2026, 11, 25, 12, 0, 30, 0, time.UTC)
	keys := func(n int) (keys []rr.Key) {
		for i := range n {
			keys = append(keys, rr.Key{Name: name(t, fmt.Sprintf("h%d.example.org.", i)), Type: rr.TypeA})
		}
		return keys
	}
	r.Add(keys(3), at)
	r.Add(keys(2), at.Add(30*time.Minute))
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 3}, {59 * time.Minute, 3}, {time.Hour, 3}, {62 * time.Minute, 2}, {90 * time.Minute, 2}, {92 * time.Minute, 0}} {
		if r.Forget(at.Add(c.after)); r.Len() != c.want {
			t.Errorf("after %s there are %d, want %d", c.after, r.Len(), c.want)
		}
	}
	if !r.Until().IsZero() {
		t.Error("none are left, and one ends at", r.Until())
	}
}

// TestHoldingKeepsTheOrder: what is free is as it was without what is held, and no more is deleted than there is room
// for unless it is approved.
func TestHoldingKeepsTheOrder(t *testing.T) {
	apex := name(t, "example.org.")
	rapid.Check(t, func(rt *rapid.T) {
		have, want := drawSets(rt, "have"), drawSets(rt, "want")
		changes := plan.Diff(have, want, plan.Scope{Apex: apex}).Changes
		approved := rapid.Bool().Draw(rt, "approved")
		b := plan.Brake{Protection: plan.Protection{Limited: true,
			MaxDeletedPercent: rapid.IntRange(0, 100).Draw(rt, "percent"),
			MinDeleted:        rapid.IntRange(0, 5).Draw(rt, "least")}, Base: have.Len(), Recent: &plan.Recent{},
			Approves: func([]rr.Key) bool { return approved }}
		before := slices.Clone(changes)
		out := b.Hold(changes)
		deleted, i, ordered := 0, 0, true
		for unit := range plan.Units(out.Free) {
			if len(unit) == 1 && unit[0].Deletes() {
				deleted++
			}
			for _, c := range unit {
				for i < len(before) && before[i].Key != c.Key {
					i++
				}
				ordered = ordered && i < len(before)
			}
		}
		if !ordered {
			rt.Fatal("what is free is in another order")
		}
		if !approved && deleted > b.Room(b.Base) {
			rt.Fatalf("%d of %d sets are deleted", deleted, have.Len())
		}
		if approved && len(out.Held) > 0 {
			rt.Fatalf("%v is held", out.Held)
		}
	})
}
