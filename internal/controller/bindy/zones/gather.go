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

// A gatherer hands on what happens to zones, records and instances.
type gatherer struct{ z *Zones }

// gather follows zones, records and instances from now on. What it returns tell when every object that existed has been
// put into the Core.
func (g gatherer) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, object := range append(Objects(g.z.Records), &v1beta1.Bind9Instance{}) {
		has, err := controller.Follow(ctx, g.z.Cache, g.z.Objects, object, controller.Handler(g.put, g.drop))
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

func (g gatherer) put(before, after any) {
	now, ok := after.(client.Object)
	if !ok {
		return
	}
	old, _ := before.(client.Object)
	if old != nil && old.GetUID() != now.GetUID() {
		g.drop(old)
		old = nil
	}
	switch o := now.(type) {
	case *v1beta1.DNSZone:
		g.putZone(old, o)
	case *v1beta1.Bind9Instance:
		if was, ok := old.(*v1beta1.Bind9Instance); !ok || chosenDifferently(was, o) {
			g.z.allocate(func(a *allocating) { a.in(o.Namespace) })
			if ok {
				g.z.assigner.fleetChanged(was)
			}
			g.z.assigner.fleetChanged(o)
		}
	default:
		g.putRecord(old, now)
	}
}

func (g gatherer) drop(gone any) {
	switch o := gone.(type) {
	case *v1beta1.DNSZone:
		id := dialect.ZoneID(o.Namespace, o.Name)
		g.removeZone(id, nil)
		g.z.deliveries.Freeze(id, nil)
		st, unlock := g.z.state.Lock()
		delete(st.known, id)
		g.z.ceilings.Forget(id)
		g.z.past.Forget(id)
		unlock()
		g.z.deliveries.Sync(id)
	case *v1beta1.Bind9Instance:
		g.z.allocate(func(a *allocating) { a.in(o.Namespace) })
		g.z.assigner.fleetChanged(o)
	case client.Object:
		g.removeRecord(o)
	}
}

// chosenDifferently reports whether an instance may have other zones than before, or other glue.
func chosenDifferently(a, b *v1beta1.Bind9Instance) bool {
	return !reflect.DeepEqual(a.Labels, b.Labels) || !reflect.DeepEqual(a.Annotations, b.Annotations) ||
		a.Generation != b.Generation ||
		a.DeletionTimestamp.IsZero() != b.DeletionTimestamp.IsZero() || a.Status.ServiceAddress != b.Status.ServiceAddress ||
		!slices.Equal(a.Status.Addresses, b.Status.Addresses)
}

func (g gatherer) putZone(old client.Object, o *v1beta1.DNSZone) {
	id := dialect.ZoneID(o.Namespace, o.Name)
	deleting := !o.DeletionTimestamp.IsZero()
	g.z.deliveries.Freeze(id, delivery.FreezeOf(o))
	if old != nil && old.GetGeneration() == o.Generation && old.GetDeletionTimestamp().IsZero() != deleting {
		if slices.Contains(old.GetFinalizers(), v1beta1.ZoneFinalizer) &&
			!slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer) {
			(*zoneStore)(g.z).unheld(id)
			g.z.deliveries.Sync(id)
		}
		if old.GetAnnotations()[v1beta1.ReconcileTriggerAnnotation] != o.Annotations[v1beta1.ReconcileTriggerAnnotation] {
			g.z.serversOf(id).Audit(id)
		}
		if old.GetAnnotations()[zonefold.ApproveAnnotation] != o.Annotations[zonefold.ApproveAnnotation] {
			g.z.deliveries.Sync(id)
		}
		g.z.enqueue(id)
		return
	}
	if deleting {
		g.removeZone(id, o)
		g.z.deliveries.Sync(id)
		return
	}
	st, unlock := g.z.state.Lock()
	st.know(id).zone = o
	unlock()
	g.z.allocate(func(a *allocating) { a.zone(o) })
	g.arrange(o)
	g.z.deliveries.Sync(id)
}

// arrange hands a zone to the World, and what follows from it.
func (g gatherer) arrange(o *v1beta1.DNSZone) {
	id := dialect.ZoneID(o.Namespace, o.Name)
	st, unlock := g.z.state.Lock()
	defer unlock()
	st.know(id).zone = o
	moved := st.homes.PutZone(o)
	st.putAgain(id)
	st.move(moved)
}

// removeZone takes a zone out of the World: it is going, or gone if that is nil. Its records go where else they may.
func (g gatherer) removeZone(id zone.ID, going *v1beta1.DNSZone) {
	a, done := g.z.allocating.Lock()
	before, others := a.remove(id, going)
	done()
	g.z.wakeInstances(before.all()...)
	g.z.visitServers(id)
	g.z.revisit(others)
}

// remove is removeZone; it returns the instances that had the zone, and the zones that may have others now.
func (a *allocating) remove(id zone.ID, going *v1beta1.DNSZone) (before fleetOf, others []zone.ID) {
	st, unlock := a.z.state.Lock()
	defer unlock()
	if k := st.known[id]; k != nil {
		k.zone = nil
	}
	before = st.fleets[id]
	delete(st.fleets, id)
	others = st.rename(id)
	a.z.core.DeleteZone(id)
	if going != nil {
		st.move(st.homes.PutZone(going))
	} else {
		st.move(st.homes.DeleteZone(id))
	}
	return before, others
}

// putAgain hands a zone to the World as it is now. Whoever hands on what was made of the state has it meanwhile: else
// what was made first might come last.
func (st *state) putAgain(id zone.ID) {
	k := st.known[id]
	if k == nil || k.zone == nil {
		return
	}
	out := dialect.ConvertZone(k.zone, st.fleets[id].addresses)
	out.Warnings = append(out.Warnings, st.homes.Notes(id)...)
	st.z.core.PutZone(out, core.VersionOf(k.zone))
}

func (g gatherer) putRecord(old client.Object, o client.Object) {
	r, ok := dialect.RecordOf(o)
	if !ok {
		return
	}
	if !o.GetDeletionTimestamp().IsZero() {
		g.removeRecord(o)
		st, unlock := g.z.state.Lock()
		st.know(r.ID).record = r
		unlock()
		g.z.enqueue(r.ID)
		return
	}
	if old != nil && old.GetGeneration() == o.GetGeneration() && reflect.DeepEqual(old.GetLabels(), o.GetLabels()) {
		st, unlock := g.z.state.Lock()
		st.know(r.ID).record = r
		unlock()
		g.z.enqueue(r.ID)
		return
	}
	st, unlock := g.z.state.Lock()
	defer unlock()
	st.know(r.ID).record = r
	moved := st.homes.PutRecord(r)
	g.z.core.PutClaim(dialect.ConvertRecord(r, st.homes.Of(r.ID)), core.VersionOf(o))
	st.move(moved)
}

func (g gatherer) removeRecord(o client.Object) {
	r, ok := dialect.RecordOf(o)
	if !ok {
		return
	}
	st, unlock := g.z.state.Lock()
	defer unlock()
	st.left(r)
	st.move(st.homes.DeleteRecord(r.ID))
	delete(st.known, r.ID)
	g.z.core.DeleteClaim(r.ID)
}

// move hands on what follows from a change elsewhere.
func (st *state) move(m dialect.Moved) {
	for _, id := range m.Records {
		if k := st.known[id]; k != nil && k.record.Object != nil {
			st.z.core.PutClaim(dialect.ConvertRecord(k.record, st.homes.Of(id)), core.VersionOf(k.record.Object))
		}
	}
	for _, id := range m.Zones {
		st.putAgain(id)
	}
}
