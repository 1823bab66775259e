package homelab

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/zone"
)

// writeClass keeps a DNSClass for as long as it is used, and writes down how its server is.
func (k *Controller) writeClass(ctx context.Context, id zone.ID) error {
	m, unlock := k.model.Lock()
	c := m.classes[id.Name]
	if c == nil || !k.leads() {
		unlock()
		return nil
	}
	object, used := c.object, len(m.needs[id.Name]) > 0
	status := m.classStatus(c)
	waits := c.checked == nil && object.Status.Health == nil
	wait := grace - k.Clock.Since(c.since)
	unlock()
	if err := k.objects.Behind(object); err != nil {
		return err
	}
	held, deleting := slices.Contains(object.Finalizers, v1alpha1.InUseFinalizer), !object.DeletionTimestamp.IsZero()
	switch {
	case used && !held && !deleting:
		_, err := k.objects.SetFinalizer(ctx, object, v1alpha1.InUseFinalizer, true)
		return client.IgnoreNotFound(err)
	case !used && held && deleting:
		_, err := k.objects.SetFinalizer(ctx, object, v1alpha1.InUseFinalizer, false)
		return client.IgnoreNotFound(err)
	}
	if waits && wait > 0 {
		return &controller.Later{After: wait}
	}
	if !k.isNews(object.Status, status) {
		return nil
	}
	got, err := k.objects.ChangeStatus(ctx, object, object.Status, status)
	if err == nil && got != object {
		k.recordEvent(object, object.Status.Conditions, status.Conditions)
	}
	return client.IgnoreNotFound(err)
}

// classStatus says how a server is.
func (m *model) classStatus(c *class) v1alpha1.DNSClassStatus {
	o := c.object
	conditions := controller.Conditions{Old: o.Status.Conditions, Generation: o.Generation, Now: m.k.Clock.Now()}
	out := v1alpha1.DNSClassStatus{ObservedGeneration: o.Generation}
	if c.checked == nil {
		if o.Status.Health != nil && o.Status.ObservedGeneration == o.Generation {
			return o.Status // of an earlier run; the next check is on its way
		}
		message := "The server has not been asked for its health yet."
		conditions.Set(controller.ConditionReady, controller.Outcome{Status: metav1.ConditionUnknown,
			Reason: servers.ReasonPending, Message: message})
		out.Health = &v1alpha1.Health{Status: v1alpha1.HealthUnknown, Message: message}
		out.Conditions = conditions.List()
		return out
	}
	at := metav1.NewTime(c.checked.at.Truncate(1e9))
	conditions.Set(controller.ConditionReady, c.checked.outcome)
	out.Conditions = conditions.List()
	out.LastHealthCheck = ptr.To(at)
	out.Health = &v1alpha1.Health{Status: c.checked.status, LastCheck: ptr.To(at), Message: c.checked.outcome.Message}
	return out
}

// isNews reports whether a status is worth a write. That the server was asked again is, once an interval.
func (k *Controller) isNews(before, after v1alpha1.DNSClassStatus) bool {
	same := equality.Semantic.DeepEqual(before.Conditions, after.Conditions) &&
		before.ObservedGeneration == after.ObservedGeneration &&
		before.Health != nil && after.Health != nil && before.Health.Status == after.Health.Status &&
		before.Health.Message == after.Health.Message
	return !same || after.LastHealthCheck != nil && (before.LastHealthCheck == nil ||
		after.LastHealthCheck.Sub(before.LastHealthCheck.Time) >= k.HealthInterval*9/10)
}
