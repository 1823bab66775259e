package backend_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestOnlyAnOverlayAsserts has a zone and an overlay of it sent by one Backend, which tells them apart.
func TestOnlyAnOverlayAsserts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.engine.Attach(target("s0", zoneName), backend.Attachment{Name: "zone", Feed: f, Backend: s})
		b.pass(time.Minute)
		over, api := b.overlay(s), address("api", "198.51.100.1")
		over.Publish(own(api), nil)
		b.pass(time.Minute)
		over.Publish(own(), []rr.Key{api.Key()})
		b.pass(time.Minute)
		asserted := 0
		for _, batch := range s.batches {
			about := slices.ContainsFunc(batch.Changes, func(c plan.Change) bool { return c.Key == api.Key() })
			if batch.Assert != about {
				t.Errorf("that it asserts is said %t of %v", batch.Assert, batch.Changes)
			}
			if about {
				asserted++
			}
		}
		if asserted != 2 {
			t.Errorf("the overlay sent %d batches", asserted)
		}
	})
}
