package core

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/zone"
)

func TestOnlyManyChangesAtOnceAreABurst(t *testing.T) {
	for _, c := range []struct {
		sentence string
		n        int
		gap      time.Duration
		want     bool
	}{
		{"one change is none", 1, 0, false},
		{"a few at once are none", crowd - 1, 0, false},
		{"many at once are one", crowd, 0, true},
		{"thousands, a few milliseconds apart, are one", 3000, 2 * time.Millisecond, true},
		{"a steady flow of five a second is none", 100, 200 * time.Millisecond, false},
		{"what lasts long is how things are", 61000, 2 * time.Millisecond, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			now := time.Unix(1700000000, 0)
			core := New(Config{Clock: func() time.Time { return now }})
			for i := range c.n {
				if i > 0 {
					now = now.Add(c.gap)
				}
				core.DeleteClaim(zone.ID{Kind: zone.KindRecord, Namespace: "a", Name: "www"})
			}
			if got := core.Busy(); got != c.want {
				t.Errorf("Busy is %t after %d changes %s apart", got, c.n, c.gap)
			}
			now = now.Add(lull)
			if core.Busy() {
				t.Error("the burst goes on after a lull")
			}
		})
	}
}

func TestABurstThatSomebodyWaitsForHasNoLull(t *testing.T) {
	now := time.Unix(1700000000, 0)
	core := New(Config{Clock: func() time.Time { return now }})
	change := func() { core.DeleteClaim(zone.ID{Kind: zone.KindRecord, Namespace: "a", Name: "www"}) }
	first, second := core.Expect(), core.Expect()
	for range 3 * crowd {
		change()
	}
	now = now.Add(2 * lull)
	change()
	if !core.Busy() {
		t.Error("the burst is over while two wait for their changes")
	}
	first()
	now = now.Add(lull)
	if !core.Busy() {
		t.Error("the burst is over while one waits for its change")
	}
	second()
	now = now.Add(lull)
	if core.Busy() {
		t.Error("the burst goes on while nobody waits")
	}
	now = now.Add(lull)
	core.Expect()
	change()
	if core.Busy() {
		t.Error("one change after a lull is a burst, as the one before it was")
	}
}
