package controller

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

// Follow has a handler hear of the objects of one kind that exist, and of their changes, until ctx ends. The Writer of
// these objects, if there is one, hears of them first. What Follow returns tells when the handler has heard of every
// object that existed.
func Follow(ctx context.Context, c cache.Informers, w *objects.Writer, o client.Object,
	h toolscache.ResourceEventHandler) (toolscache.InformerSynced, error) {
	informer, err := c.GetInformer(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("watching %T: %w", o, err)
	}
	if w != nil {
		h = written{h, w}
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return nil, fmt.Errorf("following %T: %w", o, err)
	}
	context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) })
	return registration.HasSynced, nil
}

// written tells a Writer what the cache has before anybody else hears of it.
type written struct {
	toolscache.ResourceEventHandler

	by *objects.Writer
}

func (w written) OnAdd(o any, initial bool) {
	if o, ok := o.(client.Object); ok {
		w.by.Saw(nil, o)
	}
	w.ResourceEventHandler.OnAdd(o, initial)
}

func (w written) OnUpdate(old, o any) {
	before, _ := old.(client.Object)
	if after, ok := o.(client.Object); ok {
		if before != nil && before.GetUID() != after.GetUID() {
			w.by.Forget(before)
			before = nil
		}
		w.by.Saw(before, after)
	}
	w.ResourceEventHandler.OnUpdate(old, o)
}

func (w written) OnDelete(o any) {
	if gone, ok := known(o).(client.Object); ok {
		w.by.Forget(gone)
	}
	w.ResourceEventHandler.OnDelete(o)
}

// known is the last that is known of an object that is gone.
func known(o any) any {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		return gone.Obj
	}
	return o
}

// HandlerOf is Handler for functions that do not ask what was before.
func HandlerOf[T any](put, drop func(T)) toolscache.ResourceEventHandlerFuncs {
	return Handler(func(_, o T) { put(o) }, drop)
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
			if t, ok := known(o).(T); ok && drop != nil {
				drop(t)
			}
		},
	}
}
