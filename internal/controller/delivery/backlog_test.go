package delivery

import (
	"testing"
	"time"
)

func TestStatusesWaitForABacklog(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	zones, burst := 0, false
	b := NewBacklog(func() time.Time { return now }, func() int { return zones }, func() bool { return burst })
	for _, c := range []struct {
		name  string
		after time.Duration
		zones int
		burst bool
		busy  bool
	}{
		{name: "nothing is on its way"},
		{name: "few zones are on their way", zones: 15},
		{name: "a burst of changes goes on", burst: true, busy: true},
		{name: "many zones are on their way", zones: 16, busy: true},
		{name: "they still are", after: 29 * time.Second, zones: 500, busy: true},
		{name: "they still are after so long that it is how things are", after: time.Second, zones: 500},
		{name: "a burst beside that", zones: 500, burst: true, busy: true},
		{name: "nearly all arrive", after: time.Second, zones: 15},
		{name: "many are on their way anew", zones: 500, busy: true},
		{name: "they arrive, if slowly", after: 29 * time.Second, zones: 499, busy: true},
		{name: "they still do", after: 29 * time.Second, zones: 498, busy: true},
		{name: "others join them, and as many arrive", after: 29 * time.Second, zones: 498, busy: true},
		{name: "it does not get better", after: time.Second, zones: 498},
		{name: "it gets better again", after: 10 * time.Second, zones: 400, busy: true},
		{name: "it still does", after: 21 * time.Second, zones: 350, busy: true},
		{name: "it has taken too long in all", after: time.Second, zones: 300},
		{name: "there are fewer at last", after: time.Hour, zones: 15},
		{name: "many are on their way again", zones: 16, busy: true},
	} {
		now, zones, burst = now.Add(c.after), c.zones, c.burst
		if got := b.Busy(); got != c.busy {
			t.Errorf("%s: statuses wait: %t, want %t", c.name, got, c.busy)
		}
	}
}
