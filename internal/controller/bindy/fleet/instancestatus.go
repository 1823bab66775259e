package fleet

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// updateStatus says in the status what came of a visit.
func (v *visit) updateStatus(ctx context.Context) error {
	i := v.instance
	var live appsv1.Deployment
	if err := v.client.Get(ctx, client.ObjectKeyFromObject(i), &live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the Deployment of Bind9Instance %s/%s: %w", i.Namespace, i.Name, err)
	}
	var service corev1.Service
	if err := v.client.Get(ctx, client.ObjectKeyFromObject(i), &service); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the Service of Bind9Instance %s/%s: %w", i.Namespace, i.Name, err)
	}
	status := *i.Status.DeepCopy()
	status.ServiceAddress, status.Addresses = "", nil
	if metav1.IsControlledBy(&service, i) {
		status.Addresses = dialect.ReachedAt(&service, v.pods, i.Status.Addresses)
		if service.Spec.ClusterIP != corev1.ClusterIPNone {
			status.ServiceAddress = service.Spec.ClusterIP
		}
	}
	status.ObservedGeneration = i.Generation
	status.ClusterRef, status.ObservedParentGeneration = nil, 0
	if v.plan != nil {
		status.RNDCKeyRotation = v.rotation
		if p := v.plan.Parent; p != nil {
			status.ObservedParentGeneration = p.Generation
			status.ClusterRef = &v1beta1.ParentReference{APIVersion: v1beta1.GroupVersion.String(), Kind: p.Kind, Name: p.Name}
			if p.Kind == v1beta1.KindCluster {
				status.ClusterRef.Namespace = i.Namespace
			}
		}
	}
	if v.zones != nil && (v.plan != nil || v.kept) {
		status.Zones, status.ZonesCount = v.listed, int32(len(v.listed))
	}
	v.lags = v.objects.Behind(&live) != nil
	w := workloadOf(i, v, &live)
	if w.held != "" && w.exists { // the pods are still of what was observed before
		status.ObservedGeneration, status.ObservedParentGeneration = i.Status.ObservedGeneration,
			i.Status.ObservedParentGeneration
	}
	conditions := controller.Conditions{Old: i.Status.Conditions, Generation: status.ObservedGeneration, Now: v.clock()}
	ready := w.ready()
	conditions.Set(v1beta1.ConditionReady, ready)
	conditions.Set(v1beta1.ConditionProgressing, w.progressing(ready))
	conditions.Set(v1beta1.ConditionDegraded, w.degraded(ready))
	if v.plan != nil {
		warnings(&conditions, v.plan.Cautions(dialect.Describe(v1beta1.KindInstance, client.ObjectKeyFromObject(i))))
	}
	status.Conditions = conditions.List()
	v.warnOf(i, i.Status.Conditions, v.troubles, ready)
	return v.writeStatus(ctx, i, i.Status, status)
}

// A state is what is known of the pods of an instance.
type state struct {
	troubles []dialect.Trouble
	held     string
	deleting bool
	exists   bool // there is a Deployment
	rolling  bool // its pods are being replaced
	wanted   int32
	upToDate int32 // ready pods of the template that is wanted now, or, while it is held back, of the former
	serving  int32 // ready, of whichever template
	pods     []string
}

func workloadOf(i *v1beta1.Bind9Instance, v *visit, d *appsv1.Deployment) state {
	out := state{troubles: v.troubles, held: v.held, deleting: !i.DeletionTimestamp.IsZero(),
		wanted: i.Spec.ReplicasOrDefault()}
	if !metav1.IsControlledBy(d, i) {
		return out
	}
	out.exists = true
	out.serving = d.Status.ReadyReplicas
	observed := !v.lags && d.Status.ObservedGeneration >= d.Generation
	if observed {
		// Of those that are of the template, as many are ready as are left when all others are.
		out.upToDate = max(0, min(d.Status.UpdatedReplicas,
			d.Status.ReadyReplicas-max(0, d.Status.Replicas-d.Status.UpdatedReplicas)))
	}
	if d.Status.UpdatedReplicas == d.Status.Replicas && observed {
		out.upToDate = d.Status.ReadyReplicas
	}
	out.upToDate = min(out.upToDate, out.wanted)
	out.rolling = d.Status.Replicas > 0 && (!observed || d.Status.UpdatedReplicas < d.Status.Replicas) &&
		ptr.Deref(d.Spec.Replicas, 1) > 0
	out.pods = append(dialect.Failures(d), dialect.PodTroubles(v.pods)...)
	return out
}

// ready is the condition Ready: every pod runs what the spec asks for, or, while it is held back, asked for before, and
// has its zones.
func (s state) ready() controller.Outcome {
	if len(s.troubles) > 0 {
		var messages []string
		for _, t := range s.troubles {
			messages = append(messages, t.Message)
		}
		return controller.Not(s.troubles[0].Reason, strings.Join(append(messages, s.pods...), " "))
	}
	counted := fmt.Sprintf("%d of %d pods are ready.", s.upToDate, s.wanted)
	if s.rolling {
		counted = fmt.Sprintf("Pods are being replaced: %d of %d new ones are ready, %d serve.", s.upToDate, s.wanted,
			s.serving)
	}
	told := strings.Join(append([]string{counted}, s.pods...), " ")
	switch {
	case s.held != "" && !s.exists:
		return controller.Not(v1beta1.ReasonNotReady, s.held)
	case s.rolling:
		return controller.Not(v1beta1.ReasonRollingOut, told)
	case s.upToDate >= s.wanted && (s.exists || s.wanted == 0):
		if s.wanted == 0 {
			counted = "It has no pods because replicas is 0."
		}
		return controller.OK(v1beta1.ReasonAllReady, counted)
	case s.upToDate == 0:
		return controller.Not(v1beta1.ReasonNotReady, told)
	}
	return controller.Not(v1beta1.ReasonPartiallyReady, told)
}

// progressing is the condition Progressing: a change is under way, or waits for its turn.
func (s state) progressing(ready controller.Outcome) controller.Outcome {
	switch {
	case s.held != "" && s.exists:
		return controller.OK(v1beta1.ReasonRollingOut, s.held)
	case s.rolling:
		return controller.OK(v1beta1.ReasonRollingOut, ready.Message)
	case len(s.troubles) == 0 && ready.Status != metav1.ConditionTrue:
		return controller.OK(ready.Reason, ready.Message)
	}
	return controller.Not(ready.Reason, "No change is under way.")
}

// degraded is the condition Degraded: it works in part.
func (s state) degraded(ready controller.Outcome) controller.Outcome {
	if s.serving > 0 && ready.Status != metav1.ConditionTrue && (len(s.troubles) > 0 || s.serving < s.wanted) {
		return controller.OK(ready.Reason, cmp.Or(ready.Message, "Some parts of it work."))
	}
	return controller.Not(ready.Reason, dialect.NotDegraded(ready.Status == metav1.ConditionTrue))
}
