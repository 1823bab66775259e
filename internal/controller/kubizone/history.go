package kubizone

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// What the history of one Zone may cost.
const (
	// moment is how long changes that follow each other are told as one, which takes the place of the one before.
	moment = 10 * time.Second
	// smallDelta is how long a delta may be that is written again to take more, in octets.
	smallDelta = 64 << 10
	// maxDelta is how long one may be, and maxHistory how long all of a Zone: an object of etcd has 1.5 MiB at most.
	maxDelta, maxHistory = 768 << 10, 4 << 20
	// maxObjects is how many objects are named of a change, maxCounted how many are counted.
	maxObjects, maxCounted = 20, 1000
)

// A history is what is known of the revisions of a Zone. Controller.mu guards it; but for note and touch only the one
// who writes the Zone changes it.
type history struct {
	loaded bool
	kept   []revision // oldest first

	base    zone.Snapshot // that the newest revision led to, or that was written down before
	serial  uint32        // of base; 0: there was nothing
	changes changes       // since base
	last    *extensible   // nil: the newest revision does not take more
}

// A revision is one that is stored.
type revision struct {
	name string
	uid  types.UID
	size int
}

// changes are what has happened to a content, and by which objects.
type changes struct {
	keys    map[rr.Key]struct{}
	unknown bool             // keys are not all
	objects map[zone.ID]bool // that have changed; whether they were deleted
}

// extensible is a revision that may still take more: another takes its place that begins where it did.
type extensible struct {
	began   time.Time
	base    zone.Snapshot
	serial  uint32
	changes changes
}

// note takes in what has changed in the content.
func (h *history) note(delta zone.ZoneDelta) {
	if delta.Fresh || h.changes.unknown {
		h.changes.keys, h.changes.unknown = nil, true
		return
	}
	if h.changes.keys == nil {
		h.changes.keys = map[rr.Key]struct{}{}
	}
	for _, key := range delta.Changed {
		h.changes.keys[key] = struct{}{}
	}
}

// touch takes in that an object has changed.
func (h *history) touch(object zone.ID, deleted bool) {
	if h.changes.objects == nil {
		h.changes.objects = map[zone.ID]bool{}
	}
	if _, known := h.changes.objects[object]; known || len(h.changes.objects) < maxCounted {
		h.changes.objects[object] = deleted
	}
}

// and returns what has happened in both.
func (c changes) and(later changes) changes {
	out := changes{unknown: c.unknown || later.unknown, objects: maps.Clone(c.objects)}
	if out.objects == nil {
		out.objects = map[zone.ID]bool{}
	}
	maps.Copy(out.objects, later.objects)
	if !out.unknown {
		out.keys = map[rr.Key]struct{}{}
		maps.Copy(out.keys, c.keys)
		maps.Copy(out.keys, later.keys)
	}
	return out
}

// list returns the keys as zone.EditsBetween takes them.
func (c changes) list() []rr.Key {
	if c.unknown {
		return nil
	}
	return append([]rr.Key{}, slices.Collect(maps.Keys(c.keys))...)
}

// left notes the Zone of a Record that is deleted, which the World does not know any more when it has settled.
func (k *Controller) left(r *v1alpha1.Record) {
	parent := r.Labels[v1alpha1.ParentZoneLabel]
	if k.History == 0 || parent == "" {
		return
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	m.gone[dialect.RecordID(r.Namespace, r.Name)] = parent
}

// noteObjects notes which objects one step of the World was about, by the Zones that they are in.
func (k *Controller) noteObjects(s core.Settlement) {
	if k.History == 0 {
		return
	}
	homes := map[string]zone.ID{}
	for _, delta := range s.Delta.Zones {
		homes[ParentLabel(delta.ID)] = delta.ID
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	first := !m.settledOnce
	m.settledOnce = true
	for _, o := range s.Inputs {
		label, left := m.gone[o.ID]
		delete(m.gone, o.ID)
		v, ok := s.View.Verdict(o.ID)
		home := v.Zone
		switch {
		case first:
			continue
		case o.ID.Kind == zone.KindZone:
			home = o.ID
		case !ok && left:
			home = homes[label]
		}
		if !home.IsZero() && (ok || left) {
			m.zoneState(home).history.touch(o.ID, !ok)
		}
	}
}

// revise stores how the content of a Zone has changed that is about to be written down: nothing that was written down
// lacks in the history then, whatever crashes. Without it a Zone goes on.
func (k *Controller) revise(ctx context.Context, id zone.ID, z *v1alpha1.Zone, now zone.Snapshot, out outcome) {
	if err := k.loadHistory(ctx, id, z); err != nil {
		k.Log.Warn("the history of a Zone cannot be read", "zone", id.String(), "error", err)
		return
	}
	m, unlock := k.memory.Lock()
	state := m.zoneState(id)
	h := &state.history
	since, from := h.changes, extensible{k.Clock.Now(), h.base, h.serial, changes{}}
	h.changes = changes{}
	if state.content.Hash != now.Hash || len(zone.EditsBetween(state.content, now, []rr.Key{})) > 0 {
		h.changes = changes{}.and(changes{keys: since.keys, unknown: since.unknown}) // some of it came after that content
	}
	back := out.Frozen != nil && out.Frozen.At != 0 && out.Frozen.Refusal == nil
	joins := h.last != nil && len(h.kept) > 0 && !back && from.began.Sub(h.last.began) < moment
	if joins {
		from = *h.last
	}
	unlock()
	from.changes = from.changes.and(since)
	r := k.revisionOf(ctx, z, from, now)
	if back {
		r.Spec.RolledBackTo = int64(out.Frozen.At)
	}
	if err := k.keep(ctx, id, r, joins); err != nil {
		k.Log.Warn("a change of a Zone is not in its history yet", "zone", id.String(), "error", err)
		_, unlock := k.memory.Lock()
		h.changes = since.and(h.changes)
		unlock()
		return
	}
	m, unlock = k.memory.Lock()
	h.base, h.serial, h.last = now, now.SOA.Serial, nil
	h.base.SOA.Serial = 0
	if !back && !r.Spec.LeftOut && len(r.Spec.Delta) <= smallDelta && from.serial != 0 {
		h.last = &from
	}
	unlock()
	k.prune(ctx, id, z)
}

// loadHistory reads, once a term, which revisions there are, and takes what is written down for the content before.
func (k *Controller) loadHistory(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	m, unlock := k.memory.Lock()
	loaded := m.zoneState(id).history.loaded
	unlock()
	if loaded {
		return nil
	}
	list, err := k.revisions(ctx, z)
	if err != nil {
		return err
	}
	base, known := k.published(id, z)
	m, unlock = k.memory.Lock()
	defer unlock()
	h := &m.zoneState(id).history
	h.loaded, h.kept = true, nil
	for i := range list {
		h.kept = append(h.kept, revision{list[i].Name, list[i].UID, len(list[i].Spec.Delta)})
	}
	if known {
		h.base, h.serial = base, labelled(z).Serial
	}
	h.changes.keys, h.changes.unknown = nil, true
	return nil
}

// revisions returns those of a Zone, oldest first.
func (k *Controller) revisions(ctx context.Context, z *v1alpha1.Zone) ([]zonefold.ZoneRevision, error) {
	var list zonefold.ZoneRevisionList
	err := k.Live.List(ctx, &list, client.InNamespace(z.Namespace),
		client.MatchingLabels{zonefold.ZoneLabel: labelValue(z.Name)})
	if err != nil {
		return nil, fmt.Errorf("listing the ZoneRevisions of Zone %s/%s: %w", z.Namespace, z.Name, err)
	}
	ours := slices.DeleteFunc(list.Items, func(r zonefold.ZoneRevision) bool { return !metav1.IsControlledBy(&r, z) })
	slices.SortFunc(ours, dialect.CompareRevisions)
	return ours, nil
}

// revisionOf returns the revision that led from one content to another.
func (k *Controller) revisionOf(ctx context.Context, z *v1alpha1.Zone, from extensible,
	now zone.Snapshot) *zonefold.ZoneRevision {
	owner := true
	r := &zonefold.ZoneRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: z.Namespace, Name: sliceName(z, "revision", int(now.SOA.Serial)),
			Labels: map[string]string{zonefold.ZoneLabel: labelValue(z.Name)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Zone", Name: z.Name,
				UID: z.UID, Controller: &owner}},
		},
		Spec: zonefold.ZoneRevisionSpec{
			Zone: z.Name, FQDN: now.Name.String(), Time: metav1.NewTime(k.Clock.Now().Truncate(time.Second)),
			Serial: int64(now.SOA.Serial), Hash: now.Hash, PreviousSerial: int64(from.serial), PreviousHash: from.base.Hash,
		},
	}
	edits := zone.EditsBetween(from.base, now, from.changes.list())
	for _, e := range edits {
		switch {
		case len(e.Old.Data) == 0:
			r.Spec.Added++
		case len(e.New.Data) == 0:
			r.Spec.Deleted++
		default:
			r.Spec.Changed++
		}
	}
	r.Spec.LeftOut = from.serial == 0 || from.base.Name != now.Name
	if !r.Spec.LeftOut {
		r.Spec.Delta = zone.EditText(edits)
		if len(r.Spec.Delta) > maxDelta {
			r.Spec.Delta, r.Spec.LeftOut = "", true
		}
	}
	r.Spec.ObjectCount = int32(len(from.changes.objects))
	r.Spec.Objects = k.culprits(ctx, from.changes.objects)
	return r
}

// culprits returns some objects, and who has written to them last.
func (k *Controller) culprits(ctx context.Context, changed map[zone.ID]bool) []zonefold.RevisionObject {
	ids := slices.SortedFunc(maps.Keys(changed), func(a, b zone.ID) int { return strings.Compare(a.String(), b.String()) })
	var out []zonefold.RevisionObject
	for _, id := range ids[:min(len(ids), maxObjects)] {
		o := zonefold.RevisionObject{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, Deleted: changed[id]}
		if !o.Deleted && (id.Kind == zone.KindRecord || id.Kind == zone.KindZone) {
			o.Manager = k.managerOf(ctx, id)
		}
		out = append(out, o)
	}
	return out
}

// managerOf returns who has written to an object last but the operator, "" if that is not known.
func (k *Controller) managerOf(ctx context.Context, id zone.ID) string {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(id.Kind))
	if err := k.Live.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, o); err != nil {
		return "" // it is gone, or the API server has other things to do
	}
	last := metav1.ManagedFieldsEntry{}
	for _, m := range o.ManagedFields {
		later := last.Time == nil || m.Time != nil && last.Time.Before(m.Time)
		if m.Subresource == "" && m.Manager != objects.Manager && later {
			last = m
		}
	}
	return last.Manager
}

// keep stores a revision; one that takes the place of the newest goes before that is deleted. It stores nothing if
// nothing has changed.
func (k *Controller) keep(ctx context.Context, id zone.ID, r *zonefold.ZoneRevision, joins bool) error {
	nothing := r.Spec.Added+r.Spec.Changed+r.Spec.Deleted == 0 && r.Spec.PreviousSerial != 0
	if nothing && !joins {
		return nil
	}
	if !nothing {
		if err := k.objects.Create(ctx, r); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		k.objects.Forget(r)
	}
	m, unlock := k.memory.Lock()
	h := &m.zoneState(id).history
	var replaced revision
	if joins && len(h.kept) > 0 {
		replaced = h.kept[len(h.kept)-1]
		h.kept = h.kept[:len(h.kept)-1]
	}
	if !nothing {
		h.kept = append(h.kept, revision{r.Name, r.UID, len(r.Spec.Delta)})
	}
	unlock()
	if replaced.name != "" && replaced.name != r.Name {
		k.forgetRevision(ctx, r.Namespace, replaced)
	}
	return nil
}

// prune deletes the oldest revisions beyond what the history may have.
func (k *Controller) prune(ctx context.Context, id zone.ID, z *v1alpha1.Zone) {
	m, unlock := k.memory.Lock()
	h := &m.zoneState(id).history
	size, first := 0, len(h.kept)
	for first > 0 && len(h.kept)-first < k.History && size+h.kept[first-1].size <= maxHistory {
		first--
		size += h.kept[first].size
	}
	old := slices.Clone(h.kept[:first])
	h.kept = slices.Clone(h.kept[first:])
	unlock()
	for _, r := range old {
		k.forgetRevision(ctx, z.Namespace, r)
	}
}

// forgetRevision deletes a revision. One that stays is deleted after another start.
func (k *Controller) forgetRevision(ctx context.Context, namespace string, r revision) {
	o := &zonefold.ZoneRevision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: r.name, UID: r.uid}}
	if err := k.objects.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
		k.Log.Warn("a ZoneRevision is not deleted", "revision", namespace+"/"+r.name, "error", err)
	}
}

// earlier is the controller.Earlier of Zones.
func (k *Controller) earlier(ctx context.Context, now zone.Snapshot, serial uint32) (then zone.Snapshot, refusal,
	err error) {
	z, err := k.zone(ctx, now.ID)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if z.Status.Hash != now.Hash { // the history ends with what is written down
		return zone.Snapshot{}, nil, &controller.Later{After: grace / 8}
	}
	list, err := k.revisions(ctx, z)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if n := len(list); n > 0 && list[n-1].Spec.RolledBackTo == int64(serial) && list[n-1].Spec.Hash == now.Hash {
		return now, nil, nil // before another start
	}
	then, refusal = zone.Earlier(now, dialect.Revisions(list), serial)
	return then, refusal, nil
}
