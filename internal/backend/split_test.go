package backend

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func key(t *testing.T, owner string, typ rr.Type) rr.Key {
	t.Helper()
	n, err := dnsname.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	return rr.Key{Name: n, Type: typ}
}

// addresses are n new sets, and in the middle a name that switches from two sets to a CNAME.
func addresses(t *testing.T, n int) []plan.Change {
	t.Helper()
	var changes []plan.Change
	for i := range n {
		if i == n/2 {
			for _, typ := range []rr.Type{rr.TypeA, rr.TypeAAAA} {
				k := key(t, "switch.example.org.", typ)
				changes = append(changes, plan.Change{Key: k, Have: rr.NewSet(k, 300, "x")})
			}
			k := key(t, "switch.example.org.", rr.TypeCNAME)
			changes = append(changes, plan.Change{Key: k, Want: rr.NewSet(k, 300, "www.example.org.")})
		}
		k := key(t, fmt.Sprintf("n%d.example.org.", i), rr.TypeA)
		changes = append(changes, plan.Change{Key: k, Want: rr.NewSet(k, 300, "192.0.2.1")})
	}
	return changes
}

func sizes(batches [][]plan.Change) []int {
	var n []int
	for _, b := range batches {
		n = append(n, len(b))
	}
	return n
}

func TestSplit(t *testing.T) {
	flat := func(plan.Change) int { return 10 }
	for _, c := range []struct {
		name   string
		limits Limits
		want   []int
	}{
		{"a server without limits gets one batch", Limits{}, []int{11}},
		{"as many changes as a batch may have", Limits{MaxChanges: 4}, []int{4, 4, 3}},
		{"as many octets as a message may have", Limits{MaxBytes: 60, Size: flat}, []int{4, 6, 1}},
		{"what belongs together stays together", Limits{MaxChanges: 5}, []int{4, 5, 2}},
		{"unless a batch cannot hold it", Limits{MaxChanges: 2}, []int{2, 2, 2, 2, 2, 1}},
		{"where a batch is many calls it is kept short", Limits{Atomic: AtomicSet, MaxChanges: 1},
			[]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes := addresses(t, 8)
			batches := c.limits.Split(changes)
			if d := cmp.Diff(c.want, sizes(batches)); d != "" {
				t.Errorf("sizes (-want +got):\n%s", d)
			}
			if d := cmp.Diff(changes, slices.Concat(batches...)); d != "" {
				t.Errorf("the batches are not the changes (-want +got):\n%s", d)
			}
		})
	}
}

func TestHalve(t *testing.T) {
	var l Limits
	changes := addresses(t, 2)
	left, right, ok := l.Halve(changes)
	if d := cmp.Diff([]int{1, 4}, sizes([][]plan.Change{left, right})); !ok || d != "" {
		t.Errorf("halves (-want +got):\n%s", d)
	}
	left, right, ok = l.Halve(right)
	if d := cmp.Diff([]int{3, 1}, sizes([][]plan.Change{left, right})); !ok || d != "" {
		t.Errorf("a switch that comes first (-want +got):\n%s", d)
	}
	if _, _, ok = l.Halve(left); ok {
		t.Error("a switch is parted")
	}
}

// TestHalveEnds: halving always ends with single pieces and loses nothing.
func TestHalveEnds(t *testing.T) {
	for n := range 40 {
		var l Limits
		changes := addresses(t, n)
		var parts func([]plan.Change) int
		parts = func(b []plan.Change) int {
			left, right, ok := l.Halve(b)
			if !ok {
				return len(b)
			}
			return parts(left) + parts(right)
		}
		if len(changes) > 0 && parts(changes) != len(changes) {
			t.Errorf("halving %d changes loses some", len(changes))
		}
	}
}

func TestUnfit(t *testing.T) {
	k := key(t, "www.example.org.", rr.TypeA)
	change := plan.Change{Key: k, Want: rr.NewSet(k, 300, "192.0.2.1", "192.0.2.2")}
	for _, c := range []struct {
		name   string
		limits Limits
		want   string
	}{
		{"a server without limits takes everything", Limits{}, ""},
		{"a type that the server does not have", Limits{Refuses: func(rr.Type) string {
			return "has no such records"
		}}, "the server has no such records"},
		{"a set that is too large", Limits{MaxSetSize: 1},
			"the server accepts at most 1 records in a set, but this one has 2"},
		{"a set that fits no message", Limits{MaxBytes: 10},
			"the set needs a message of 86 octets, but the server accepts at most 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.limits.Unfit(change); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := c.limits.Unfit(plan.Change{Key: k, Have: change.Want}); got != "" {
				t.Errorf("a deletion is unfit: %s", got)
			}
		})
	}
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want ErrorClass
	}{
		{"no error has no class", nil, ""},
		{"a class is its own", ErrNoZone, ErrNoZone},
		{"a wrapped class", fmt.Errorf("reading: %w", ErrThrottled), ErrThrottled},
		{"an Error has its class, whatever its cause has",
			fmt.Errorf("x: %w", &Error{Class: ErrRejected, Err: ErrUnavailable}), ErrRejected},
		{"anything else is unavailable", errors.New("connection refused"), ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Class(c.err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.err != nil && c.want != ErrUnavailable && !errors.Is(c.err, c.want) {
				t.Errorf("errors.Is(%v, %v) is false", c.err, c.want)
			}
		})
	}
}

func TestDoubled(t *testing.T) {
	for _, c := range []struct {
		d    Doubled
		n    int
		want time.Duration
	}{
		{Doubled{time.Second, time.Minute}, 1, time.Second},
		{Doubled{time.Second, time.Minute}, 2, 2 * time.Second},
		{Doubled{time.Second, time.Minute}, 6, 32 * time.Second},
		{Doubled{time.Second, time.Minute}, 7, time.Minute},
		{Doubled{time.Second, math.MaxInt64}, math.MaxInt, math.MaxInt64},
		{Doubled{time.Minute, time.Second}, 1, time.Second},
		{Doubled{0, time.Minute}, math.MaxInt, 0},
	} {
		if got := c.d.After(c.n); got != c.want {
			t.Errorf("%v waits %s after %d failures, want %s", c.d, got, c.n, c.want)
		}
	}
	if a, b := Jitter(time.Hour, 0), Jitter(time.Hour, 0.5); a != 45*time.Minute || b != time.Hour {
		t.Errorf("an hour is %s to %s", a, b)
	}
}

func TestTheBatchThatMakesAZoneMayBeLarger(t *testing.T) {
	flat := func(plan.Change) int { return 10 }
	limits := Limits{MaxBytes: 40, CreateBytes: 80, Size: flat}
	for _, c := range []struct {
		name string
		sets int
		want []int
	}{
		{"all in one", 5, []int{8}},
		{"the rest in batches of the usual size", 10, []int{8, 4, 1}},
		{"nothing at all", 0, nil},
	} {
		changes := addresses(t, c.sets)
		if c.sets == 0 {
			changes = nil
		}
		if diff := cmp.Diff(c.want, sizes(limits.Creating(changes))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
