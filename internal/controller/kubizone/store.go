package kubizone

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// store is the Controller as the controller.Store of its Zones.
type store Controller

func (s *store) k() *Controller { return (*Controller)(s) }

// Load implements controller.Store.
func (s *store) Load(id zone.ID) (delivery.Stored, bool) {
	z, err := zoneAt(context.Background(), s.Client, id)
	if err != nil {
		return delivery.Stored{}, false
	}
	label := labelled(z)
	out := delivery.Stored{
		UID: z.UID, Created: z.CreationTimestamp.Time, Deleting: !z.DeletionTimestamp.IsZero(),
		Leave: leaves(z), Content: label.ID, Delivered: deliveredOf(z),
		Approved:  delivery.Approvals(z.Annotations[zonefold.ApproveAnnotation]),
		Written:   func() rr.Sets { return s.ledgers.loadLedger(id, z) },
		Published: func() (zone.Snapshot, bool) { return s.ledgers.published(id, z) },
	}
	if out.Deleting {
		out.Deleted = z.DeletionTimestamp.Time
	}
	if len(z.Status.Entries) > 0 {
		out.Name, _ = dnsname.Parse(z.Status.Entries[0].FQDN)
	}
	if z.Status.Serial != nil {
		out.Serial = uint32(*z.Status.Serial)
	}
	if z.Status.SerialCeiling != nil {
		out.Ceiling = uint32(*z.Status.SerialCeiling)
	}
	out.Refs = refs(z)
	m, unlock := s.memory.Lock()
	defer unlock()
	state := m.zoneState(id)
	if state.holding {
		out.Delivered = state.held
	}
	out.Ceiling = s.ceilings.Begin(id, out.Ceiling)
	return out, true
}

// leaves reports whether somebody has a Zone go without being withdrawn.
func leaves(z *v1alpha1.Zone) bool {
	_, is := z.Annotations[zonefold.LeaveAnnotation]
	return is
}

// refs are the Backends that a Zone names.
func refs(z *v1alpha1.Zone) []string {
	var out []string
	for _, ref := range z.Spec.BackendRefs {
		out = append(out, ref.Name)
	}
	return out
}

// deliveredOf reads where an earlier run has delivered a Zone. Without the finalizer
// nothing has been published since.
func deliveredOf(z *v1alpha1.Zone) []delivery.Delivered {
	var out []delivery.Delivered
	if !finalized(z) {
		return nil
	}
	for _, b := range z.Status.Backends {
		if name, err := dnsname.Parse(b.FQDN); err == nil {
			out = append(out, delivery.Delivered{Place: b.Name, Zone: name})
		}
	}
	return out
}

// Hold implements controller.Store. What it reads has to have all that was written before: a finalizer that the cache
// does not show yet would stay, and one that it still shows would be missing.
func (s *store) Hold(ctx context.Context, id zone.ID, where []delivery.Delivered) error {
	k := s.k()
	z, err := zoneAt(ctx, k.Client, id)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := k.objects.Behind(z); err != nil {
		return err
	}
	now := object(z)
	if missing := slices.ContainsFunc(where, func(w delivery.Delivered) bool {
		return !slices.Contains(deliveredOf(z), w)
	}); missing {
		want := z.Status
		tellPlaces(&want, withAll(k.Deliveries.ZoneOutcome(id).Places, where))
		got, err := k.objects.ChangeStatus(ctx, z, z.Status, want)
		if err != nil {
			return err
		}
		now = got
	}
	if len(where) > 0 && z.DeletionTimestamp.IsZero() { // a finalizer cannot come any more when it is being deleted
		if err := k.finalize(ctx, now, true); err != nil {
			return err
		}
	}
	m, unlock := k.memory.Lock()
	state := m.zoneState(id)
	state.held, state.holding = where, true
	unlock()
	if len(where) > 0 {
		return nil
	}
	if !z.DeletionTimestamp.IsZero() { // nobody would free them if the operator ended as soon as the Zone is gone
		if err := k.ledgers.deleteSlices(ctx, id, z, func(*zonefold.ZoneSlice) bool { return true }); err != nil {
			return err
		}
	}
	return client.IgnoreNotFound(k.finalize(ctx, now, false))
}

// withAll adds where a Zone is to be held to what is told of its Backends. The next status tells no more, so that it
// does not come between this one and the finalizer.
func withAll(places []delivery.PlaceOutcome, where []delivery.Delivered) []delivery.PlaceOutcome {
	for _, w := range where {
		if !slices.ContainsFunc(places, func(p delivery.PlaceOutcome) bool { return p.Delivered == w }) {
			places = append(places, delivery.PlaceOutcome{Delivered: w, Reason: controller.ReasonPending})
		}
	}
	return places
}

// finalized reports whether a Zone stays when it is deleted.
func finalized(z *v1alpha1.Zone) bool { return slices.Contains(z.Finalizers, v1alpha1.Finalizer) }

// finalize puts the finalizer on a Zone, or takes it off.
func (k *Controller) finalize(ctx context.Context, z object, on bool) error {
	_, err := k.objects.SetFinalizer(ctx, z, v1alpha1.Finalizer, on)
	return err
}

// Record implements controller.Store.
func (s *store) Record(ctx context.Context, id zone.ID, sets []rr.Set) error {
	z, err := zoneAt(ctx, s.Client, id)
	if err != nil {
		return err
	}
	return s.ledgers.record(ctx, id, z, sets)
}

// zoneAt reads a Zone.
func zoneAt(ctx context.Context, from client.Reader, id zone.ID) (*v1alpha1.Zone, error) {
	var z v1alpha1.Zone
	if err := from.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &z); err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	return &z, nil
}
