package sim

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatOperatorsMayNotBegin is what is done after the end of a Lease, and what is done again without a pause.
func TestWhatOperatorsMayNotBegin(t *testing.T) {
	kinds := kindsOf(t)
	const what = "PATCH /apis/kubi.zone/v1alpha1/namespaces/a/zones/org/status"
	for sentence, c := range map[string]struct {
		lease time.Duration // how long it goes on; 0: there was none
		times int
		pause time.Duration
		want  string
	}{
		"one effect while the Lease lasts":    {time.Minute, 1, 0, ""},
		"one effect of who has not led":       {0, 1, 0, ""},
		"one effect after the Lease":          {-time.Second, 1, 0, "an operator whose Lease is over begins " + what},
		"fifty effects without a pause":       {time.Minute, 50, 0, "within a second there are 50 of " + what},
		"fifty effects of more than a second": {time.Minute, 50, 30 * time.Millisecond, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(kinds, nil, Life{})
			o := &operator{world: w}
			if c.lease != 0 {
				o.over = time.Now().Add(c.lease)
			}
			for range c.times {
				if err := o.effect(t.Context(), 0, what, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				<-time.After(c.pause)
			}
			if got := strings.Join(w.wrong, "\n"); got != c.want {
				t.Errorf("%s: %q is wrong, not %q", sentence, got, c.want)
			}
		})
	}
}
