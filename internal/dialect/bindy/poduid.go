package bindy

import (
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
