package controller

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/zone"
)

// TestAVerdictIsHeardOnceEverybodyIsToldOfIt has somebody ask for a verdict while it is being told: what it would hear
// of the delivery is about the content before.
func TestAVerdictIsHeardOnceEverybodyIsToldOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := zoneID("org")
		var core *Core
		told, heard := make(chan int, 1), make(chan bool, 1)
		core = NewCore(CoreConfig{Clock: time.Now, Metrics: NewMetrics(), Settled: func(Settlement) {
			go func() {
				v, ok := core.Verdict(id)
				heard <- ok && v.Accepted
			}()
			synctest.Wait()
			told <- len(heard)
		}})
		core.PutZone(zone.Zone{ID: id, Created: born, Where: zone.Where{Name: parse(t, "example.org.")}, TTL: 60},
			Version{UID: "1", Generation: 1})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = core.Run(ctx, func(context.Context) bool { return true }) }()
		if n := <-told; n != 0 {
			t.Error("it is heard before")
		}
		if !<-heard {
			t.Error("what is heard is not the verdict")
		}
	})
}
