package kubizone

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// keeps reports whether a slice stays when somebody deletes it: as long as its Zone does, to be withdrawn from servers
// by what the slice says. z is nil if no Zone has its name.
func keeps(z *v1alpha1.Zone, s *zonefold.ZoneSlice) bool {
	return z != nil && metav1.IsControlledBy(s, z) && finalized(z)
}

func (b *ledgers) putSlice(old, s *zonefold.ZoneSlice) {
	b.sawSlice(s, false)
	if s.DeletionTimestamp.IsZero() {
		return
	}
	id := dialect.ZoneID(s.Namespace, s.Zone)
	b.setLeaving(id, true)
	b.look(id)
	if old == nil || !old.DeletionTimestamp.IsZero() {
		return
	}
	if z, err := zoneAt(context.Background(), b.client, id); err == nil && keeps(z, s) {
		b.events.Eventf(s, z, "Normal", "Kept", "Delete", "%s", controller.Note(fmt.Sprintf(
			"Zone %s needs it to know which records on its servers are its own; it stays until the Zone is withdrawn", z.Name)))
	}
}

func (b *ledgers) dropSlice(s *zonefold.ZoneSlice) { b.sawSlice(s, true) }

// setLeaving notes whether slices of a Zone may wait to be let go, and returns what was noted before.
func (b *ledgers) setLeaving(id zone.ID, is bool) (was bool) {
	m, unlock := b.known.Lock()
	defer unlock()
	was = m.leaving[id]
	if delete(m.leaving, id); !is {
		return was
	}
	if m.leaving == nil {
		m.leaving = map[zone.ID]bool{}
	}
	m.leaving[id] = true
	return was
}

// freeSlices lets go of the slices that are being deleted, unless their Zone keeps them. z is nil if no Zone has the
// name any more.
func (b *ledgers) freeSlices(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	if !b.setLeaving(id, false) {
		return nil
	}
	list, err := b.slicesNamed(ctx, id)
	for i := range list {
		s := &list[i]
		if s.DeletionTimestamp.IsZero() || !slices.Contains(s.Finalizers, v1alpha1.Finalizer) {
			continue
		}
		if keeps(z, s) {
			b.setLeaving(id, true)
		} else if err = b.freeSlice(ctx, s); err != nil {
			break
		}
	}
	if err != nil {
		b.setLeaving(id, true)
	}
	return err
}

// freeSlice takes the finalizer off a slice as it is now: the cache may not have what we wrote last.
func (b *ledgers) freeSlice(ctx context.Context, s *zonefold.ZoneSlice) error {
	now := &metav1.PartialObjectMetadata{}
	now.SetGroupVersionKind(zonefold.GroupVersion.WithKind("ZoneSlice"))
	if err := b.live.Get(ctx, client.ObjectKeyFromObject(s), now); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading ZoneSlice %s/%s: %w", s.Namespace, s.Name, err)
	}
	if s.UID != "" && s.UID != now.UID {
		return nil // it is gone
	}
	_, err := b.objects.SetFinalizer(ctx, now, v1alpha1.Finalizer, false)
	return client.IgnoreNotFound(err)
}
