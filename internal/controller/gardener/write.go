package gardener

import (
	"context"
	"slices"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// reportProcessing says that an operation has begun.
func (k *Controller) reportProcessing(ctx context.Context, r *record, kind v1alpha1.OperationType) error {
	return k.patchStatus(ctx, r, processing(k.current(r).Status, kind, k.Clock()))
}

// reportWaiting says that an operation has to wait.
func (k *Controller) reportWaiting(ctx context.Context, r *record, run *run, err error) error {
	return k.patchStatus(ctx, r, waiting(k.current(r).Status, run, err, k.Clock()))
}

// reportFailure says what went wrong.
func (k *Controller) reportFailure(ctx context.Context, r *record, run *run, err error) error {
	before := k.current(r).Status
	after := failed(before, run, err, k.Clock())
	if run.step == Put {
		k.mu.Lock()
		unanswered := run.unanswered
		k.mu.Unlock()
		after = notMade(after, unanswered, k.Clock())
	}
	if len(patchOf(before, after)) == 0 {
		return nil
	}
	k.Events.Eventf(run.object, nil, "Warning", "Failed", string(run.kind), "%s",
		controller.Note(after.LastError.Description))
	return k.patchStatus(ctx, r, after)
}

// reportSuccess says that an operation is done, unless that was said and what comes after it is tried again.
func (k *Controller) reportSuccess(ctx context.Context, r *record, run *run) error {
	if run.reported {
		return nil
	}
	before := k.current(r).Status
	if err := k.patchStatus(ctx, r, succeeded(before, run, k.Clock())); err != nil {
		return err
	}
	run.reported = true
	if before.LastError != nil {
		k.Events.Eventf(run.object, nil, "Normal", "Succeeded", string(run.kind), "%s", wordsOf(run.kind).done)
	}
	return nil
}

// patchStatus writes what has changed of a status, if the object is as it is known: nobody else owns any of it, but who
// led before may still write what was true then.
func (k *Controller) patchStatus(ctx context.Context, r *record, after v1alpha1.DNSRecordStatus) error {
	o := k.current(r)
	patch := patchOf(o.Status, after)
	if len(patch) == 0 {
		return nil
	}
	return k.patch(ctx, r, objects.Patch{Of: o, Exactly: true, Status: patch})
}

// take writes down that an operation begins, in one patch: the wish for it is taken off, and what is put has the
// finalizer.
func (k *Controller) take(ctx context.Context, r *record, o *v1alpha1.DNSRecord, wish, put bool) error {
	fields := map[string]any{}
	if wish {
		fields["annotations"] = map[string]any{v1alpha1.OperationAnnotation: nil}
	}
	if put && !hasFinalizer(o) {
		fields["finalizers"] = append(finalizersOf(o), v1alpha1.Finalizer)
	}
	if len(fields) == 0 {
		return nil
	}
	return k.patchMeta(ctx, r, o, fields)
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
	return k.patchMeta(ctx, r, o, map[string]any{"annotations": map[string]any{v1alpha1.OperationAnnotation: nil}})
}

// setFinalizers writes the list of finalizers, if the metadata are as they are known.
func (k *Controller) setFinalizers(ctx context.Context, r *record, list []string) error {
	o := k.current(r)
	if slices.Equal(list, o.Finalizers) {
		return nil
	}
	return k.patchMeta(ctx, r, o, map[string]any{"finalizers": list})
}

func (k *Controller) patchMeta(ctx context.Context, r *record, o *v1alpha1.DNSRecord, fields map[string]any) error {
	return k.patch(ctx, r, objects.Patch{Of: o, Exactly: true, Metadata: fields})
}

// patch sends a patch, and takes over the object of the answer.
func (k *Controller) patch(ctx context.Context, r *record, p objects.Patch) error {
	got := &v1alpha1.DNSRecord{}
	p.Into = got
	if _, err := k.objects.Patch(ctx, p); err != nil {
		return &apiError{err, true}
	}
	got.ManagedFields = nil
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.records[r.id] == r && (newer(got, r.object) || got.ResourceVersion == r.object.ResourceVersion) {
		k.see(r, got)
	}
	return nil
}

func finalizersOf(o *v1alpha1.DNSRecord) []string { return slices.Clone(o.Finalizers) }
