package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestWhatHasChangedComesBeforeWhatIsChecked begins a run with zones of an earlier one, at a server that takes one at a
// time. The last of them is unlike the others.
func TestWhatHasChangedComesBeforeWhatIsChecked(t *testing.T) {
	const zones = 20
	for _, c := range []struct {
		name    string
		changed func(i int) bool
		place   int // of the last zone, from 0
	}{
		{"one zone has changed since", func(i int) bool { return i == zones-1 }, 1},
		{"one zone has not: its turn comes while there are others", func(i int) bool { return i < zones-1 }, 3},
		{"all have changed: first come, first served", func(int) bool { return true }, zones - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(c *engine.Config) { c.PerServer = 1 })
				m, s := serverWith(bindLike)
				s.clock, s.lasts = b.clock, time.Second
				for i := range zones {
					name := fmt.Sprintf("z%d.example.", i)
					zone := mustParse(name)
					m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 7}, set(name, rr.TypeNS, 300, "server.example.net."))
					content := contentOf(zone, set("www."+name, rr.TypeA, 300, "192.0.2.1"))
					before := content.ID()
					if c.changed(i) {
						before = "another one"
					}
					f := b.engine.NewFeed(engine.FeedConfig{ID: name, Zone: zone, Serial: 7, Ceiling: 7, Content: before})
					f.Publish(content, nil)
					b.engine.Attach(target("s", name), engine.Attachment{Name: name, Feed: f, Backend: s})
				}
				b.pass(time.Hour)
				b.lock.Lock()
				defer b.lock.Unlock()
				last := fmt.Sprintf("z%d.example.", zones-1)
				place := slices.IndexFunc(b.reports, func(r engine.Report) bool { return r.Name == last })
				if len(b.reports) < zones || place != c.place {
					t.Errorf("%s is the %dth of %d, want %d", last, place, len(b.reports), c.place)
				}
			})
		})
	}
}
