package kubizone

import (
	"context"
	"errors"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// outcome is what came of the delivery of a Zone, and what was known before it was asked for.
type outcome struct {
	controller.ZoneOutcome
	entries uint64 // of the ledger
	ceiling uint32 // that this run has stored; 0: none
}

func (k *Controller) before(id zone.ID) outcome {
	out := outcome{ceiling: k.ceilings.Known(id)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.zoneStates[id]; s != nil {
		out.entries = s.ledger.entries.Load()
	}
	return out
}

// verdictOn returns what was decided about a Zone, as far as it matters where the Zone goes.
func (k *Controller) verdictOn(id zone.ID, z *v1alpha1.Zone) (zone.Verdict, bool) {
	v, ok := k.Core.Verdict(id)
	if ok && k.Deliveries.Hosted(refs(z)) {
		v = v.Hosted()
	}
	return v, ok
}

// writeZone brings the label and the status of a Zone up to date.
func (k *Controller) writeZone(ctx context.Context, id zone.ID) error {
	out := k.before(id)
	var z v1alpha1.Zone
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &z); err != nil {
		return client.IgnoreNotFound(err)
	}
	v, ok := k.verdictOn(id, &z)
	if k.stale(id, &z) || !ok && z.DeletionTimestamp.IsZero() {
		return nil
	}
	out.ZoneOutcome = k.Deliveries.ZoneOutcome(id)
	if !ok {
		if k.soon(id, controller.Not(controller.ReasonPending, ""), z.Generation) {
			return &controller.Later{After: grace} // it is gone by then, as a rule
		}
		v = zone.Verdict{Reason: controller.ReasonWithdrawing, Message: out.Served.Message}
	}
	if !z.Status.Unread.Empty() {
		return k.clean(ctx, id, &z)
	}
	if err := k.labelZone(ctx, id, &z, v); err != nil {
		return client.IgnoreNotFound(err)
	}
	if k.stale(id, &z) {
		return nil // it has just been labelled
	}
	if v.Accepted && k.soon(id, out.Served, z.Generation) {
		return &controller.Later{After: grace}
	}
	patch, later := map[string]any{}, error(nil)
	flushed, err := k.content(ctx, id, &z, out, patch)
	if errors.As(err, new(*controller.Later)) {
		later = err
	} else if err != nil {
		return err
	}
	slices := z.Status.Slices
	if n, changed := patch["slices"].(int32); changed {
		slices = n
	}
	c := controller.Conditions{Old: z.Status.Conditions, Generation: z.Generation, Now: k.Clock.Now()}
	status := zoneStatus(c, v, out.ZoneOutcome, slices)
	maps.Copy(patch, zonePatch(z.Status, status))
	if later != nil && onlySerials(z.Status.Backends, status.Backends) && k.isLarge(id) {
		delete(patch, "backends") // it goes with the content, which costs as much as any write of a large status
	}
	if wait := k.serials(id, &z, out, flushed != nil, patch); later == nil {
		later = wait
	}
	if len(patch) > 0 {
		err := k.patchStatus(ctx, id, &z, patch)
		if err == nil || apierrors.IsInvalid(err) {
			k.recordEvents(&z, z.Status.Conditions, status.Conditions)
		}
		if err != nil {
			return k.unwritten(id, err)
		}
		if ceiling, ok := patch["serialCeiling"].(uint32); ok {
			k.ceilings.Put(id, ceiling)
		}
	}
	if flushed != nil {
		if err := k.flushed(ctx, id, &z, *flushed, out); err != nil {
			return err
		}
	}
	return later
}

func (k *Controller) labelZone(ctx context.Context, id zone.ID, z *v1alpha1.Zone, v zone.Verdict) error {
	want := ""
	if v.Accepted && !v.Zone.IsZero() {
		want = ParentLabel(v.Zone)
	}
	if z.Labels[v1alpha1.ParentZoneLabel] == want {
		return nil
	}
	return k.label(ctx, id, z, want)
}

// content adds to patch what the cluster does not know of the zone's content yet. The
// slices it writes itself, before the status that counts them. It returns what the
// cluster will hold when the patch is written, nil if that stays as it is, and Later
// when there is more to write that has to wait.
func (k *Controller) content(ctx context.Context, id zone.ID, z *v1alpha1.Zone, out outcome,
	patch map[string]any) (*zone.Snapshot, error) {
	if err := k.restorePages(ctx, id, z); err != nil {
		return nil, err
	}
	if out.Leaving {
		return nil, nil // the old content stays written down until it is withdrawn
	}
	if out.Snapshot.Name.IsZero() {
		k.mu.Lock()
		k.zoneState(id).kept = 0
		k.mu.Unlock()
		return clearContent(z, patch), nil
	}
	k.mu.Lock()
	s := k.zoneState(id)
	snapshot, wait := s.content, s.flushed.Add(s.pause).Sub(k.Clock.Now())
	overdue := k.Clock.Now().Sub(s.changed) > grace/2
	foreign := s.foreign || !s.looked && z.Status.Slices > 0
	k.mu.Unlock()
	want := backend.Content{Sets: snapshot.Sets, SOA: snapshot.SOA, Hash: snapshot.Hash}.ID()
	switch {
	case out.Label.ID != want && overdue:
		if err := k.Deliveries.Mint(ctx, id); err != nil {
			return nil, err
		}
		return nil, &controller.Later{}
	case out.Label.ID != want:
		return nil, &controller.Later{After: grace / 2}
	case labelled(z) == (backend.Label{Serial: out.Label.Serial, ID: want}) && !foreign:
		if out.Confirmed && k.ledgerOf(id).cluttered() {
			return &snapshot, nil // it was written down before every server had it
		}
		return nil, nil
	case wait > 0:
		return nil, &controller.Later{After: wait}
	case k.Core.Busy() && len(z.Status.Entries) > 0:
		return nil, &controller.Later{After: grace / 2} // a burst is written down once, when it is over
	}
	k.mu.Lock()
	s.foreign, s.looked = false, true
	k.mu.Unlock()
	snapshot.SOA.Serial = out.Label.Serial
	err := k.keepGone(ctx, id, z, out, snapshot)
	if err == nil {
		err = k.flush(ctx, id, z, snapshot, patch)
	}
	if err != nil {
		k.mu.Lock()
		s.foreign = s.foreign || foreign
		k.mu.Unlock()
		return nil, err
	}
	return &snapshot, nil
}

// serials adds to the patch of a Zone's status which serials may have been used. It returns Later while that is not
// final.
func (k *Controller) serials(id zone.ID, z *v1alpha1.Zone, out outcome, flushed bool, patch map[string]any) error {
	if lowered(z.Status.SerialCeiling, out.ceiling) {
		patch["serialCeiling"] = out.ceiling
	}
	label := labelled(z)
	if flushed {
		label = out.Label
	}
	return k.releaseSerials(id, z, label, patch)
}

// labelled returns which content is written down, and its serial.
func labelled(z *v1alpha1.Zone) backend.Label {
	if len(z.Status.Entries) == 0 || z.Status.Entries[0].Type != "SOA" || z.Status.Serial == nil {
		return backend.Label{}
	}
	soa, err := rr.ParseSOA(z.Status.Entries[0].RData)
	if err != nil {
		return backend.Label{}
	}
	soa.TTL = uint32(z.Status.Entries[0].TTL)
	return backend.Label{Serial: uint32(*z.Status.Serial), ID: backend.Content{SOA: soa, Hash: z.Status.Hash}.ID()}
}

// clearContent removes the content of a Zone that is not accepted. The serial stays: if
// the Zone comes back, its serials go on from there.
func clearContent(z *v1alpha1.Zone, patch map[string]any) *zone.Snapshot {
	if len(z.Status.Entries) == 0 && z.Status.Hash == "" && z.Status.Slices == 0 {
		return nil
	}
	patch["entries"], patch["hash"], patch["entryCount"] = nil, nil, nil
	if z.Status.Slices != 0 {
		patch["slices"] = int32(0)
	}
	return &zone.Snapshot{}
}

// flush writes the slices of a large zone and puts into patch what goes into the status.
func (k *Controller) flush(ctx context.Context, id zone.ID, z *v1alpha1.Zone, s zone.Snapshot,
	patch map[string]any) error {
	entries := []v1alpha1.Entry{soaEntry(s.Name, s.SOA)}
	size, small := sizeOf(entries[0]), true
	for set := range s.Sets.All() {
		before := len(entries)
		entries = entriesOf(entries, set)
		for _, e := range entries[before:] {
			size += sizeOf(e)
		}
		if small = size <= maxStatus && (k.MaxEntries == 0 || len(entries) <= k.MaxEntries); !small {
			break
		}
	}
	count, parts := len(entries), int32(0)
	if !small {
		var err error
		if parts, count, size, err = k.writeSlices(ctx, id, z, s); err != nil {
			return err
		}
		entries = entries[:1]
		if ns, ok := s.Sets.Get(rr.Key{Name: s.Name, Type: rr.TypeNS}); ok {
			entries = entriesOf(entries, ns)
		}
	}
	serial := v1alpha1.Number(s.SOA.Serial)
	contentPatch(patch, z.Status, v1alpha1.ZoneStatus{
		Entries: entries, Hash: s.Hash, Serial: &serial, EntryCount: int32(count), Slices: parts,
	})
	k.mu.Lock()
	state := k.zoneState(id)
	if small {
		state.parts = nil
	}
	state.flushed, state.kept = k.Clock.Now(), int(parts)
	// A large status is written seldom: a second for each 64 KiB of it.
	state.pause = time.Duration(size/65536) * time.Second
	k.mu.Unlock()
	return nil
}

// isLarge reports whether the status of a Zone is written seldom.
func (k *Controller) isLarge(id zone.ID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.zoneState(id).pause > 0
}

func keyOf(r *v1alpha1.Record, v zone.Verdict) rr.Key {
	t, err := rr.ParseType(string(r.Spec.Type))
	if err != nil {
		return rr.Key{}
	}
	return rr.Key{Name: v.Name, Type: t}
}
