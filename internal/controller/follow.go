package controller

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Follow has a handler hear of the objects of one kind that exist, and of their changes, until ctx ends. What it
// returns tells when the handler has heard of every object that existed.
func Follow(ctx context.Context, objects cache.Informers, o client.Object,
	h toolscache.ResourceEventHandler) (toolscache.InformerSynced, error) {
	informer, err := objects.GetInformer(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("watching %T: %w", o, err)
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return nil, fmt.Errorf("following %T: %w", o, err)
	}
	context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) })
	return registration.HasSynced, nil
}

// Handler makes typed functions a handler of events. before is the zero T for an object that was not known; drop may be
// nil.
func Handler[T any](put func(before, after T), drop func(T)) toolscache.ResourceEventHandlerFuncs {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if t, ok := o.(T); ok {
				var none T
				put(none, t)
			}
		},
		UpdateFunc: func(old, o any) {
			before, _ := old.(T)
			if t, ok := o.(T); ok {
				put(before, t)
			}
		},
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if t, ok := o.(T); ok && drop != nil {
				drop(t)
			}
		},
	}
}
