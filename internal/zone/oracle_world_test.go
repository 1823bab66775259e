package zone

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// verdicts says what became of every object, in the words that both sides share.
func (o *oracle) verdicts() map[string]string {
	out := map[string]string{}
	for id, reason := range o.reason {
		zone := o.parent[id]
		if _, claim := o.claims[id]; claim && reason == Accepted {
			zone = o.home[id]
		}
		out[id.String()] = fmt.Sprint(o.name[id], " ", reason, " ", zone)
	}
	return out
}

func verdicts(w *World) map[string]string {
	out := map[string]string{}
	say := func(id ID) {
		v, _ := w.Verdict(id)
		out[id.String()] = fmt.Sprint(v.Name, " ", v.Reason, " ", v.Zone)
	}
	for id := range w.zones {
		say(id)
	}
	for id := range w.claims {
		say(id)
	}
	return out
}

func TestWorldAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(Options{MaxSet: 2, MaxTypes: 3})
		drawBase(t, w)
		for range 1 + upTo(t, 60, "operations") {
			op := drawOperation(t)
			t.Log(op.what)
			op.apply(w)
		}
		w.Settle()
		want, got := consult(w).verdicts(), verdicts(w)
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if want[id] != got[id] {
				t.Errorf("%s: the oracle says %q, the World %q", id, want[id], got[id])
			}
		}
	})
}
