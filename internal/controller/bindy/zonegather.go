package bindy

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// zoneObjects are what the half that is about DNS reads from the cache besides.
func (c *Config) zoneObjects() []client.Object {
	records := c.Records
	if records == nil {
		records = RecordKinds()
	}
	return append(slices.Clone(records), &v1beta1.DNSZone{})
}

// gather follows zones, records and instances from now on. What it returns tell when every object that existed has been
// put into the Core.
func (z *Zones) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, object := range append(z.b.zoneObjects(), &v1beta1.Bind9Instance{}) {
		has, err := controller.Follow(ctx, z.b.Cache, z.b.objects, object, controller.Handler(z.put, z.drop))
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
		z.mu.Lock()
		delete(z.known, id)
		z.ceilings.Forget(id)
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
	z.core.PutZone(out, controller.VersionOf(k.zone))
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
	z.core.PutClaim(dialect.ConvertRecord(r, z.homes.Of(r.ID)), controller.VersionOf(o))
	z.move(moved)
}

func (z *Zones) removeRecord(o client.Object) {
	r, ok := dialect.RecordOf(o)
	if !ok {
		return
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.move(z.homes.DeleteRecord(r.ID))
	delete(z.known, r.ID)
	z.core.DeleteClaim(r.ID)
}

// move hands on what follows from a change elsewhere. z.mu is held.
func (z *Zones) move(m dialect.Moved) {
	for _, id := range m.Records {
		if k := z.known[id]; k != nil && k.record.Object != nil {
			z.core.PutClaim(dialect.ConvertRecord(k.record, z.homes.Of(id)), controller.VersionOf(k.record.Object))
		}
	}
	for _, id := range m.Zones {
		z.putAgain(id)
	}
}

// A fleetOf is which instances have a zone.
type fleetOf struct {
	primaries, secondaries []client.ObjectKey
	idle                   []client.ObjectKey // those without pods: replicas is 0
	uids                   map[client.ObjectKey]string
	addresses              []netip.Addr // that name servers without any get
	clusters               []string
	problem                string             // why there are none
	refused                int                // that do not allow it
	barred                 []client.ObjectKey // primaries that may not sign it: they are of other namespaces
	signer                 signer
}

func (f fleetOf) all() []client.ObjectKey { return append(slices.Clone(f.primaries), f.secondaries...) }

func (f fleetOf) has(instance client.ObjectKey) bool {
	return slices.Contains(f.primaries, instance) || slices.Contains(f.secondaries, instance)
}

// allocate finds out anew which instances have which zones.
func (z *Zones) allocate() {
	z.allocateThose(func(*v1beta1.DNSZone) bool { return true }, func(assignment) bool { return true })
}

// allocateIn finds out anew which instances the zones have that may have instances of a namespace. Whatever happens to
// these is no concern of other zones.
func (z *Zones) allocateIn(namespace string) {
	z.allocateThose(func(o *v1beta1.DNSZone) bool { return dialect.SelectsIn(o, namespace) }, func(l assignment) bool {
		return slices.ContainsFunc(l.in, func(cluster types.NamespacedName) bool { return cluster.Namespace == namespace })
	})
}

func (z *Zones) allocateThose(concerns func(*v1beta1.DNSZone) bool, assigns func(assignment) bool) {
	z.allocating.Lock()
	defer z.allocating.Unlock()
	all, err := z.instances()
	z.mu.Lock()
	var zones []*v1beta1.DNSZone
	for _, k := range z.known {
		if k.zone != nil && concerns(k.zone) {
			zones = append(zones, k.zone)
		}
	}
	var assigned []zone.ID
	for id, l := range z.assignments {
		if assigns(l) {
			assigned = append(assigned, id)
		}
	}
	z.mu.Unlock()
	for _, o := range zones {
		if id := dialect.ZoneID(o.Namespace, o.Name); z.setFleet(id, fleetFor(o, all, err)) {
			z.mu.Lock()
			z.putAgain(id)
			z.mu.Unlock()
			z.deliveries.Sync(id)
		}
	}
	for _, id := range assigned {
		z.locateAssignment(id)
	}
}

// allocateZone finds out which instances have a zone.
func (z *Zones) allocateZone(o *v1beta1.DNSZone) {
	z.allocating.Lock()
	defer z.allocating.Unlock()
	all, err := z.instances()
	z.setFleet(dialect.ZoneID(o.Namespace, o.Name), fleetFor(o, all, err))
}

// settle notes which instances have a zone, and reports whether these are others than before.
func (z *Zones) setFleet(id zone.ID, fleet fleetOf) bool {
	z.mu.Lock()
	before := z.fleets[id]
	fleet = z.withSigner(id, fleet)
	if z.fleets[id] = fleet; reflect.DeepEqual(fleet, fleetOf{}) {
		delete(z.fleets, id)
	}
	called := z.names.of[id]
	others := z.rename(id)
	renamed := called != z.names.of[id]
	z.mu.Unlock()
	same := reflect.DeepEqual(before, fleet)
	if !same || renamed {
		z.revisit(others)
	}
	if same {
		return false
	}
	z.wakeInstances(append(before.all(), fleet.all()...)...)
	z.changed(id)
	return true
}

// instances are all that there are, from memory.
func (z *Zones) instances() ([]*v1beta1.Bind9Instance, error) {
	return z.b.listInstances(context.Background()) // it fails when there is no informer
}

func (b *Controller) listInstances(ctx context.Context) ([]*v1beta1.Bind9Instance, error) {
	var list v1beta1.Bind9InstanceList
	// They may say that they have thousands of zones, and are only looked at.
	if err := b.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("the instances cannot be listed: %w", err)
	}
	all := make([]*v1beta1.Bind9Instance, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all, nil
}

func fleetFor(o *v1beta1.DNSZone, all []*v1beta1.Bind9Instance, err error) fleetOf {
	var found dialect.Fleet
	if err == nil {
		found, err = dialect.FleetOf(o, all)
	}
	if err != nil {
		return fleetOf{problem: dialect.Sentence("%v.", err)}
	}
	out := fleetFrom(found.Instances, o.Spec.AddressTypes, found.May)
	if out.refused = len(found.Refused); len(found.Instances) == 0 {
		out.problem = dialect.NoFleet(o)
	}
	return out
}

// glueless warns of a zone none of whose servers has an address of the types that it wants.
func (f fleetOf) glueless(id zone.ID, types []v1beta1.AddressType) []zone.Note {
	if len(types) == 0 || len(f.addresses) > 0 || len(f.all()) == 0 {
		return nil
	}
	return []zone.Note{{Reason: v1beta1.ReasonNoAddress, Message: fmt.Sprintf(
		"None of the servers of %s has an address of the types %s, which its addressTypes want: name servers in the zone "+
			"that have no address here get none; see status.addresses of its Bind9Instances, or choose other types.", id,
		dialect.List(textsOf(types)))}}
}

func textsOf(types []v1beta1.AddressType) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = string(t)
	}
	return out
}
