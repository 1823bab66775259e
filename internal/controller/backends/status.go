package backends

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// write brings the status of a Backend up to date.
func (b *Controller) write(ctx context.Context, id zone.ID) error {
	var backend v1alpha1.Backend
	if err := b.Client.Get(ctx, client.ObjectKey{Name: id.Name}, &backend); err != nil {
		return client.IgnoreNotFound(err)
	}
	k, ok := b.lookup(id.Name)
	if !ok {
		return nil
	}
	zones, trouble := b.Places.Outcome(id.Name)
	if k.trouble != nil {
		trouble = k.trouble
	}
	if k.stopped && zones > 0 {
		trouble = problem(trouble.Reason,
			"%s Until then the operator sends nothing to its servers, and they keep what they serve.",
			trouble.Message)
	}
	cautions := append(b.cautions(&backend, k.warnings), b.catalogTaken(ctx, &backend)...)
	status := status(&backend, findings{zones, trouble, cautions, b.access(ctx).restricted(k.grants)}, b.Clock())
	status.LeftBehind = b.tellLeft(&backend)
	if equality.Semantic.DeepEqual(backend.Status, status) {
		return nil
	}
	if trouble != nil && trouble.Reason == controller.ReasonPending &&
		backend.Status.ObservedGeneration == backend.Generation {
		return &controller.Later{After: time.Second} // so is what is about to be known
	}
	if trouble == nil && backend.Status.ObservedGeneration == backend.Generation && b.Places.Unsure(id.Name) {
		return &controller.Later{After: time.Second} // what an earlier run has found may still be true
	}
	if _, err := b.objects.ChangeStatus(ctx, &backend, backend.Status, status); err != nil {
		return err
	}
	if trouble != nil && trouble.Reason != controller.ReasonPending &&
		!hasReason(backend.Status.Conditions, trouble.Reason) {
		b.Events.Eventf(&backend, nil, "Warning", trouble.Reason, controller.ConditionReady, "%s",
			controller.Note(trouble.Message))
	}
	// The count of zones moves while zones come and go: once in a while is enough.
	return &controller.Later{After: 5 * time.Second}
}

func hasReason(conditions []metav1.Condition, reason string) bool {
	c := meta.FindStatusCondition(conditions, controller.ConditionReady)
	return c != nil && c.Reason == reason
}

// findings are what was found out about a Backend.
type findings struct {
	zones      int
	trouble    *controller.Outcome
	cautions   []caution
	restricted controller.Outcome
}

// A caution is something that does not keep a Backend from being used, and is hardly meant so.
type caution struct{ reason, message string }

// cautions lists what a Backend is warned of, beside grants that cannot be read.
func (b *Controller) cautions(backend *v1alpha1.Backend, grants []string) (out []caution) {
	for _, text := range grants {
		out = append(out, caution{controller.ReasonInvalidGrant, text})
	}
	embedded := backend.Spec.Embedded
	if !b.ClientsHidden || embedded == nil {
		return out
	}
	for i, rule := range embedded.Transfer {
		if len(rule.Addresses) > 0 {
			return append(out, caution{controller.ReasonClientsHidden,
				fmt.Sprintf("The entry %d of embedded.transfer uses addresses, but the name server sees addresses of nodes "+
					"instead of those outside the cluster; set dns.service.externalTrafficPolicy of the chart to Local, or use a "+
					"tsig key alone.", i)})
		}
	}
	return out
}

// status returns what is to be said about a Backend.
func status(b *v1alpha1.Backend, f findings, now time.Time) v1alpha1.BackendStatus {
	c := controller.Conditions{Old: b.Status.Conditions, Generation: b.Generation, Now: now}
	ready := controller.OK(controller.ReasonReady, "The Backend can be used.")
	if f.trouble != nil {
		ready = *f.trouble
	}
	c.Set(controller.ConditionReady, ready)
	c.Set(controller.ConditionRestricted, f.restricted)
	var texts []string
	for _, caution := range f.cautions {
		texts = append(texts, caution.message)
	}
	if len(texts) > 0 {
		c.Set(controller.ConditionWarning, controller.OK(f.cautions[0].reason, strings.Join(texts, " ")))
	}
	return v1alpha1.BackendStatus{
		Type: kind(&b.Spec), Zones: int32(f.zones), ObservedGeneration: b.Generation, Conditions: c.List(),
	}
}
