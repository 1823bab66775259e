package kubizone

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// Objects are what the dialect reads from the cache.
func Objects() []client.Object {
	return []client.Object{&v1alpha1.Zone{}, &v1alpha1.Record{}, &zonefold.ZoneSlice{}}
}

// gather follows Zones, Records and ZoneSlices from now on. What it returns tell when
// every object that existed has been put into the Core.
func (k *Controller) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, f := range []struct {
		object  object
		handler toolscache.ResourceEventHandlerFuncs
	}{
		{&v1alpha1.Zone{}, handler(k.putZone, k.dropZone)},
		{&v1alpha1.Record{}, handler(k.putRecord, k.dropRecord)},
		{&zonefold.ZoneSlice{}, handler(func(_, s *zonefold.ZoneSlice) { k.sawSlice(s, false) }, func(s *zonefold.ZoneSlice) { k.sawSlice(s, true) })},
	} {
		informer, err := k.Cache.GetInformer(ctx, f.object)
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", f.object, err)
		}
		registration, err := informer.AddEventHandler(f.handler)
		if err != nil {
			return nil, fmt.Errorf("following %T: %w", f.object, err)
		}
		context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) })
		synced = append(synced, registration.HasSynced)
	}
	return synced, nil
}

// handler makes typed functions a handler of events. old is nil for a new object.
func handler[T any](put func(before, after T), drop func(T)) toolscache.ResourceEventHandlerFuncs {
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
			if t, ok := o.(T); ok {
				drop(t)
			}
		},
	}
}

func (k *Controller) putZone(old, z *v1alpha1.Zone) {
	id := ZoneID(z.Namespace, z.Name)
	if old != nil && old.UID != z.UID {
		k.dropZone(old)
		old = nil
	}
	if k.echo(id, z) {
		return
	}
	if old == nil || old.Generation != z.Generation || old.DeletionTimestamp.IsZero() != z.DeletionTimestamp.IsZero() {
		if z.DeletionTimestamp.IsZero() {
			k.Core.PutZone(ConvertZone(z), versionOf(z))
		} else {
			k.Core.DeleteZone(id)
		}
		k.Deliveries.Sync(id)
	}
	if old != nil && metaOf(old).finalizer && !metaOf(z).finalizer {
		k.unheld(id) // somebody has removed the finalizer
		k.Deliveries.Sync(id)
	}
	k.enqueue(id)
}

func (k *Controller) dropZone(z *v1alpha1.Zone) {
	id := ZoneID(z.Namespace, z.Name)
	k.Core.DeleteZone(id)
	k.forgetZone(id)
	k.Deliveries.Sync(id)
}

func (k *Controller) putRecord(old, r *v1alpha1.Record) {
	id := RecordID(r.Namespace, r.Name)
	if k.echo(id, r) {
		return
	}
	if old == nil || old.UID != r.UID || old.Generation != r.Generation || old.DeletionTimestamp.IsZero() != r.DeletionTimestamp.IsZero() {
		if r.DeletionTimestamp.IsZero() {
			k.Core.PutClaim(ConvertRecord(r), versionOf(r))
		} else {
			k.Core.DeleteClaim(id)
		}
		return // it is looked at when the Core has settled
	}
	k.enqueue(id)
}

func (k *Controller) dropRecord(r *v1alpha1.Record) {
	k.Core.DeleteClaim(RecordID(r.Namespace, r.Name))
}
