package fleet

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// children counts what a namespace has of the dialect's built-in kinds.
func (s *stage) children(namespace string) map[string]int {
	s.Helper()
	out := map[string]int{}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &corev1.ConfigMapList{},
		&policyv1.PodDisruptionBudgetList{},
	} {
		if err := s.Live.List(s.Ctx, list, client.InNamespace(namespace),
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
	a := s.Namespace("a")
	s.start((*Controller).parts) // there is no node, so that no pod ever runs
	s.Apply(bindytest.ProviderManifest, s.Word, a, "primaryReplicas: 2, secondaryReplicas: 1")
	s.Eventually("the workload", func() string {
		got := s.children(a)
		if got["DeploymentList"] != 3 || got["ServiceList"] != 6 || got["ConfigMapList"] != 1 ||
			got["PodDisruptionBudgetList"] != 1 || got["SecretList"] < 3 {
			return fmt.Sprint(got)
		}
		return ""
	})
	s.Remove(s.Provider(s.Word))
	s.Eventually("the end of the provider", func() string { return s.IsGone(s.Provider(s.Word)) })
	s.Eventually("the end of all below it", func() string {
		if got := s.children(a); len(got) > 0 {
			return fmt.Sprint(got)
		}
		return s.HasInstances(a) + s.IsGone(s.BindCluster(a, s.Word))
	})
}

// TestWhatAClusterSharesIsDeletedByItsFinalizer has somebody else's finalizer on the cluster: the garbage collector
// waits for its end.
func TestWhatAClusterSharesIsDeletedByItsFinalizer(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	s.start((*Controller).parts)
	s.Apply(bindytest.ClusterManifest, a, "dns", "primaryReplicas: 2")
	shared := []client.Object{
		&corev1.ConfigMap{ObjectMeta: bindytest.Named(a, "dns-config")},
		&corev1.Secret{ObjectMeta: bindytest.Named(a, "dns-transfer-key")},
		&policyv1.PodDisruptionBudget{ObjectMeta: bindytest.Named(a, "dns-primary")},
	}
	for _, o := range shared {
		s.Has(o)
	}
	s.Patch(s.BindCluster(a, "dns"),
		`{"metadata":{"finalizers":["bindy.firestoned.io/bind9cluster-finalizer","example.org/wait"]}}`)
	s.Remove(s.BindCluster(a, "dns"))
	for _, o := range shared {
		s.Eventually(fmt.Sprintf("the end of %T", o), func() string { return s.IsGone(o) })
	}
	s.Patch(s.BindCluster(a, "dns"), `{"metadata":{"finalizers":null}}`)
	s.Eventually("the end of the cluster", func() string { return s.IsGone(s.BindCluster(a, "dns")) })
}
