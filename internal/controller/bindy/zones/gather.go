package zones

import (
	"context"
	"reflect"
	"slices"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// Objects are what has to be in the cache before zones with these kinds of records can be delivered, besides what the
// fleet needs there.
func Objects(records []client.Object) []client.Object {
	return append(slices.Clone(records), &v1beta1.DNSZone{})
}

// gather follows zones, records and instances from now on. What it returns tell when every object that existed has been
// put into the Core.
func (z *Zones) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, object := range append(Objects(z.Records), &v1beta1.Bind9Instance{}) {
		has, err := controller.Follow(ctx, z.Cache, z.Objects, object, controller.Handler(z.put, z.drop))
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

func (z *Zones) put(before, after any) {
	now, ok := after.(client.Object)
	if !ok {
		return
	}
	old, _ := before.(client.Object)
	if old != nil && old.GetUID() != now.GetUID() {
		z.drop(old)
		old = nil
	}
	switch o := now.(type) {
	case *v1beta1.DNSZone:
		z.putZone(old, o)
	case *v1beta1.Bind9Instance:
		if was, ok := old.(*v1beta1.Bind9Instance); !ok || chosenDifferently(was, o) {
			z.allocateIn(o.Namespace)
			if ok {
				z.fleetChanged(was)
			}
			z.fleetChanged(o)
		}
	default:
		z.putRecord(old, now)
	}
}

func (z *Zones) drop(gone any) {
	switch o := gone.(type) {
	case *v1beta1.DNSZone:
		id := dialect.ZoneID(o.Namespace, o.Name)
		z.removeZone(id, nil)
		z.deliveries.Freeze(id, nil)
		z.mu.Lock()
		delete(z.known, id)
		z.ceilings.Forget(id)
		z.past.Forget(id)
		z.mu.Unlock()
		z.deliveries.Sync(id)
	case *v1beta1.Bind9Instance:
		z.allocateIn(o.Namespace)
		z.fleetChanged(o)
	case client.Object:
		z.removeRecord(o)
	}
}

// chosenDifferently reports whether an instance may have other zones than before, or other glue.
func chosenDifferently(a, b *v1beta1.Bind9Instance) bool {
	return !reflect.DeepEqual(a.Labels, b.Labels) || !reflect.DeepEqual(a.Annotations, b.Annotations) ||
		a.Generation != b.Generation ||
		a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() || a.Status.ServiceAddress != b.Status.ServiceAddress ||
		!slices.Equal(a.Status.Addresses, b.Status.Addresses)
}

func (z *Zones) putZone(old client.Object, o *v1beta1.DNSZone) {
	id := dialect.ZoneID(o.Namespace, o.Name)
	deleting := !o.DeletionTimestamp.IsZero()
	z.deliveries.Freeze(id, delivery.FreezeOf(o))
	if old != nil && old.GetGeneration() == o.Generation && old.GetDeletionTimestamp().IsZero() != deleting {
		if slices.Contains(old.GetFinalizers(), v1beta1.ZoneFinalizer) &&
			!slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer) {
			z.unheld(id) // somebody has removed the finalizer
			z.deliveries.Sync(id)
		}
		if old.GetAnnotations()[v1beta1.ReconcileTriggerAnnotation] != o.Annotations[v1beta1.ReconcileTriggerAnnotation] {
			z.deliveries.Audit(id)
		}
		if old.GetAnnotations()[zonefold.ApproveAnnotation] != o.Annotations[zonefold.ApproveAnnotation] {
			z.deliveries.Sync(id)
		}
		z.enqueue(id)
		return
	}
	if deleting {
		z.removeZone(id, o)
		z.deliveries.Sync(id)
		return
	}
	z.mu.Lock()
	z.know(id).zone = o
	z.mu.Unlock()
	z.allocateZone(o)
	z.arrange(o)
	z.deliveries.Sync(id)
}

// arrange hands a zone to the World, and what follows from it.
func (z *Zones) arrange(o *v1beta1.DNSZone) {
	id := dialect.ZoneID(o.Namespace, o.Name)
	z.mu.Lock()
	defer z.mu.Unlock()
	z.know(id).zone = o
	moved := z.homes.PutZone(o)
	z.putAgain(id)
	z.move(moved)
}

// removeZone takes a zone out of the World: it is going, or gone if that is nil. Its records go where else they may.
func (z *Zones) removeZone(id zone.ID, going *v1beta1.DNSZone) {
	z.allocating.Lock()
	z.mu.Lock()
	if k := z.known[id]; k != nil {
		k.zone = nil
	}
	before := z.fleets[id]
	delete(z.fleets, id)
	others := z.rename(id)
	z.core.DeleteZone(id)
	if going != nil {
		z.move(z.homes.PutZone(going))
	} else {
		z.move(z.homes.DeleteZone(id))
	}
	z.mu.Unlock()
	z.allocating.Unlock()
	z.wakeInstances(before.all()...)
	z.visitServers(id)
	z.revisit(others)
}

// putAgain hands a zone to the World as it is now. z.mu is held by all who hand on what they have made of what is
// known: else what was made first might come last.
func (z *Zones) putAgain(id zone.ID) {
	k := z.known[id]
	if k == nil || k.zone == nil {
		return
	}
	out := dialect.ConvertZone(k.zone, z.fleets[id].addresses)
	out.Warnings = append(append(out.Warnings, z.homes.Notes(id)...),
		z.fleets[id].glueless(id, k.zone.Spec.AddressTypes)...)
	z.core.PutZone(out, core.VersionOf(k.zone))
}

func (z *Zones) putRecord(old client.Object, o client.Object) {
	r, ok := dialect.RecordOf(o)
	if !ok {
		return
	}
	if !o.GetDeletionTimestamp().IsZero() {
		z.removeRecord(o)
		z.mu.Lock()
		z.know(r.ID).record = r
		z.mu.Unlock()
		z.enqueue(r.ID)
		return
	}
	if old != nil && old.GetGeneration() == o.GetGeneration() && reflect.DeepEqual(old.GetLabels(), o.GetLabels()) {
		z.mu.Lock()
		z.know(r.ID).record = r
		z.mu.Unlock()
		z.enqueue(r.ID)
		return
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.know(r.ID).record = r
	moved := z.homes.PutRecord(r)
	z.core.PutClaim(dialect.ConvertRecord(r, z.homes.Of(r.ID)), core.VersionOf(o))
	z.move(moved)
}

func (z *Zones) removeRecord(o client.Object) {
	r, ok := dialect.RecordOf(o)
	if !ok {
		return
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.left(r)
	z.move(z.homes.DeleteRecord(r.ID))
	delete(z.known, r.ID)
	z.core.DeleteClaim(r.ID)
}

// move hands on what follows from a change elsewhere. z.mu is held.
func (z *Zones) move(m dialect.Moved) {
	for _, id := range m.Records {
		if k := z.known[id]; k != nil && k.record.Object != nil {
			z.core.PutClaim(dialect.ConvertRecord(k.record, z.homes.Of(id)), core.VersionOf(k.record.Object))
		}
	}
	for _, id := range m.Zones {
		z.putAgain(id)
	}
}
