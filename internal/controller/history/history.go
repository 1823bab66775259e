// Package history keeps what was published of zones, as ZoneRevisions that their objects own, and finds an earlier
// content again. Dialects tell it what changes, and of which objects that came.
package history

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/dialect/revisions"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// What the history of one zone may cost.
const (
	// moment is how long changes that follow each other are told as one, which takes the place of the one before.
	moment = 10 * time.Second
	// smallDelta is how long a delta may be that is written again to take more, in octets.
	smallDelta = 64 << 10
	// maxDelta is how long one may be, and maxHistory how long all of a zone: an object of etcd has 1.5 MiB at most.
	maxDelta, maxHistory = 768 << 10, 4 << 20
	// maxObjects is how many objects are named of a change, maxCounted how many are counted.
	maxObjects, maxCounted = 20, 1000
)

// Config is what a Keeper needs.
type Config struct {
	Keep    int           // revisions of a zone; 0: there is no history
	Live    client.Reader // asks the API server
	Objects *objects.Writer
	Clock   func() time.Time
	Log     *slog.Logger
	// KindOf returns what an object that a change came of is in the API; false: nobody is asked who wrote to it.
	KindOf func(zone.ID) (schema.GroupVersionKind, bool)
}

// A Keeper keeps the histories of the zones of one dialect.
type Keeper struct {
	Config
	pasts guarded.Value[pasts]
}

// New returns a Keeper that knows of no zone yet.
func New(c Config) *Keeper { return &Keeper{Config: c} }

// Keeps reports whether there is a history at all.
func (k *Keeper) Keeps() bool { return k.Keep > 0 }

// An Owner is a zone whose history is told.
type Owner struct {
	ID     zone.ID
	Object client.Object
	Kind   schema.GroupVersionKind
	// Base returns what is written down of the zone, with its serial, before this run has written anything; false: that is
	// not known.
	Base func() (zone.Snapshot, uint32, bool)
	// Newest returns the content that the zone has by now, of which Note was told or is about to be.
	Newest func() zone.Snapshot
}

// pasts are those of all zones.
type pasts struct{ zones map[zone.ID]*past }

// of returns what is known of a zone.
func (p *pasts) of(id zone.ID) *past {
	if p.zones == nil {
		p.zones = map[zone.ID]*past{}
	}
	if p.zones[id] == nil {
		p.zones[id] = &past{}
	}
	return p.zones[id]
}

// Note takes in what has changed in the content of a zone.
func (k *Keeper) Note(delta zone.ZoneDelta) {
	if k.Keep == 0 {
		return
	}
	p, unlock := k.pasts.Lock()
	defer unlock()
	p.of(delta.ID).note(delta)
}

// Touch takes in that an object has changed that is in a zone.
func (k *Keeper) Touch(home, object zone.ID, deleted bool) {
	p, unlock := k.pasts.Lock()
	defer unlock()
	p.of(home).touch(object, deleted)
}

// Written says what is written down of a zone before this run has written anything, for who cannot read it from there.
func (k *Keeper) Written(id zone.ID, content zone.Snapshot) {
	p, unlock := k.pasts.Lock()
	defer unlock()
	if h := p.of(id); !h.loaded {
		h.base, h.serial = content, content.SOA.Serial
		h.base.SOA.Serial = 0
	}
}

// Forget forgets a zone that is gone.
func (k *Keeper) Forget(id zone.ID) {
	p, unlock := k.pasts.Lock()
	defer unlock()
	delete(p.zones, id)
}

// A past is what is known of the revisions of a zone. But for note and touch, only the one who writes the zone
// changes it.
type past struct {
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
func (h *past) note(delta zone.ZoneDelta) {
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
func (h *past) touch(object zone.ID, deleted bool) {
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

// list returns the keys as diff.Between takes them.
func (c changes) list() []rr.Key {
	if c.unknown {
		return nil
	}
	return append([]rr.Key{}, slices.Collect(maps.Keys(c.keys))...)
}

// Revise stores how the content of a zone has changed that is about to be written down: nothing that was written down
// lacks in the history then, whatever crashes. Back is the serial that somebody went back to; 0: nobody has. Without a
// history a zone goes on.
func (k *Keeper) Revise(ctx context.Context, o Owner, now zone.Snapshot, back uint32) {
	if err := k.load(ctx, o); err != nil {
		k.Log.Warn("the history of a zone cannot be read", "zone", o.ID.String(), "error", err)
		return
	}
	p, unlock := k.pasts.Lock()
	h := p.of(o.ID)
	since, from := h.changes, extensible{k.Clock(), h.base, h.serial, changes{}}
	h.changes = changes{}
	joins := h.last != nil && len(h.kept) > 0 && back == 0 && from.began.Sub(h.last.began) < moment
	if joins {
		from = *h.last
	}
	unlock()
	if newest := o.Newest(); newest.Hash != now.Hash || len(diff.Between(newest, now, []rr.Key{})) > 0 {
		_, unlock := k.pasts.Lock()
		h.changes = h.changes.and(changes{keys: since.keys, unknown: since.unknown}) // some of it came after that content
		unlock()
	}
	from.changes = from.changes.and(since)
	r := k.revisionOf(ctx, o, from, now)
	r.Spec.RolledBackTo = int64(back)
	if err := k.keep(ctx, o.ID, r, joins); err != nil {
		k.Log.Warn("a change of a zone is not in its history yet", "zone", o.ID.String(), "error", err)
		_, unlock := k.pasts.Lock()
		h.changes = since.and(h.changes)
		unlock()
		return
	}
	_, unlock = k.pasts.Lock()
	h.base, h.serial, h.last = now, now.SOA.Serial, nil
	h.base.SOA.Serial = 0
	if back == 0 && !r.Spec.LeftOut && len(r.Spec.Delta) <= smallDelta && from.serial != 0 {
		h.last = &from
	}
	unlock()
	k.prune(ctx, o)
}

// load reads, once a term, which revisions there are, and takes what is written down for the content before.
func (k *Keeper) load(ctx context.Context, o Owner) error {
	p, unlock := k.pasts.Lock()
	loaded := p.of(o.ID).loaded
	unlock()
	if loaded {
		return nil
	}
	list, err := k.revisions(ctx, o)
	if err != nil {
		return err
	}
	base, serial, known := o.Base()
	p, unlock = k.pasts.Lock()
	defer unlock()
	h := p.of(o.ID)
	h.loaded, h.kept = true, nil
	for i := range list {
		h.kept = append(h.kept, revision{list[i].Name, list[i].UID, len(list[i].Spec.Delta)})
	}
	if known {
		h.base, h.serial = base, serial // else what Written said
	}
	h.changes.keys, h.changes.unknown = nil, true
	return nil
}

// revisions returns those of a zone, oldest first.
func (k *Keeper) revisions(ctx context.Context, o Owner) ([]zonefold.ZoneRevision, error) {
	var list zonefold.ZoneRevisionList
	err := k.Live.List(ctx, &list, client.InNamespace(o.Object.GetNamespace()),
		client.MatchingLabels{zonefold.ZoneLabel: objects.LabelValue(o.Object.GetName())})
	if err != nil {
		return nil, fmt.Errorf("listing the ZoneRevisions of %s: %w", o.ID, err)
	}
	ours := slices.DeleteFunc(list.Items, func(r zonefold.ZoneRevision) bool {
		return !metav1.IsControlledBy(&r, o.Object)
	})
	slices.SortFunc(ours, revisions.Compare)
	return ours, nil
}

// revisionOf returns the revision that led from one content to another.
func (k *Keeper) revisionOf(ctx context.Context, o Owner, from extensible, now zone.Snapshot) *zonefold.ZoneRevision {
	z, owner := o.Object, true
	apiVersion, kind := o.Kind.ToAPIVersionAndKind()
	r := &zonefold.ZoneRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: z.GetNamespace(), Name: objects.PartName(z, "revision", int(now.SOA.Serial)),
			Labels: map[string]string{zonefold.ZoneLabel: objects.LabelValue(z.GetName())},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: z.GetName(), UID: z.GetUID(),
				Controller: &owner}},
		},
		Spec: zonefold.ZoneRevisionSpec{
			Zone: z.GetName(), FQDN: now.Name.String(), Time: metav1.NewTime(k.Clock().Truncate(time.Second)),
			Serial: int64(now.SOA.Serial), Hash: now.Hash, PreviousSerial: int64(from.serial), PreviousHash: from.base.Hash,
		},
	}
	edits := diff.Between(from.base, now, from.changes.list())
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
		r.Spec.Delta = diff.Text(edits)
		if len(r.Spec.Delta) > maxDelta {
			r.Spec.Delta, r.Spec.LeftOut = "", true
		}
	}
	r.Spec.ObjectCount = int32(len(from.changes.objects))
	r.Spec.Objects = k.culprits(ctx, from.changes.objects)
	return r
}

// culprits returns some objects, and who has written to them last.
func (k *Keeper) culprits(ctx context.Context, changed map[zone.ID]bool) []zonefold.RevisionObject {
	ids := slices.SortedFunc(maps.Keys(changed), func(a, b zone.ID) int { return strings.Compare(a.String(), b.String()) })
	var out []zonefold.RevisionObject
	for _, id := range ids[:min(len(ids), maxObjects)] {
		o := zonefold.RevisionObject{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, Deleted: changed[id]}
		if kind, ok := k.KindOf(id); ok && !o.Deleted {
			o.Manager = k.managerOf(ctx, kind, id)
		}
		out = append(out, o)
	}
	return out
}

// managerOf returns who has written to an object last but the operator, "" if that is not known.
func (k *Keeper) managerOf(ctx context.Context, kind schema.GroupVersionKind, id zone.ID) string {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
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
func (k *Keeper) keep(ctx context.Context, id zone.ID, r *zonefold.ZoneRevision, joins bool) error {
	nothing := r.Spec.Added+r.Spec.Changed+r.Spec.Deleted == 0 && r.Spec.PreviousSerial != 0
	if nothing && !joins {
		return nil
	}
	if !nothing {
		if err := k.Objects.Create(ctx, r); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		k.Objects.Forget(r)
	}
	p, unlock := k.pasts.Lock()
	h := p.of(id)
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
func (k *Keeper) prune(ctx context.Context, o Owner) {
	p, unlock := k.pasts.Lock()
	h := p.of(o.ID)
	size, first := 0, len(h.kept)
	for first > 0 && len(h.kept)-first < k.Keep && size+h.kept[first-1].size <= maxHistory {
		first--
		size += h.kept[first].size
	}
	old := slices.Clone(h.kept[:first])
	h.kept = slices.Clone(h.kept[first:])
	unlock()
	for _, r := range old {
		k.forgetRevision(ctx, o.Object.GetNamespace(), r)
	}
}

// forgetRevision deletes a revision. One that stays is deleted after another start.
func (k *Keeper) forgetRevision(ctx context.Context, namespace string, r revision) {
	o := &zonefold.ZoneRevision{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: r.name, UID: r.uid}}
	if err := k.Objects.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
		k.Log.Warn("a ZoneRevision is not deleted", "revision", namespace+"/"+r.name, "error", err)
	}
}

// Earlier returns the content that a serial of a zone stood for, from the one that is written down now; or why nobody
// can tell.
func (k *Keeper) Earlier(ctx context.Context, o Owner, now zone.Snapshot, serial uint32) (then zone.Snapshot, refusal,
	err error) {
	list, err := k.revisions(ctx, o)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if n := len(list); n > 0 && list[n-1].Spec.RolledBackTo == int64(serial) && list[n-1].Spec.Hash == now.Hash {
		return now, nil, nil // before another start
	}
	then, refusal = diff.Earlier(now, revisions.Of(list), serial)
	return then, refusal, nil
}
