package kubizone

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// spend removes the approval of deletions when these have been made, so that it is valid once. The object is then as it
// is written.
func spend(ctx context.Context, w *objects.Writer, o object, out delivery.ZoneOutcome) error {
	if _, approves := o.GetAnnotations()[zonefold.ApproveAnnotation]; !approves || !out.Settled() {
		return nil
	}
	got, err := w.Change(ctx, o, "metadata",
		map[string]any{"annotations": map[string]any{zonefold.ApproveAnnotation: nil}})
	if err == nil {
		o.SetResourceVersion(got.GetResourceVersion())
	}
	return err
}

// recordHeld makes an event of what is held from now on, or otherwise than before, and of what is not any more.
func recordHeld(to events.EventRecorder, o object, before, after []metav1.Condition) {
	is, was := meta.FindStatusCondition(after, controller.ConditionHeld),
		meta.FindStatusCondition(before, controller.ConditionHeld)
	switch {
	case is != nil && (was == nil || was.Reason != is.Reason):
		to.Eventf(o, nil, "Warning", is.Reason, controller.ConditionHeld, "%s", controller.Note(is.Message))
	case is == nil && was != nil:
		to.Eventf(o, nil, "Normal", controller.ReasonNothingHeld, controller.ConditionHeld,
			"No deletion is held.")
	}
}
