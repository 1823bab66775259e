package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A part is one reconciler and what wakes it.
type part struct {
	kind    client.Object   // what it reconciles
	owns    []client.Object // its children, each of which wakes what controls it
	watches []watch         // what else wakes it
	workers int             // how many objects at a time; 0: one
	// reconcile brings one object to what its spec asks for. It is called for every change of the object and of what wakes
	// it, and again after a while if it says so; 0 means that an event will tell.
	reconcile func(ctx context.Context, key client.ObjectKey) (time.Duration, error)
}

// A watch says which objects a change of another one wakes.
type watch struct {
	object client.Object
	wakes  func(ctx context.Context, o client.Object) []client.ObjectKey
}

// parts are the reconcilers of the dialect.
func (b *Controller) parts() []part {
	return []part{b.providers.part(), b.clusters.part(), b.instances.part(), b.accounts.part(), b.bindings.part()}
}

// Run reconciles until ctx ends; then it finishes what is under way and returns.
func (b *Controller) Run(ctx context.Context) error { return b.run(ctx, b.parts()) }

func (b *Controller) run(ctx context.Context, parts []part) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, len(parts))
	for _, p := range parts {
		c, err := b.build(p)
		if err != nil {
			return err
		}
		running.Go(func() { failed <- c.Start(ctx) })
	}
	select {
	case err := <-failed:
		if ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	return nil
}

// build makes the controller of a part.
func (b *Controller) build(p part) (ctrlcontroller.Controller, error) {
	gvk, err := b.Client.GroupVersionKindFor(p.kind)
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", p.kind, err)
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 5*time.Minute)
	c, err := ctrlcontroller.NewUnmanaged(gvk.Kind, ctrlcontroller.Options{
		Reconciler: b.guard(gvk.Kind, p), MaxConcurrentReconciles: p.workers, RateLimiter: jittered{limiter, b.Rand},
		Logger:             logr.FromSlogHandler(b.Log.Handler()),
		SkipNameValidation: ptr.To(true), // there is one for each term
	})
	if err != nil {
		return nil, fmt.Errorf("making the controller of %s: %w", gvk.Kind, err)
	}
	sources := []source.Source{source.Kind(b.Cache, p.kind, &handler.EnqueueRequestForObject{}, b.changed())}
	for _, child := range p.owns {
		wakesOwner := handler.EnqueueRequestForOwner(b.Client.Scheme(), b.Client.RESTMapper(), p.kind,
			handler.OnlyControllerOwner())
		sources = append(sources, source.Kind(b.Cache, child, wakesOwner, b.changed()))
	}
	for _, w := range p.watches {
		sources = append(sources, source.Kind(b.Cache, w.object, handler.EnqueueRequestsFromMapFunc(w.requests), b.changed()))
	}
	if b.Zones != nil && gvk.Kind == v1beta1.KindInstance {
		sources = append(sources, source.Func(b.Zones.Wakes))
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return nil, fmt.Errorf("watching for %s: %w", gvk.Kind, err)
		}
	}
	return c, nil
}

func (w watch) requests(ctx context.Context, o client.Object) []reconcile.Request {
	keys := w.wakes(ctx, o)
	out := make([]reconcile.Request, 0, len(keys))
	for _, key := range keys {
		out = append(out, reconcile.Request{NamespacedName: key})
	}
	return out
}

// changed keeps out what a cache repeats. Who writes hears of everything first.
func (b *Controller) changed() predicate.Predicate {
	differs := predicate.ResourceVersionChangedPredicate{}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { b.Objects.Saw(nil, e.Object); return true },
		UpdateFunc: func(e event.UpdateEvent) bool { b.Objects.Saw(e.ObjectOld, e.ObjectNew); return differs.Update(e) },
		DeleteFunc: func(e event.DeleteEvent) bool { b.Objects.Forget(e.Object); return true },
	}
}
