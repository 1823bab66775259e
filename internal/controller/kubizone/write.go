package kubizone

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// object is what the cache holds.
type object = client.Object

// putLabel writes the label of the parent, or removes it. The object is then as it is written.
func putLabel(ctx context.Context, w *objects.Writer, o object, value string) error {
	if o.GetLabels()[v1alpha1.ParentZoneLabel] == value {
		return nil
	}
	label := any(value)
	if value == "" {
		label = nil
	}
	got, err := w.Change(ctx, o, "metadata",
		map[string]any{"labels": map[string]any{v1alpha1.ParentZoneLabel: label}})
	if err == nil {
		o.SetResourceVersion(got.GetResourceVersion())
	}
	return err
}

// writeRecord brings the label and the status of a Record up to date.
func (k *Controller) writeRecord(ctx context.Context, id zone.ID) error {
	var r v1alpha1.Record
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &r); apierrors.IsNotFound(err) {
		k.states.forget(id)
		return nil
	} else if err != nil {
		return err
	}
	v, ok := k.Core.Verdict(id)
	if !ok || k.states.unjudged(id, &r) {
		return nil
	}
	if err := k.objects.Behind(&r); err != nil {
		return err
	}
	want := ""
	var served controller.Outcome
	if v.Accepted {
		want = ParentLabel(v.Zone)
		served = k.Deliveries.Reached(v.Serving(), id, keyOf(&r, v))
		if k.states.soon(id, served, r.Generation) {
			return &controller.Later{After: grace}
		}
	}
	if !r.Status.Unread.Empty() {
		return k.clean(ctx, id, &r, r.Status.Unread)
	}
	if err := putLabel(ctx, k.objects, &r, want); err != nil {
		return client.IgnoreNotFound(err)
	}
	c := controller.Conditions{Old: r.Status.Conditions, Generation: r.Generation, Now: k.Clock.Now()}
	status := recordStatus(c, v, served)
	got, err := k.objects.ChangeStatus(ctx, &r, r.Status, status)
	if err == nil && got != &r || apierrors.IsInvalid(err) {
		recordEvents(k.Events, &r, r.Status.Conditions, status.Conditions)
	}
	return k.unwritten(id, err)
}

// clean removes from a status what is not ours and cannot be read. Then it asks to look again.
func (k *Controller) clean(ctx context.Context, id zone.ID, o object, u v1alpha1.Unread) error {
	changes := map[string]any{}
	for name := range u.Members {
		changes[name] = nil
	}
	if _, err := k.objects.Change(ctx, o, "status", changes); err != nil {
		return k.unwritten(id, err)
	}
	return &controller.Later{}
}

// unwritten decides what follows from a status that was, or was not, written. The schema
// refuses every change of an object that an older one has let in with values of other
// types, where a rule needs one of them: an event has told what is wrong, and there is
// nothing to write until the object changes, or the schema does.
func (k *Controller) unwritten(id zone.ID, err error) error {
	if !apierrors.IsInvalid(err) {
		return client.IgnoreNotFound(err)
	}
	k.Log.Warn("the API server accepts no status for an object that violates its schema; an event says what is wrong",
		"object", id.String(), "error", err)
	return &controller.Later{After: time.Hour}
}

// soon reports whether something may settle by itself and has not been so for long: it
// is on its way, or a server refuses it that may take it once others of the same burst
// are there, such as an MX before the address of its host.
func (t *objectStates) soon(id zone.ID, served controller.Outcome, generation int64) bool {
	refused := served.Reason == controller.ReasonRejected
	m, unlock := t.known.Lock()
	defer unlock()
	s := m.of(id)
	if served.Reason != controller.ReasonPending && !refused {
		s.pending = 0
		return false
	}
	now := t.clock().UnixNano()
	if s.pending == 0 || s.generation != generation || s.refused != refused {
		s.pending, s.generation, s.refused = now, generation, refused
	}
	return now-s.pending < int64(grace)*9/10
}

// ofOneRecord reports whether a condition Served is about one Record and not about all of its Zone.
func ofOneRecord(c *metav1.Condition) bool {
	return c != nil && (c.Reason == controller.ReasonRejected || c.Reason == controller.ReasonOwned ||
		c.Reason == string(zone.Occluded))
}

// recordEvents makes events of what happened to an object: it was refused, it is accepted
// again, a Backend does not take it. That all is well from the start is no event.
func recordEvents(to events.EventRecorder, o object, before, after []metav1.Condition) {
	recordHeld(to, o, before, after)
	for _, kind := range []string{controller.ConditionAccepted, controller.ConditionServed} {
		is, was := meta.FindStatusCondition(after, kind), meta.FindStatusCondition(before, kind)
		if is == nil {
			continue
		}
		same := was != nil && was.Status == is.Status && was.Reason == is.Reason
		quiet := slices.Contains([]string{controller.ReasonPending, controller.ReasonNotAccepted, controller.ReasonObserving},
			is.Reason)
		if _, record := o.(*v1alpha1.Record); record && kind == controller.ConditionServed {
			// What concerns the whole zone is told once, by the Zone: that it fails, and that it is over.
			quiet = quiet || !ofOneRecord(is) && !ofOneRecord(was)
		}
		switch {
		case same || quiet:
		case is.Status == metav1.ConditionFalse:
			to.Eventf(o, nil, "Warning", is.Reason, kind, "%s", controller.Note(is.Message))
		case was != nil && was.Status == metav1.ConditionFalse && was.Reason != controller.ReasonPending &&
			was.Reason != controller.ReasonNotAccepted:
			to.Eventf(o, nil, "Normal", is.Reason, kind, "%s", controller.Note(is.Message))
		}
	}
}
