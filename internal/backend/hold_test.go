package backend_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// TestZonesWaitUntilOverlaysAreKnown has an operator start again, which learns of the sets of an overlay later than of
// the zone.
func TestZonesWaitUntilOverlaysAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		_, free := serverWith(bindLike, zoneName)
		over := address("www", "198.51.100.1")
		b := newBench(t, nil)
		release := b.engine.HoldZones("held")
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), backend.Attachment{Name: "zone", Feed: f, Backend: s, Kind: "held"})
		b.engine.Attach(target("s1", zoneName), backend.Attachment{Name: "free", Feed: f, Backend: free, Kind: "free"})
		b.pass(time.Minute)
		if s.reads > 0 || s.sent() > 0 || free.sent() == 0 || !b.engine.HoldsZones() {
			t.Errorf("the server that is held was read %d times and sent %d batches, the other one %d", s.reads, s.sent(),
				free.sent())
		}
		o := b.overlay(s)
		seq := o.Publish(own(over), nil) // overlays are delivered
		b.pass(time.Second)
		b.confirmed("over", seq)
		release()
		release()
		b.pass(time.Minute)
		b.has(m, "www", "198.51.100.1")
		if r := b.last("zone"); r.Err != nil || r.Refused[over.Key()].Reason == "" || b.engine.HoldsZones() {
			t.Errorf("the zone hears %+v", r)
		}
	})
}
