package engine

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestARefusedSetIsTriedAgainAfterOtherChangesAndThenEverMoreSeldom(t *testing.T) {
	owner, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	mx := rr.NewSet(rr.Key{Name: owner, Type: rr.TypeMX}, 300, "10 mail.example.org.")
	unit := []plan.Change{{Key: mx.Key(), Want: mx}}
	now := time.Unix(1_000_000, 0)
	var r refusals
	r.add(unit, Refusal{Reason: "REFUSED"})
	if keys := r.ripened(now.Add(time.Hour)); keys != nil {
		t.Fatalf("it is tried again although nothing else has changed: %v", keys)
	}
	for _, pause := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second} {
		r.ripen(now)
		r.ripen(now.Add(pause)) // more changes do not put it off
		if pause > 0 {
			if keys := r.ripened(now.Add(pause - 1)); keys != nil {
				t.Fatalf("it is tried again before %v have passed: %v", pause, keys)
			}
		}
		if r.ripe != now.Add(pause) {
			t.Fatalf("the next try is at %v, not after %v", r.ripe, pause)
		}
		keys := r.ripened(now.Add(pause))
		if len(keys) != 1 {
			t.Fatalf("after %v it is not tried again: %v", pause, keys)
		}
		r.drop(keys)
		r.add(unit, Refusal{Reason: "REFUSED"})
		now = now.Add(time.Minute)
	}
}
