package homelab

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// grace is how long something may be on its way before that is worth a write.
const grace = 2 * time.Second

// crowd is how many objects wait for a write when those that go are not told so any more.
const crowd = 64

// prepare writes down what is going to be sent for a record, before it is.
func (k *Controller) prepare(ctx context.Context, r *record, place v1alpha1.Applied) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	k.mu.Lock()
	object, finalized, former := r.object, r.finalized, slices.Clone(r.former)
	if a := r.applied; a != nil && (a.Class != place.Class || idOf(*a) != idOf(place)) {
		former = append(former, *a)
	}
	fresh := r.fresh()
	k.mu.Unlock()
	if fresh {
		return k.putMark(ctx, r, place)
	}
	if !finalized {
		if err := k.finalize(ctx, r, true); err != nil {
			return err
		}
	}
	k.mu.Lock()
	if place.Confirmed = false; r.applied != nil && samePlace(*r.applied, place) {
		k.mu.Unlock()
		return nil
	}
	former = slices.DeleteFunc(former, func(a v1alpha1.Applied) bool {
		return a.Class == place.Class && idOf(a) == idOf(place)
	})
	for i := range former {
		former[i].Hash = ""
	}
	status := k.statusOf(r, onItsWay(r.key.class))
	written := place // a copy: what is known goes on, and what was written stays
	status.Applied, status.Former, status.LastSyncTime = &written, slices.Clone(former), r.status.LastSyncTime
	patch := r.patchTo(status)
	r.statusWritten = true
	k.mu.Unlock()
	if err := k.patchStatus(ctx, r, object, patch); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.applied, r.former, r.status, r.stored, r.done = &place, former, status, storedHash{}, ""
	k.shown(r, status.State)
	k.reindex(r)
	return nil
}

// finalize adds or removes the finalizer of a DNSRecord, if its metadata are as they are known.
func (k *Controller) finalize(ctx context.Context, r *record, on bool) error {
	k.mu.Lock()
	base := r.base
	k.mu.Unlock()
	return k.setFinalizer(ctx, base, v1alpha1.Finalizer, on, k.wrote(r))
}

// setFinalizer puts a finalizer on an object, or takes it off, and has the answer be noted while nothing else changes.
func (k *Controller) setFinalizer(ctx context.Context, o client.Object, name string, on bool,
	wrote func(client.Object)) error {
	got, err := k.objects.SetFinalizer(ctx, o, name, on)
	if err != nil || got == o {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	wrote(got)
	return nil
}

// wrote notes the metadata that the answer to a write has.
func (k *Controller) wrote(r *record) func(got client.Object) {
	return func(got client.Object) {
		if v := objects.Version(got); v >= r.version {
			was := r.written()
			r.version = v
			r.know(got)
			k.follow(r, was)
		}
	}
}

// patchMeta writes metadata of an object, if it is as it is known.
func (k *Controller) patchMeta(
	ctx context.Context, o client.Object, meta map[string]any, wrote func(client.Object),
) error {
	return k.patch(ctx, objects.Patch{Of: o, Exactly: true, Metadata: meta}, wrote)
}

func (k *Controller) patchStatus(ctx context.Context, r *record, o client.Object, status map[string]any) error {
	err := k.patch(ctx, objects.Patch{Of: o, Status: status}, k.wrote(r)) // nobody else owns any of it
	k.mu.Lock()
	defer k.mu.Unlock()
	r.unsure = err != nil && !apierrors.IsInvalid(err)
	return err
}

// patch sends a patch, and has the answer be noted while nothing else changes.
func (k *Controller) patch(ctx context.Context, p objects.Patch, wrote func(client.Object)) error {
	got, err := k.objects.Patch(ctx, p)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	wrote(got)
	return nil
}

// writeRecord brings the status of a DNSRecord up to date, and lets go of one that no server has any more.
func (k *Controller) writeRecord(ctx context.Context, id zone.ID) error {
	k.mu.Lock()
	r := k.records[id]
	k.mu.Unlock()
	if r == nil {
		return nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	k.mu.Lock()
	if k.records[id] != r || !r.decided() || r.verdict.Reason == "" && !r.deleting() || !k.leads() {
		k.mu.Unlock()
		return nil
	}
	a := k.report(r)
	if later := k.soon(r, a); later > 0 {
		k.mu.Unlock()
		return &controller.Later{After: later}
	}
	object := r.object
	status := k.statusOf(r, a)
	before := r.status
	patch := r.patchTo(status)
	if r.deleting() && !r.finalized {
		patch = nil // it goes by itself, or by the finalizers of others
	}
	release := r.finalized && len(r.evidence()) == 0
	if release && r.deleting() && k.recordWriter.Len() > crowd {
		patch = nil // nobody looks at the last word of each of many, which would cost as much as letting it go
	}
	r.statusWritten = r.statusWritten || len(patch) > 0
	k.shown(r, before.State)
	if p := storedHashOf(status); p.hash != "" {
		r.stored = p // whether an answer comes or not
	}
	k.mu.Unlock()
	if len(patch) > 0 {
		if err := k.patchStatus(ctx, r, object, patch); err != nil {
			return k.unwritten(id, err)
		}
		k.mu.Lock()
		was := r.written()
		r.status, r.stored = status, storedHashOf(status)
		k.follow(r, was)
		k.shown(r, status.State)
		k.mu.Unlock()
		k.recordEvent(object, before.Conditions, status.Conditions)
	}
	if !release {
		return nil
	}
	return client.IgnoreNotFound(k.finalize(ctx, r, false))
}

// unwritten decides what follows from a status that was not written. The schema refuses every change of an object that
// an older one has let in: there is nothing to write until the object changes.
func (k *Controller) unwritten(id zone.ID, err error) error {
	if !apierrors.IsInvalid(err) {
		return client.IgnoreNotFound(err)
	}
	k.Log.Warn("the API server takes no status of an object that its schema does not allow", "object", id.String(),
		"error", err)
	return &controller.Later{After: time.Hour}
}

// soon is how long to wait for something that is on its way, before that is written down. k.mu is held.
func (k *Controller) soon(r *record, a report) time.Duration {
	if a.state != v1alpha1.StatePending {
		r.pending = time.Time{}
		return 0
	}
	now := k.Clock.Now()
	if r.pending.IsZero() {
		r.pending = now
	}
	return max(0, grace-now.Sub(r.pending))
}

// shown keeps the metric of states. k.mu is held.
func (k *Controller) shown(r *record, state v1alpha1.RecordState) {
	k.Numbers.moved(r.state, state)
	r.state = state
}

// recordEvent makes an event of what happened to an object: it has failed, or works again.
func (k *Controller) recordEvent(o client.Object, before, after []metav1.Condition) {
	find := func(list []metav1.Condition) metav1.Condition {
		if i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == controller.ConditionReady }); i >= 0 {
			return list[i]
		}
		return metav1.Condition{}
	}
	was, is := find(before), find(after)
	switch {
	case was.Status == is.Status && was.Reason == is.Reason || is.Reason == ReasonRecordDeleted:
	case is.Status == metav1.ConditionFalse:
		k.Events.Eventf(o, nil, "Warning", is.Reason, "Deliver", "%s", controller.Note(is.Message))
	case is.Status == metav1.ConditionTrue && was.Status == metav1.ConditionFalse:
		k.Events.Eventf(o, nil, "Normal", is.Reason, "Deliver", "%s", controller.Note(is.Message))
	}
}
