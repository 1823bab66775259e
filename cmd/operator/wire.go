package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
)

// addController has the manager run the dialects while it leads. The caches fill before,
// so that a follower takes over at once.
func addController(ctx context.Context, m ctrl.Manager, o options, log *slog.Logger) error {
	for _, schema := range kubizone.Schemas() {
		if err := schema.Check(ctx, m.GetAPIReader()); err != nil {
			return fmt.Errorf("the dialect kubi.zone cannot work: %w", err)
		}
	}
	for _, object := range append(kubizone.Objects(), backends.Objects()...) {
		if _, err := m.GetCache().GetInformer(ctx, object); err != nil {
			return fmt.Errorf("watching %T: %w", object, err)
		}
	}
	numbers := controller.NewMetrics()
	if err := numbers.Register(metrics.Registry); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	connect := connector(all.NewPool(time.Now))
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		recorder := m.GetEventRecorder("zonefold")
		clock := backend.SystemClock{}
		zones := kubizone.New(kubizone.Config{
			Client: m.GetClient(), Cache: m.GetCache(), Events: recorder, Log: log, Metrics: numbers, Clock: clock,
			MaxSet: o.maxSet, MaxEntries: o.maxEntries, Audit: o.audit,
		})
		places := backends.New(backends.Config{
			Client: m.GetClient(), Cache: m.GetCache(), Events: recorder, Log: log, Clock: clock.Now, Metrics: numbers,
			Namespace: o.namespace, Connect: connect, Core: zones.Core, Deliveries: zones.Deliveries,
		})
		if err := places.Gather(ctx); err != nil {
			return err
		}
		var writer sync.WaitGroup
		writer.Go(func() { _ = places.Run(ctx) })
		defer writer.Wait()
		return zones.Run(ctx, places.Ready)
	}))
}
