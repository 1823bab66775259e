package backend_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestNoHourDeletesMoreThanAllowed has a zone change at random, on a server that fails now and then: unless somebody
// approves it, no more sets are deleted within an hour than the limits allow. What is wanted is always there.
func TestNoHourDeletesMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &watched{gone: map[rr.Key]time.Time{}, protection: plan.Protection{Limited: true,
			MaxDeletedPercent: rapid.IntRange(0, 60).Draw(rt, "percent"), MinDeleted: rapid.IntRange(0, 8).Draw(rt, "least")}}
		profile := bindLike
		profile.Limits.MaxChanges = rapid.IntRange(0, 5).Draw(rt, "batch")
		profile.Seen = w.see
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 12).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) { w.play(holdZone(t, profile, w.protection), steps) })
		for _, problem := range w.problems {
			rt.Error(problem)
		}
	})
}

// A step is a content, and how it fares.
type step struct {
	from, to int
	fails    bool
	after    time.Duration
}

func drawStep(rt *rapid.T) step {
	from := rapid.IntRange(0, 40).Draw(rt, "from")
	return step{from, rapid.IntRange(from, 40).Draw(rt, "to"), rapid.IntRange(0, 4).Draw(rt, "fails") == 0,
		time.Duration(rapid.IntRange(1, 50).Draw(rt, "minutes")) * time.Minute}
}

func (w *watched) play(z *heldZone, steps []step) {
	w.now = z.Now
	for _, s := range steps {
		sets := hosts(s.from, s.to)
		z.memory.SetHalving(s.fails)
		z.want(sets...)
		z.memory.SetHalving(false)
		z.pass(s.after)
		_, has, _ := z.memory.Truth(mustParse(zoneName))
		for _, set := range sets {
			if _, ok := has.Get(set.Key()); !ok && !s.fails {
				w.problems = append(w.problems, fmt.Sprintf("%s is wanted and not there", set.Key()))
			}
		}
	}
}

// watched counts what a server loses.
type watched struct {
	protection plan.Protection
	now        func() time.Time
	gone       map[rr.Key]time.Time
	problems   []string
}

func (w *watched) see(m backendtest.Message) {
	if w.now == nil || m.Zone.IsZero() {
		return
	}
	now := w.now()
	for s := range m.Before.All() {
		if _, still := m.After.Get(s.Key()); !still {
			w.gone[s.Key()] = now
		}
	}
	n := 0
	for _, at := range w.gone {
		if now.Sub(at) < plan.Window {
			n++
		}
	}
	if most := w.protection.Room(m.Before.Len() + n); n > most {
		w.problems = append(w.problems, fmt.Sprintf("within an hour %d sets were deleted, %d are allowed", n, most))
	}
}

// TestWithoutAProtectionNothingIsHeld compares what is sent to two servers: limits that nothing reaches change nothing.
func TestWithoutAProtectionNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent [2][]backend.Batch
		for i, p := range []plan.Protection{{}, {Limited: true, MaxDeletedPercent: 100}} {
			z := holdZone(t, bindLike, p)
			z.want(hosts(0, 50)...)
			z.want(hosts(25, 75)...)
			z.want(hosts(74, 80)...)
			z.want()
			if z.last("b").Held != nil {
				t.Error("something is held")
			}
			sent[i] = z.server.batches
		}
		if len(sent[0]) != len(sent[1]) {
			t.Fatalf("%d batches without a protection, %d with one that holds nothing", len(sent[0]), len(sent[1]))
		}
		for i := range sent[0] {
			if a, b := fmt.Sprint(sent[0][i].Changes), fmt.Sprint(sent[1][i].Changes); a != b {
				t.Errorf("batch %d is\n%s\nwithout a protection, and\n%s\nwith one that holds nothing", i, a, b)
			}
		}
	})
}
