package gardener

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// reportFailure says what went wrong.
func (k *Controller) reportFailure(ctx context.Context, r *record, run *run, err error) error {
	before := k.current(r).Status
	after := failed(before, run, err, k.Clock())
	if run.step == Put {
		after = notMade(after, k.mayBeThere(r), k.Clock())
	}
	if !equality.Semantic.DeepEqual(before, after) {
		k.Events.Eventf(run.object, nil, "Warning", "Failed", string(run.kind), "%s",
			controller.Note(after.LastError.Description))
		if err := k.changeStatus(ctx, r, after); err != nil {
			return err
		}
	}
	_, unlock := k.state.Lock()
	defer unlock()
	r.told = r.told || run.step == Put
	return nil
}

// reportSuccess says that an operation is done, unless that was said and what comes after it is tried again.
func (k *Controller) reportSuccess(ctx context.Context, r *record, run *run) error {
	if run.reported {
		return nil
	}
	before := k.current(r).Status
	if err := k.changeStatus(ctx, r, succeeded(before, run, k.Clock())); err != nil {
		return err
	}
	run.reported = true
	if before.LastError != nil {
		k.Events.Eventf(run.object, nil, "Normal", "Succeeded", string(run.kind), "%s", wordsOf(run.kind).done)
	}
	return nil
}

// tellLost has an event say, once, that nothing is done for want of a Cluster. The status says nothing of it: no
// operation has begun.
func (k *Controller) tellLost(r *record, kind v1alpha1.OperationType, lost bool) {
	_, unlock := k.state.Lock()
	o, told := r.object, r.lost
	r.lost = lost
	unlock()
	if !lost || told {
		return
	}
	text := fmt.Sprintf("The namespace %s is one of a shoot, but there is no Cluster %s; nothing is done until there is.",
		o.Namespace, o.Namespace)
	if kind == v1alpha1.TypeDelete {
		text += " " + release
	}
	k.Events.Eventf(o, nil, "Warning", "NoCluster", string(kind), "%s", controller.Note(text))
}

// changeStatus writes what has changed of a status, if the object is as it is known: nobody else owns any of it, but
// who led before may still write what was true then.
func (k *Controller) changeStatus(ctx context.Context, r *record, after v1alpha1.DNSRecordStatus) error {
	o := k.current(r)
	now := *o
	now.Status = after
	got, err := k.objects.ChangeStatus(ctx, o, o.Status, after)
	if last := after.LastOperation; err == nil && last != nil && stateOf(&now) != stateOf(o) {
		k.Log.Debug("an operation has come to another state", "object", r.id.String(), "operation", string(last.Type),
			"state", string(last.State), "message", last.Description)
	}
	return k.wrote(r, &now, got, err)
}

// changeMetadata changes metadata of an object, if it is as it is known.
func (k *Controller) changeMetadata(ctx context.Context, r *record, o *v1alpha1.DNSRecord,
	fields map[string]any) error {
	now := *o
	got, err := k.objects.Change(ctx, o, "metadata", fields)
	return k.wrote(r, &now, got, err)
}

// wrote takes over what a write has made of an object, but for the metadata, which are those of the answer.
func (k *Controller) wrote(r *record, now *v1alpha1.DNSRecord, answer client.Object, err error) error {
	if err != nil {
		return &apiError{err, true}
	}
	if m, ok := answer.(*metav1.PartialObjectMetadata); ok { // else nothing was written
		now.ObjectMeta = m.ObjectMeta
	}
	s, unlock := k.state.Lock()
	defer unlock()
	if s.records[r.id] == r && objects.Version(now) >= objects.Version(r.object) {
		s.see(r, now)
	}
	return nil
}

// take writes down that an operation begins, in one patch: the wish for it is taken off, and what is put has the
// finalizer.
func (k *Controller) take(ctx context.Context, r *record, o *v1alpha1.DNSRecord, wish, put bool) error {
	fields := map[string]any{}
	if wish {
		fields["annotations"] = map[string]any{v1alpha1.OperationAnnotation: nil}
	}
	if put && !hasFinalizer(o) {
		fields["finalizers"] = append(slices.Clone(o.Finalizers), v1alpha1.Finalizer)
	}
	if len(fields) == 0 {
		return nil
	}
	return k.changeMetadata(ctx, r, o, fields)
}

// removeAnnotation takes the wish for an operation off an object, unless it is another wish by now.
func (k *Controller) removeAnnotation(ctx context.Context, r *record, done *v1alpha1.DNSRecord) error {
	o := k.current(r)
	if o.Annotations[v1alpha1.OperationAnnotation] == "" {
		return nil
	}
	for _, name := range []string{v1alpha1.OperationAnnotation, v1alpha1.TimestampAnnotation} {
		if o.Annotations[name] != done.Annotations[name] {
			return nil
		}
	}
	return k.changeMetadata(ctx, r, o, map[string]any{"annotations": map[string]any{v1alpha1.OperationAnnotation: nil}})
}

// setFinalizers writes the list of finalizers, if the metadata are as they are known.
func (k *Controller) setFinalizers(ctx context.Context, r *record, list []string) error {
	o := k.current(r)
	if slices.Equal(list, o.Finalizers) {
		return nil
	}
	return k.changeMetadata(ctx, r, o, map[string]any{"finalizers": list})
}
