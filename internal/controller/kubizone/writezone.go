package kubizone

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// outcome is what came of the delivery of a Zone, and what was known before it was asked for.
type outcome struct {
	delivery.ZoneOutcome
	entries uint64 // of the ledger
	ceiling uint32 // that this run has stored; 0: none
}

// unsettled is Pending while a Backend is about to take the Zone, even where more is wrong with the Zone: who has just
// begun to lead has not heard what each Backend has, and does not take back what the status says of it.
func (o outcome) unsettled() controller.Outcome {
	for _, p := range o.Places {
		if p.Reason == controller.ReasonPending {
			return controller.Not(p.Reason, p.Message)
		}
	}
	return o.Served
}

func (k *Controller) before(id zone.ID) outcome {
	return outcome{ceiling: k.ceilings.Known(id), entries: k.ledgers.entered(id)}
}

// verdictOn returns what was decided about a Zone, as far as it matters where the Zone goes.
func (k *Controller) verdictOn(id zone.ID, z *v1alpha1.Zone) (zone.Verdict, bool) {
	v, ok := k.Core.Verdict(id)
	if ok && k.Deliveries.Places().Hosted(refs(z)) {
		v = v.Hosted()
	}
	return v, ok
}

// writeZone brings the label and the status of a Zone up to date.
func (k *Controller) writeZone(ctx context.Context, id zone.ID) error {
	out := k.before(id)
	var z v1alpha1.Zone
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &z); apierrors.IsNotFound(err) {
		k.states.forget(id)
		return k.ledgers.freeSlices(ctx, id, nil)
	} else if err != nil {
		return err
	}
	v, ok := k.verdictOn(id, &z)
	if k.states.unjudged(id, &z) || !ok && z.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := k.objects.Behind(&z); err != nil {
		return err
	}
	if err := k.ledgers.freeSlices(ctx, id, &z); err != nil {
		return err
	}
	out.ZoneOutcome = k.Deliveries.ZoneOutcome(id)
	if !ok {
		if k.states.soon(id, controller.Not(controller.ReasonPending, ""), z.Generation) {
			return &controller.Later{After: grace} // it is gone by then, as a rule
		}
		v = zone.Verdict{Reason: controller.ReasonWithdrawing, Message: out.Served.Message}
	}
	if !z.Status.Unread.Empty() {
		return k.clean(ctx, id, &z, z.Status.Unread)
	}
	if err := k.writeMetadata(ctx, &z, v, out.ZoneOutcome); err != nil {
		return client.IgnoreNotFound(err)
	}
	if v.Accepted && k.states.soon(id, out.unsettled(), z.Generation) {
		return &controller.Later{After: grace}
	}
	want, later := z.Status, error(nil)
	flushed, err := k.content(ctx, id, &z, out, &want)
	if errors.As(err, new(*controller.Later)) {
		later = err
	} else if err != nil {
		return err
	}
	c := controller.Conditions{Old: z.Status.Conditions, Generation: z.Generation, Now: k.Clock.Now()}
	tellZone(&want, c, k.warnOfUnasked(id, &z, v, out.ZoneOutcome), out.ZoneOutcome)
	if later != nil && onlySerials(z.Status.Backends, want.Backends) && k.isLarge(id) {
		want.Backends = z.Status.Backends // it goes with the content, which costs as much as any write of a large status
	}
	if wait := k.serials(id, &z, out, flushed != nil, &want); later == nil {
		later = wait
	}
	if err := k.tell(ctx, id, &z, want, flushed); err != nil {
		return k.unwritten(id, err)
	}
	if want.SerialCeiling != z.Status.SerialCeiling {
		k.ceilings.Put(id, uint32(*want.SerialCeiling))
	}
	if flushed != nil {
		z.Status = want
		if err := k.flushed(ctx, id, &z, *flushed, out); err != nil {
			return err
		}
	}
	return later
}

// tell writes the status of a Zone, and with it the content that the Zone is to have then, if that is another one.
func (k *Controller) tell(ctx context.Context, id zone.ID, z *v1alpha1.Zone, want v1alpha1.ZoneStatus,
	content *zone.Snapshot) error {
	var was *rr.Sets
	if content != nil {
		was = k.ledgers.of(id).comes(content.Sets)
	}
	got, err := k.objects.ChangeStatus(ctx, z, z.Status, want)
	if err == nil && got != z || apierrors.IsInvalid(err) {
		recordEvents(k.Events, z, z.Status.Conditions, want.Conditions)
	}
	if content != nil && objects.NothingWritten(err) {
		k.ledgers.of(id).stays(was)
	}
	return err
}

// writeMetadata brings the label of a Zone up to date, and removes an approval that is spent.
func (k *Controller) writeMetadata(ctx context.Context, z *v1alpha1.Zone, v zone.Verdict,
	out delivery.ZoneOutcome) error {
	label := ""
	if v.Accepted && !v.Zone.IsZero() {
		label = ParentLabel(v.Zone)
	}
	if err := putLabel(ctx, k.objects, z, label); err != nil {
		return err
	}
	return spend(ctx, k.objects, z, out)
}

// content puts into want what the cluster does not know of the zone's content yet. The
// slices it writes itself, before the status that counts them. It returns what the
// cluster will hold when that is written, nil if that stays as it is, and Later
// when there is more to write that has to wait.
func (k *Controller) content(ctx context.Context, id zone.ID, z *v1alpha1.Zone, out outcome,
	want *v1alpha1.ZoneStatus) (*zone.Snapshot, error) {
	if err := k.ledgers.restorePages(ctx, id, z); err != nil {
		return nil, err
	}
	if out.Leaving {
		return nil, nil // the old content stays written down until it is withdrawn
	}
	if out.Snapshot.Name.IsZero() {
		k.ledgers.loadLedger(id, z) // an earlier run may have ended before all was gone
		return clearContent(want, k.ledgers.of(id)), nil
	}
	m, unlock := k.memory.Lock()
	s := m.zoneState(id)
	snapshot, wait := s.content, s.flushed.Add(s.pause).Sub(k.Clock.Now())
	overdue := k.Clock.Now().Sub(s.changed) > grace/2
	pause := s.minted.Add(grace / 2).Sub(k.Clock.Now())
	unlock()
	differ := k.ledgers.mayDiffer(id, z)
	content := engine.Content{Sets: snapshot.Sets, SOA: snapshot.SOA, Hash: snapshot.Hash}.ID()
	switch {
	case out.Label.ID != content && overdue && pause > 0:
		return nil, &controller.Later{After: pause}
	case out.Label.ID != content && overdue:
		_, unlock := k.memory.Lock()
		s.minted = k.Clock.Now()
		unlock()
		if err := k.Deliveries.Mint(ctx, id); err != nil {
			return nil, err
		}
		return nil, &controller.Later{}
	case out.Label.ID != content:
		return nil, &controller.Later{After: grace / 2}
	case labelled(z) == (engine.Label{Serial: out.Label.Serial, ID: content}) && !differ:
		if out.Confirmed && k.ledgers.of(id).cluttered() {
			return &snapshot, nil // it was written down before every server had it
		}
		return nil, nil
	case wait > 0:
		return nil, &controller.Later{After: wait}
	case k.Core.Busy() && len(z.Status.Entries) > 0:
		return nil, &controller.Later{After: grace / 2} // a burst is written down once, when it is over
	}
	foreign, err := k.ledgers.compare(id, z)
	if err != nil {
		return nil, err
	}
	if foreign {
		differ = true
		k.divideAnew(id)
	}
	snapshot.SOA.Serial = out.Label.Serial
	err = k.keepGone(ctx, id, z, out, snapshot)
	if err == nil && k.past.Keeps() {
		k.past.Revise(ctx, k.historyOf(id, z), snapshot, out.Frozen.RolledBack())
	}
	if err == nil {
		err = k.flush(ctx, id, z, snapshot, want)
	}
	if err != nil && differ {
		k.ledgers.uncompared(id)
	}
	if err != nil {
		return nil, err
	}
	return &snapshot, nil
}

// serials puts into want which serials may have been used. It returns Later while that is not final. A ceiling that was
// taken back without an answer is no one that somebody else has lowered.
func (k *Controller) serials(id zone.ID, z *v1alpha1.Zone, out outcome, flushed bool,
	want *v1alpha1.ZoneStatus) error {
	label := labelled(z)
	if flushed {
		label = out.Label
	}
	if stored := z.Status.SerialCeiling; lowered(stored, out.ceiling) {
		if stored != nil && uint32(*stored) == label.Serial {
			if settled, _ := k.releases(id, label); settled {
				k.ceilings.Put(id, label.Serial)
				return nil
			}
		}
		want.SerialCeiling = number(out.ceiling)
	}
	return k.releaseSerials(id, z, label, want)
}

// labelled returns which content is written down, and its serial.
func labelled(z *v1alpha1.Zone) engine.Label {
	if len(z.Status.Entries) == 0 || z.Status.Entries[0].Type != "SOA" || z.Status.Serial == nil {
		return engine.Label{}
	}
	soa, err := rr.ParseSOA(z.Status.Entries[0].RData)
	if err != nil {
		return engine.Label{}
	}
	soa.TTL = uint32(z.Status.Entries[0].TTL)
	return engine.Label{Serial: uint32(*z.Status.Serial), ID: engine.Content{SOA: soa, Hash: z.Status.Hash}.ID()}
}

// clearContent removes the content of a Zone that is not accepted. The serial stays: if
// the Zone comes back, its serials go on from there.
func clearContent(want *v1alpha1.ZoneStatus, l *ledger) *zone.Snapshot {
	if want.Slices > 0 {
		l.setStrays(true)
	}
	if len(want.Entries) == 0 && want.Hash == "" && want.Slices == 0 && !l.cluttered() {
		return nil
	}
	want.Entries, want.Hash, want.EntryCount, want.Slices = nil, "", 0, 0
	return &zone.Snapshot{}
}

// flush writes the slices of a large zone and puts into want what goes into the status.
func (k *Controller) flush(ctx context.Context, id zone.ID, z *v1alpha1.Zone, s zone.Snapshot,
	want *v1alpha1.ZoneStatus) error {
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
	if !small || z.Status.Slices > 0 {
		k.ledgers.of(id).setStrays(true) // until the status is written
	}
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
	want.Entries, want.Hash, want.Serial = entries, s.Hash, number(s.SOA.Serial)
	want.EntryCount, want.Slices = int32(count), parts
	m, unlock := k.memory.Lock()
	state := m.zoneState(id)
	if small {
		state.parts = nil
	}
	state.flushed = k.Clock.Now()
	// A large status is written seldom: a second for each 64 KiB of it.
	state.pause = time.Duration(size/65536) * time.Second
	unlock()
	return nil
}

// divideAnew has all slices of a Zone be written that are not as they should be.
func (k *Controller) divideAnew(id zone.ID) {
	m, unlock := k.memory.Lock()
	defer unlock()
	m.zoneState(id).parts = nil
}

// isLarge reports whether the status of a Zone is written seldom.
func (k *Controller) isLarge(id zone.ID) bool {
	m, unlock := k.memory.Lock()
	defer unlock()
	return m.zoneState(id).pause > 0
}

func keyOf(r *v1alpha1.Record, v zone.Verdict) rr.Key {
	t, err := rr.ParseType(string(r.Spec.Type))
	if err != nil {
		return rr.Key{}
	}
	return rr.Key{Name: v.Name, Type: t}
}
