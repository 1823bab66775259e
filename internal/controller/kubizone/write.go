package kubizone

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// object is what the cache holds.
type object = client.Object

// label writes the label of the parent, or removes it.
func (k *Controller) label(ctx context.Context, id zone.ID, o object, value string) error {
	labels := map[string]any{v1alpha1.ParentZoneLabel: orNull(value)}
	_, err := k.patch(ctx, id, objects.Patch{Of: o, Metadata: map[string]any{"labels": labels}})
	return err
}

// patchStatus sends a JSON merge patch of the status. A merge patch and not an apply: the parts of a large status are
// written at different times, and nobody else owns any. That of a Zone takes the place of the known one only: it says
// where the Zone is, what is there, and under which serials. That of a Record says nothing that the next leader has to
// know.
func (k *Controller) patchStatus(ctx context.Context, id zone.ID, o object, status any) error {
	_, err := k.patch(ctx, id, objects.Patch{Of: o, Exactly: id.Kind == zone.KindZone, Status: status})
	return err
}

func (k *Controller) patch(ctx context.Context, id zone.ID, p objects.Patch) (object, error) {
	got, err := k.objects.Patch(ctx, p)
	if err == nil {
		k.wrote(id, got)
	}
	return got, err
}

// wrote notes our own write.
func (k *Controller) wrote(id zone.ID, got object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state(id).writes.Wrote(objects.Version(got))
}

// writeRecord brings the label and the status of a Record up to date.
func (k *Controller) writeRecord(ctx context.Context, id zone.ID) error {
	var r v1alpha1.Record
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &r); err != nil {
		return client.IgnoreNotFound(err)
	}
	v, ok := k.Core.Verdict(id)
	if !ok || k.stale(id, &r) {
		return nil
	}
	want := ""
	var served controller.Outcome
	if v.Accepted {
		want = ParentLabel(v.Zone)
		served = k.Deliveries.Reached(v.Zone, id, keyOf(&r, v))
		if k.soon(id, served, r.Generation) {
			return &controller.Later{After: grace}
		}
	}
	if r.Labels[v1alpha1.ParentZoneLabel] != want {
		if err := k.label(ctx, id, &r, want); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	c := controller.Conditions{Old: r.Status.Conditions, Generation: r.Generation, Now: k.Clock.Now()}
	status := recordStatus(c, v, served)
	patch := recordPatch(r.Status, status)
	if len(patch) == 0 {
		return nil
	}
	err := k.patchStatus(ctx, id, &r, patch)
	if err == nil || apierrors.IsInvalid(err) {
		k.recordEvents(&r, r.Status.Conditions, status.Conditions)
	}
	return k.unwritten(id, err)
}

// clean removes from a Zone's status what is not ours and cannot be read, if the Zone
// is still what z says. Then it asks to look again.
func (k *Controller) clean(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	if err := k.patchStatus(ctx, id, z, unread(z.Status.Unread)); err != nil {
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
	k.Log.Warn("the API server takes no status of an object that its schema does not allow; an event tells what is wrong",
		"object", id.String(), "error", err)
	return &controller.Later{After: time.Hour}
}

// soon reports whether something may settle by itself and has not been so for long: it
// is on its way, or a server refuses it that may take it once others of the same burst
// are there, such as an MX before the address of its host.
func (k *Controller) soon(id zone.ID, served controller.Outcome, generation int64) bool {
	refused := served.Reason == controller.ReasonRejected
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.state(id)
	if served.Reason != controller.ReasonPending && !refused {
		s.pending = 0
		return false
	}
	now := k.Clock.Now().UnixNano()
	if s.pending == 0 || s.generation != generation || s.refused != refused {
		s.pending, s.generation, s.refused = now, generation, refused
	}
	return now-s.pending < int64(grace)*9/10
}

// ofOneRecord reports whether a condition Served is about one Record and not about all of its Zone.
func ofOneRecord(c *metav1.Condition) bool {
	return c != nil && (c.Reason == controller.ReasonRejected || c.Reason == string(zone.Occluded))
}

// recordEvents makes events of what happened to an object: it was refused, it is accepted
// again, a Backend does not take it. That all is well from the start is no event.
func (k *Controller) recordEvents(o object, before, after []metav1.Condition) {
	for _, kind := range []string{controller.ConditionAccepted, controller.ConditionServed} {
		is, was := condition(after, kind), condition(before, kind)
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
			k.Events.Eventf(o, nil, "Warning", is.Reason, kind, "%s", controller.Note(is.Message))
		case was != nil && was.Status == metav1.ConditionFalse && was.Reason != controller.ReasonPending &&
			was.Reason != controller.ReasonNotAccepted:
			k.Events.Eventf(o, nil, "Normal", is.Reason, kind, "%s", controller.Note(is.Message))
		}
	}
}
