package bindy

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// IsServer reports whether a pod with the labels of an instance is its Deployment's, so that it may be shown a token:
// its ReplicaSet is called as those of the Deployment are.
func IsServer(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.Kind == "ReplicaSet" && owner.APIVersion == appsv1.SchemeGroupVersion.String() &&
		owner.Name == p.Labels[v1beta1.InstanceLabel]+"-"+p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// WasReady reports whether a pod was, when it was last heard of. If its address is another pod's now, it is gone, and
// an event that is on its way says so.
func WasReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// IsOver reports whether a pod has ended.
func IsOver(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// HasKeys reports whether a pod may have key files that a change of keys is to wait for: a node has it, and it is not
// over. One that outlives the end of its time is mostly on a node that is lost, and would be waited for in vain.
func HasKeys(p *corev1.Pod, now time.Time) bool {
	return p.Spec.NodeName != "" && !IsOver(p) && (p.DeletionTimestamp.IsZero() || now.Before(p.DeletionTimestamp.Time))
}

// RestartsOf is how often a container of a pod was started again.
func RestartsOf(p *corev1.Pod, container string) int32 {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Name == container {
			return c.RestartCount
		}
	}
	return 0
}

// StartsOf is how often what knows the zones of a pod was started again: BIND, and who was told which those are.
func StartsOf(p *corev1.Pod) int32 {
	return RestartsOf(p, NamedContainer) + RestartsOf(p, BindcarContainer)
}

// SidecarState is since when the sidecar of a pod runs, zero if it does not, and how often it was started again.
func SidecarState(p *corev1.Pod) (began time.Time, restarts int32) {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Name == BindcarContainer {
			if c.State.Running != nil {
				began = c.State.Running.StartedAt.Time
			}
			return began, c.RestartCount
		}
	}
	return time.Time{}, 0
}
