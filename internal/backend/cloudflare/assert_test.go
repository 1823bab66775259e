package cloudflare

import (
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// add has somebody make a record in the dashboard, where the others stay as they are.
func add(f *cloudflaretest.Server, owner, address string) {
	f.Lock()
	defer f.Unlock()
	z, id := f.Zones[0], "of a person at "+owner
	z.Records[id] = map[string]any{"id": id, "name": owner, "type": "A", "ttl": float64(300), "content": address,
		"proxied": false}
}

// TestWhatIsAssertedIsReadFirst has somebody write after the whole zone was read, which is long ago.
func TestWhatIsAssertedIsReadFirst(t *testing.T) {
	for _, c := range []struct {
		name    string
		sets    int // that are asserted at once
		removed bool
		there   bool // we have put the sets there before
		assert  bool
		calls   int
		left    int // records of somebody else
	}{
		{"a set is put where there was none", 1, false, false, true, 2, 0},
		{"a set that is ours is put anew", 1, false, true, true, 2, 0},
		{"a set that is ours is removed", 1, true, true, true, 2, 0},
		{"a set that never was ours is removed", 1, true, false, true, 2, 0},
		{"many sets are put, and the zone is listed once", 5, false, false, true, 2, 0},
		{"many sets are removed, and the zone is listed once", 5, true, true, true, 2, 0},
		{"a set of a Zone is changed by what its last reading says", 1, false, true, false, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t)
			f.Foreign(t, []rr.Set{set(t, "other.example.org.", rr.TypeA, 300, "192.0.2.99")}, nil)
			z := zoneOf(t, f, Config{Token: cloudflaretest.Token})
			if _, err := z.Read(t.Context(), z.name, backend.Ask{}); err != nil {
				t.Fatal(err)
			}
			var before, changes []plan.Change
			for i := range c.sets {
				owner := fmt.Sprintf("h%d.example.org.", i)
				had, want := set(t, owner, rr.TypeA, 300, "192.0.2.1"), set(t, owner, rr.TypeA, 300, "192.0.2.2")
				before = append(before, plan.Change{Key: had.Key(), Want: had})
				change := plan.Change{Key: had.Key()}
				if !c.removed {
					change.Want = want
				}
				if c.there && (c.removed || !c.assert) {
					change.Have = had
				}
				changes = append(changes, change)
			}
			if c.there {
				if _, err := apply(t, z, before...); err != nil {
					t.Fatal(err)
				}
			}
			for i := range c.sets {
				add(f, fmt.Sprintf("h%d.example.org", i), "203.0.113.1")
			}
			calls := len(f.Calls)
			result, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: changes, Assert: c.assert})
			if err != nil || len(result.Rejected) > 0 {
				t.Errorf("refused are %v, error %v", result.Rejected, err)
			}
			if n := len(f.Calls) - calls; n != c.calls {
				t.Errorf("it took %d calls, want %d: %v", n, c.calls, f.Calls[calls:])
			}
			want := 1 + c.left
			if !c.removed {
				want += c.sets
			}
			if n := len(f.Zones[0].Records); n != want {
				t.Errorf("the service has %d records, want %d: %v", n, want, f.Zones[0].Records)
			}
		})
	}
}
