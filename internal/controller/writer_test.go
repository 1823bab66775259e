package controller

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/zone"
)

func TestTheTrickleEndsWithTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, objects = 16, 100
		var busy atomic.Bool
		var written atomic.Int64
		busy.Store(true)
		w := NewWriter(workers, slog.New(slog.DiscardHandler), func(context.Context, zone.ID) error {
			written.Add(1)
			return nil
		})
		w.Busy = busy.Load
		for i := range objects {
			w.Enqueue(zone.ID{Kind: zone.KindRecord, Namespace: "a", Name: fmt.Sprint(i)})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		<-time.After(3 * time.Second) // of the bubble's clock
		if n := written.Load(); n < 2*trickle || n > 4*trickle {
			t.Errorf("in three seconds of a burst %d objects were written, at %d a second", n, trickle)
		}
		busy.Store(false)
		<-time.After(4 * looks)
		if n := written.Load(); n != objects {
			t.Errorf("%d of %d objects were written when the burst was over", n, objects)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
