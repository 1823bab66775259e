package homelab

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// grace is how long something may be on its way before that is worth a write.
const grace = 2 * time.Second

// crowd is how many objects wait for a write when those that go are not told so any more.
const crowd = 64

// prepare writes down what is going to be sent for a record, before it is.
func (k *Controller) prepare(ctx context.Context, r *record, place v1alpha1.Applied) error {
	defer k.writes(r)()
	_, unlock := k.model.Lock()
	fresh, finalized := r.fresh(), r.finalized
	unlock()
	if fresh {
		return k.putMark(ctx, r, place)
	}
	if !finalized {
		if err := k.finalize(ctx, r, true); err != nil {
			return err
		}
	}
	m, unlock := k.model.Lock()
	if place.Confirmed = false; r.applied != nil && samePlace(*r.applied, place) {
		unlock()
		return nil
	}
	if r.unsent && r.applied != nil { // nothing is left there; at once, so that it is not sent meanwhile
		r.drop(*r.applied)
		m.reindex(r)
	}
	former := slices.Clone(r.former)
	if a := r.applied; a != nil {
		former = append(former, *a)
	}
	all := len(former)
	former = slices.DeleteFunc(former, func(a v1alpha1.Applied) bool {
		return a.Class == place.Class && idOf(a) == idOf(place)
	})
	unsent := len(former) == all
	for i := range former {
		former[i].Hash = ""
	}
	status := m.statusOf(r, onItsWay(r.key.class))
	written := place // a copy: what is known goes on, and what was written stays
	status.Applied, status.Former, status.LastSyncTime = &written, slices.Clone(former), r.status.LastSyncTime
	base, before := r.base, r.status
	r.statusWritten = true
	unlock()
	got, err := k.objects.ChangeStatus(ctx, base, *before, status)
	if err != nil {
		return err
	}
	m, unlock = k.model.Lock()
	defer unlock()
	m.wrote(r, got, &status)
	r.applied, r.unsent, r.former, r.stored, r.done = &place, unsent, former, storedHash{}, ""
	m.reindex(r)
	return nil
}

// finalize adds or removes the finalizer of a DNSRecord, if it is as it is known.
func (k *Controller) finalize(ctx context.Context, r *record, on bool) error {
	return k.changes(r, func(base client.Object) (client.Object, error) {
		return k.objects.SetFinalizer(ctx, base, v1alpha1.Finalizer, on)
	})
}

// changes has the metadata of a DNSRecord written, and takes over the answer.
func (k *Controller) changes(r *record, write func(base client.Object) (client.Object, error)) error {
	_, unlock := k.model.Lock()
	base := r.base
	r.mark = nil // until the answer is there, nobody knows what it says
	unlock()
	got, err := write(base)
	if err != nil {
		return err
	}
	m, unlock := k.model.Lock()
	defer unlock()
	m.wrote(r, got, r.status)
	return nil
}

// wrote takes over what a write has made of a record, unless the cache has brought something newer.
func (m *model) wrote(r *record, got client.Object, status *v1alpha1.DNSRecordStatus) {
	if objects.Version(got) >= objects.Version(r.base) {
		m.reads(r, got, status)
	}
}

// writeRecord brings the status of a DNSRecord up to date, and lets go of one that no server has any more.
func (k *Controller) writeRecord(ctx context.Context, id zone.ID) error {
	m, unlock := k.model.Lock()
	r := m.records[id]
	unlock()
	if r == nil {
		return nil
	}
	defer k.writes(r)()
	m, unlock = k.model.Lock()
	if m.records[id] != r || !r.decided() || r.verdict.Reason == "" && !r.deleting() || !k.Leads() {
		unlock()
		return nil
	}
	a := m.report(r)
	if later := r.soon(a, k.Clock.Now()); later > 0 {
		unlock()
		return &controller.Later{After: later}
	}
	object, base, before := r.object, r.base, r.status
	status := m.statusOf(r, a)
	if r.deleting() && !r.finalized {
		status = *before // it goes by itself, or by the finalizers of others
	}
	release := r.finalized && len(r.evidence()) == 0
	if release && r.deleting() && k.recordWriter.Len() > crowd {
		status = *before // nobody looks at the last word of each of many, which would cost as much as letting it go
	}
	r.statusWritten = r.statusWritten || !equality.Semantic.DeepEqual(*before, status)
	if p := storedHashOf(status); p.hash != "" {
		r.stored = p // whether an answer comes or not
	}
	unlock()
	got, err := k.objects.ChangeStatus(ctx, base, *before, status)
	if err != nil {
		return unwritten(k.Log, id, err)
	}
	if got != base {
		m, unlock := k.model.Lock()
		m.wrote(r, got, &status)
		r.stored = storedHashOf(status)
		unlock()
		recordEvent(k.Events, object, before.Conditions, status.Conditions)
	}
	if !release {
		return nil
	}
	return client.IgnoreNotFound(k.finalize(ctx, r, false))
}

// unwritten decides what follows from a status that was not written. The schema refuses every change of an object that
// an older one has let in: there is nothing to write until the object changes.
func unwritten(log *slog.Logger, id zone.ID, err error) error {
	if !apierrors.IsInvalid(err) {
		return client.IgnoreNotFound(err)
	}
	log.Warn("the API server accepts no status for an object that violates its schema", "object", id.String(),
		"error", err)
	return &controller.Later{After: time.Hour}
}

// soon is how long to wait for something that is on its way, before that is written down.
func (r *record) soon(a report, now time.Time) time.Duration {
	if a.state != v1alpha1.StatePending {
		r.pending = time.Time{}
		return 0
	}
	if r.pending.IsZero() {
		r.pending = now
	}
	return max(0, grace-now.Sub(r.pending))
}

// warn makes an event of what is wrong with an object.
func warn(to events.EventRecorder, o client.Object, reason, action, text string) {
	to.Eventf(o, nil, "Warning", reason, action, "%s", controller.Note(text))
}

// recordEvent makes an event of what happened to an object: it has failed, or works again.
func recordEvent(to events.EventRecorder, o client.Object, before, after []metav1.Condition) {
	was := cmp.Or(meta.FindStatusCondition(before, controller.ConditionReady), &metav1.Condition{})
	is := cmp.Or(meta.FindStatusCondition(after, controller.ConditionReady), &metav1.Condition{})
	switch {
	case was.Status == is.Status && was.Reason == is.Reason || is.Reason == servers.ReasonRecordDeleted:
	case is.Status == metav1.ConditionFalse:
		warn(to, o, is.Reason, "Deliver", is.Message)
	case is.Status == metav1.ConditionTrue && was.Status == metav1.ConditionFalse:
		to.Eventf(o, nil, "Normal", is.Reason, "Deliver", "%s", controller.Note(is.Message))
	}
}
