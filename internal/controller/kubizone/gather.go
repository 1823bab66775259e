package kubizone

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
)

// Objects are what the dialect reads from the cache.
func Objects() []client.Object {
	return []client.Object{&v1alpha1.Zone{}, &v1alpha1.Record{}, &zonefold.ZoneSlice{}}
}

// A gatherer takes in what happens to the objects that the Controller reads.
type gatherer struct{ *Controller }

// gather follows Zones, Records and ZoneSlices from now on. What it returns tell when
// every object that existed has been put into the Core.
func (k gatherer) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, f := range []struct {
		object  object
		handler toolscache.ResourceEventHandlerFuncs
	}{
		{&v1alpha1.Zone{}, controller.Handler(k.putZone, k.dropZone)},
		{&v1alpha1.Record{}, controller.Handler(k.putRecord, k.dropRecord)},
		{&zonefold.ZoneSlice{}, controller.Handler(k.ledgers.putSlice, k.ledgers.dropSlice)},
	} {
		has, err := controller.Follow(ctx, k.Cache, k.objects, f.object, f.handler)
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

func (k gatherer) putZone(old, z *v1alpha1.Zone) {
	id := dialect.ZoneID(z.Namespace, z.Name)
	if old != nil && old.UID != z.UID {
		k.dropZone(old)
		old = nil
	}
	if old == nil || old.Generation != z.Generation || old.DeletionTimestamp.IsZero() != z.DeletionTimestamp.IsZero() {
		if z.DeletionTimestamp.IsZero() {
			k.Core.PutZone(dialect.ConvertZone(z), core.VersionOf(z))
		} else {
			k.Core.WithdrawZone(id)
		}
		k.Deliveries.Sync(id)
	}
	if old != nil && (old.Annotations[zonefold.ApproveAnnotation] != z.Annotations[zonefold.ApproveAnnotation] ||
		leaves(old) != leaves(z)) {
		k.Deliveries.Sync(id)
	}
	if old != nil && finalized(old) && !finalized(z) {
		k.unheld(id) // somebody has removed the finalizer
		k.Deliveries.Sync(id)
	}
	k.Deliveries.Freeze(id, delivery.FreezeOf(z))
	k.enqueue(id)
}

func (k gatherer) dropZone(z *v1alpha1.Zone) {
	id := dialect.ZoneID(z.Namespace, z.Name)
	k.Core.DeleteZone(id)
	k.Deliveries.Freeze(id, nil)
	k.forgetZone(id)
	k.Deliveries.Sync(id)
}

func (k gatherer) putRecord(old, r *v1alpha1.Record) {
	id := dialect.RecordID(r.Namespace, r.Name)
	if old == nil || old.UID != r.UID || old.Generation != r.Generation ||
		old.DeletionTimestamp.IsZero() != r.DeletionTimestamp.IsZero() {
		if r.DeletionTimestamp.IsZero() {
			k.Core.PutClaim(dialect.ConvertRecord(r), core.VersionOf(r))
		} else {
			k.past.left(r)
			k.Core.DeleteClaim(id)
		}
		return // it is looked at when the Core has settled
	}
	k.enqueue(id)
}

func (k gatherer) dropRecord(r *v1alpha1.Record) {
	k.past.left(r)
	k.Core.DeleteClaim(dialect.RecordID(r.Namespace, r.Name))
}
