package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// TestAConflictAfterAnOutageIsTriedAgainSoon, and conflicts that go on are tried less and less often.
func TestAConflictAfterAnOutageIsTriedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const outage = 30 * time.Second
		began := time.Now()
		var failures, conflicts int
		var first, done time.Time
		w := NewWriter(1, slog.New(slog.DiscardHandler), func(context.Context, zone.ID) error {
			switch {
			case time.Since(began) < outage:
				failures++
				return errors.New("there is no API server")
			case conflicts == 0:
				first = time.Now()
			}
			if conflicts++; conflicts <= 3 {
				return apierrors.NewConflict(schema.GroupResource{Resource: "zones"}, "org", errors.New("it was modified"))
			}
			done = time.Now()
			return nil
		})
		w.Enqueue(zone.ID{Kind: zone.KindZone, Namespace: "a", Name: "org"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		<-time.After(4 * outage)
		if failures < 5 || conflicts != 4 {
			t.Errorf("there were %d failures, and %d tries after them", failures, conflicts)
		}
		if took := done.Sub(first); took > time.Second {
			t.Errorf("it took %s from the first conflict to the end of them", took)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
