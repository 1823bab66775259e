package kubizone

import (
	"context"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// applySlice writes a slice, unless the cluster has it like that.
func (b *ledgers) applySlice(ctx context.Context, id zone.ID, z *v1alpha1.Zone, slice *zonefold.ZoneSlice) error {
	slice.Namespace, slice.Zone = z.Namespace, z.Name
	var have zonefold.ZoneSlice
	err := b.client.Get(ctx, client.ObjectKeyFromObject(slice), &have)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading ZoneSlice %s/%s: %w", slice.Namespace, slice.Name, err)
	}
	written := metav1.IsControlledBy(&have, z) && have.Text == slice.Text &&
		equality.Semantic.DeepEqual(have.Entries, slice.Entries)
	if written && b.sliceCurrent(id, &have) {
		b.sliceWritten(id, slice.Name, objects.Version(&have))
		return nil
	}
	slice.TypeMeta = metav1.TypeMeta{APIVersion: zonefold.GroupVersion.String(), Kind: "ZoneSlice"}
	slice.Labels = map[string]string{zonefold.ZoneLabel: objects.LabelValue(z.Name)}
	slice.Finalizers = []string{v1alpha1.Finalizer} // the end of a namespace comes before the withdrawal
	owner := true
	slice.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Zone", Name: z.Name, UID: z.UID, Controller: &owner,
		BlockOwnerDeletion: &owner,
	}}
	b.sliceWriting(id, slice.Name)
	got, err := b.objects.Apply(ctx, slice, "content", nil)
	if err != nil {
		b.sliceWritten(id, slice.Name, objects.Version(&have))
		return err
	}
	b.sliceWritten(id, got.GetName(), objects.Version(got))
	return nil
}

// writeSlices writes the slices that changed and returns how many there are, and how many entries of how many octets
// they hold. What was written counts for as long as the status does: one that counts none has them deleted.
func (k *Controller) writeSlices(ctx context.Context, id zone.ID, z *v1alpha1.Zone,
	s zone.Snapshot) (parts int32, count, size int, err error) {
	n := sliceCount(s.Sets.Len(), int(z.Status.Slices))
	m, unlock := k.memory.Lock()
	state := m.zoneState(id)
	if state.parts == nil || len(state.parts.parts) != n || z.Status.Slices == 0 {
		state.parts = divide(state.content.Sets, n)
	}
	if state.content.Hash != s.Hash {
		unlock()
		return 0, 0, 0, &controller.Later{} // it has changed since
	}
	division := state.parts.take()
	unlock()
	count = 1
	for i, part := range division.parts {
		count += part.count
		if !part.dirty {
			continue
		}
		var entries []v1alpha1.Entry
		for _, key := range part.keys {
			if set, ok := s.Sets.Get(key); ok {
				entries = entriesOf(entries, set)
			}
		}
		slice := &zonefold.ZoneSlice{
			ObjectMeta: metav1.ObjectMeta{Name: objects.PartName(z, "slice", i)}, Index: int32(i),
			Entries: sliceEntries(within(entries, maxStatus)),
		}
		if err := k.ledgers.applySlice(ctx, id, z, slice); err != nil {
			_, unlock := k.memory.Lock()
			if state.parts != nil { // else all is divided anew
				state.parts.spoil()
			}
			unlock()
			return 0, 0, 0, err
		}
		size += 100 * len(entries)
	}
	return int32(n), count, size, nil
}

// dropStrays deletes the slices that the status of a Zone does not count, if there may be some.
func (b *ledgers) dropStrays(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	l := b.of(id)
	if !l.setStrays(false) {
		return nil
	}
	err := b.deleteSlices(ctx, id, z, func(s *zonefold.ZoneSlice) bool { return stray(z, s) })
	if err != nil {
		l.setStrays(true)
	}
	return err
}

// stray reports whether the status of a Zone does not count a slice.
func stray(z *v1alpha1.Zone, s *zonefold.ZoneSlice) bool {
	return !s.Journal && (int(s.Index) >= int(z.Status.Slices) || s.Name != objects.PartName(z, "slice", int(s.Index)))
}

// deleteSlices deletes those slices of a Zone that nobody needs any more.
func (b *ledgers) deleteSlices(ctx context.Context, id zone.ID, z *v1alpha1.Zone,
	needless func(*zonefold.ZoneSlice) bool) error {
	list, err := b.slicesOf(ctx, z)
	for i := range list {
		if s := &list[i]; needless(s) {
			if err := b.deleteSlice(ctx, id, s); err != nil {
				return err
			}
		}
	}
	return err
}

// deleteSlice deletes a slice that nobody needs any more.
func (b *ledgers) deleteSlice(ctx context.Context, id zone.ID, s *zonefold.ZoneSlice) error {
	b.sliceWritten(id, s.Name, dropped)
	err := b.freeSlice(ctx, s)
	if err == nil {
		err = client.IgnoreNotFound(b.objects.Delete(ctx, s))
	}
	if err != nil {
		b.sliceWritten(id, s.Name, objects.Version(s))
	}
	return err
}

// dropped stands for the version of a slice that we have deleted: nothing that the cache
// still says about it is news.
const dropped = math.MaxUint64 - 1

// slicesOf lists the slices that a Zone owns, from the cache.
func (b *ledgers) slicesOf(ctx context.Context, z *v1alpha1.Zone) ([]zonefold.ZoneSlice, error) {
	list, err := b.slicesNamed(ctx, dialect.ZoneID(z.Namespace, z.Name))
	return slices.DeleteFunc(list, func(s zonefold.ZoneSlice) bool { return !metav1.IsControlledBy(&s, z) }), err
}

// slicesNamed lists the slices of Zones of one name, also of one that is gone, from the cache.
func (b *ledgers) slicesNamed(ctx context.Context, id zone.ID) ([]zonefold.ZoneSlice, error) {
	var list zonefold.ZoneSliceList
	err := b.client.List(ctx, &list, client.InNamespace(id.Namespace),
		client.MatchingLabels{zonefold.ZoneLabel: objects.LabelValue(id.Name)})
	if err != nil {
		return nil, fmt.Errorf("listing the ZoneSlices of Zone %s/%s: %w", id.Namespace, id.Name, err)
	}
	return list.Items, nil
}

// sliceWriting has the cache's news of a slice taken for our own until sliceWritten
// notes its version: the watch may be faster than the answer. sliceCurrent reports
// whether the cache has caught up.
func (b *ledgers) sliceWriting(id zone.ID, name string) {
	b.sliceWritten(id, name, math.MaxUint64)
}

func (b *ledgers) sliceWritten(id zone.ID, name string, version uint64) {
	m, unlock := b.known.Lock()
	defer unlock()
	m.zone(id).slices[name] = version
}

func (b *ledgers) sliceCurrent(id zone.ID, s *zonefold.ZoneSlice) bool {
	m, unlock := b.known.Lock()
	defer unlock()
	return objects.Version(s) >= m.zone(id).slices[s.Name]
}

// mayDiffer reports whether the slices of a Zone may not be as they were written.
func (b *ledgers) mayDiffer(id zone.ID, z *v1alpha1.Zone) bool {
	m, unlock := b.known.Lock()
	defer unlock()
	s := m.zone(id)
	return s.foreign || !s.looked && z.Status.Slices > 0
}

// compare notes that all slices of a Zone are going to be compared if somebody else wrote to one, which it reports. The
// error is an *objects.Contested.
func (b *ledgers) compare(id zone.ID, z *v1alpha1.Zone) (foreign bool, err error) {
	m, unlock := b.known.Lock()
	defer unlock()
	s := m.zone(id)
	if s.foreign {
		if err := b.objects.Restores(z, "slices"); err != nil {
			return true, err
		}
	}
	foreign, s.foreign, s.looked = s.foreign, false, true
	return foreign, nil
}

// uncompared notes that they were not.
func (b *ledgers) uncompared(id zone.ID) {
	m, unlock := b.known.Lock()
	defer unlock()
	m.zone(id).foreign = true
}

// sawStray has a slice deleted that comes from somebody else, such as a leader whose term is over, and that the status
// of its Zone does not count.
func (b *ledgers) sawStray(id zone.ID, s *zonefold.ZoneSlice) {
	z, err := zoneAt(context.Background(), b.client, id)
	if err == nil && metav1.IsControlledBy(s, z) && stray(z, s) {
		b.of(id).setStrays(true)
		b.look(id)
	}
}

// sawSlice has the slices of a Zone compared whose slice somebody else has touched.
func (b *ledgers) sawSlice(s *zonefold.ZoneSlice, gone bool) {
	id := dialect.ZoneID(s.Namespace, s.Zone)
	m, unlock := b.known.Lock()
	state := m.zones[id]
	if state == nil {
		unlock()
		return
	}
	known := state.slices[s.Name]
	if known == dropped && gone {
		delete(state.slices, s.Name)
	}
	touched := known != dropped && known != 0 && (gone || objects.Version(s) > known) || known == 0 && s.Journal && !gone
	if touched && !s.Journal {
		delete(state.slices, s.Name)
		state.foreign = true
	}
	unlock()
	if known == 0 && !s.Journal && !gone {
		b.sawStray(id, s)
	}
	if !touched {
		return
	}
	if s.Journal && b.sawPage(id, s, gone) {
		_, unlock := b.known.Lock()
		state.torn = true
		unlock()
	}
	b.look(id)
}
