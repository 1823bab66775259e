package bindy

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// children counts what a namespace has of the dialect's built-in kinds.
func (s *stage) children(namespace string) map[string]int {
	s.Helper()
	out := map[string]int{}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &corev1.ConfigMapList{},
		&policyv1.PodDisruptionBudgetList{},
	} {
		if err := s.live.List(s.ctx, list, client.InNamespace(namespace),
			client.MatchingLabels{"app.kubernetes.io/part-of": "bindy"}); err != nil {
			s.Fatal(err)
		}
		if n := meta.LenList(list); n > 0 {
			out[fmt.Sprintf("%T", list)[len("*v1."):]] = n
		}
	}
	return out
}

func TestH5AProviderIsDeletedWithoutPodsRunning(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start((*Controller).parts) // there is no node, so that no pod ever runs
	s.apply(providerManifest, s.word, a, "primaryReplicas: 2, secondaryReplicas: 1")
	s.eventually("the workload", func() string {
		got := s.children(a)
		if got["DeploymentList"] != 3 || got["ServiceList"] != 6 || got["ConfigMapList"] != 1 ||
			got["PodDisruptionBudgetList"] != 1 || got["SecretList"] < 3 {
			return fmt.Sprint(got)
		}
		return ""
	})
	s.remove(s.provider(s.word))
	s.eventually("the end of the provider", func() string { return s.isGone(s.provider(s.word)) })
	s.eventually("the end of all below it", func() string {
		if got := s.children(a); len(got) > 0 {
			return fmt.Sprint(got)
		}
		return s.hasInstances(a) + s.isGone(s.bindCluster(a, s.word))
	})
}

// TestWhatAClusterSharesIsDeletedByItsFinalizer has somebody else's finalizer on the cluster: the garbage collector
// waits for its end.
func TestWhatAClusterSharesIsDeletedByItsFinalizer(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start((*Controller).parts)
	s.apply(clusterManifest, a, "dns", "primaryReplicas: 2")
	shared := []client.Object{
		&corev1.ConfigMap{ObjectMeta: named(a, "dns-config")}, &corev1.Secret{ObjectMeta: named(a, "dns-transfer-key")},
		&policyv1.PodDisruptionBudget{ObjectMeta: named(a, "dns-primary")},
	}
	for _, o := range shared {
		s.has(o)
	}
	s.patch(s.bindCluster(a, "dns"),
		`{"metadata":{"finalizers":["bindy.firestoned.io/bind9cluster-finalizer","example.org/wait"]}}`)
	s.remove(s.bindCluster(a, "dns"))
	for _, o := range shared {
		s.eventually(fmt.Sprintf("the end of %T", o), func() string { return s.isGone(o) })
	}
	s.patch(s.bindCluster(a, "dns"), `{"metadata":{"finalizers":null}}`)
	s.eventually("the end of the cluster", func() string { return s.isGone(s.bindCluster(a, "dns")) })
}
