package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// hasCluster complains unless a cluster is there that a provider made.
func (s *stage) hasCluster(namespace string, p *v1beta1.ClusterBind9Provider) string {
	c := s.BindCluster(namespace, p.Name)
	if c.UID == "" || !metav1.IsControlledBy(c, p) {
		return fmt.Sprintf("there is no cluster of it in %s", namespace)
	}
	return ""
}

func TestH1AProviderHasAClusterInEachNamespace(t *testing.T) {
	s := newStage(t)
	a, b, c := s.Namespace("a"), s.Namespace("b"), s.Namespace("c")
	s.start(hierarchy)
	s.Apply(bindytest.ProviderManifest, s.Word, strings.Join([]string{a, b, c}, ","),
		"primaryReplicas: 2, secondaryReplicas: 3, version: '9.18'")
	for _, namespace := range []string{a, b, c} {
		s.Eventually("a cluster", func() string { return s.hasCluster(namespace, s.Provider(s.Word)) })
	}
	p, got := s.Provider(s.Word), s.BindCluster(a, s.Word)
	if got.Labels[v1beta1.ManagedByLabel] != "ClusterBind9Provider" || *got.Spec.PrimaryReplicas != 2 ||
		*got.Spec.SecondaryReplicas != 3 || got.Spec.Version != "9.18" {
		t.Errorf("the cluster is not as the provider says: %v %+v", got.Labels, got.Spec)
	}
	if ref := got.OwnerReferences; len(ref) != 1 || ref[0].Kind != "ClusterBind9Provider" || ref[0].UID != p.UID ||
		!*ref[0].Controller || !*ref[0].BlockOwnerDeletion {
		t.Errorf("the owner references are %+v", ref)
	}
	if !slices.Contains(p.Finalizers, "bindy.firestoned.io/bind9cluster-finalizer") || !slices.Contains(got.Finalizers,
		"bindy.firestoned.io/bind9cluster-finalizer") {
		t.Errorf("the finalizers are %v and %v", p.Finalizers, got.Finalizers)
	}
	s.Eventually("the status", func() string {
		p := s.Provider(s.Word)
		if p.Status.InstanceCount != 15 || p.Status.ReadyInstances != 0 || p.Status.ObservedGeneration != p.Generation ||
			!slices.Contains(p.Status.Instances, a+"/"+s.Word+"-primary-0") {
			return fmt.Sprintf("%+v", p.Status)
		}
		return bindytest.Ready(p.Status.Conditions, "False", "NotReady", "0 of 15 instances are ready")
	})
	s.MarkReady(a, b, c)
	s.Eventually("the status of what is ready", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "True", "AllReady", "15 of 15")
	})

	kept := s.BindCluster(a, s.Word)
	s.Patch(s.Provider(s.Word), fmt.Sprintf(`{"spec":{"namespaces":[%q,%q]}}`, a, c))
	s.Eventually("the removal", func() string {
		if got := s.BindCluster(b, s.Word); got.UID != "" {
			return "the cluster is still there"
		}
		return ""
	})
	if now := s.BindCluster(a, s.Word); now.UID != kept.UID || now.Generation != kept.Generation {
		t.Error("the cluster of another namespace was touched")
	}
	s.Eventually("the status afterwards", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "True", "AllReady", "10 of 10")
	})
}

func TestAProviderWithoutNamespacesHasTheDefault(t *testing.T) {
	s := newStage(t)
	s.Namespace("default") // as --bindy-namespace says
	s.start(hierarchy)
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {primaryReplicas: 1}}`, s.Word)
	s.Eventually("a cluster", func() string { return s.hasCluster(s.Word+"-default", s.Provider(s.Word)) })
}

func TestANamespaceThatIsNotThere(t *testing.T) {
	s := newStage(t)
	a, absent := s.Namespace("a"), s.Word+"-later"
	s.start(hierarchy)
	s.Apply(bindytest.ProviderManifest, s.Word, absent+","+a, "primaryReplicas: 1")
	s.Eventually("the cluster of the other namespace", func() string { return s.hasCluster(a, s.Provider(s.Word)) })
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "NamespaceNotFound", "The namespace "+absent+
			" does not exist; create it")
	})
	s.Namespace("later")
	s.Eventually("the cluster of the namespace that is there now", func() string {
		return s.hasCluster(absent, s.Provider(s.Word))
	})
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "NotReady")
	})

	// A namespace that goes takes the cluster with it, and one that returns has it again.
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: absent, Name: "held", Finalizers: []string{
		"example.org/held"}}}
	if err := s.Live.Create(s.Ctx, held); err != nil {
		t.Fatal(err)
	}
	s.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: absent}})
	s.Eventually("the condition while it goes", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "NamespaceNotFound", "The namespace "+absent+
			" is being deleted")
	})
	s.Patch(held, `{"metadata":{"finalizers":null}}`)
	s.Eventually("the condition when it is gone", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "NamespaceNotFound", "does not exist")
	})
	s.Namespace("later")
	s.Eventually("the cluster", func() string { return s.hasCluster(absent, s.Provider(s.Word)) })
}

func TestAClusterOfThatNameThatSomebodyElseMade(t *testing.T) {
	s := newStage(t)
	a, b := s.Namespace("a"), s.Namespace("b")
	s.Apply(bindytest.ClusterManifest, a, s.Word, "version: '9.20', primaryReplicas: 0")
	theirs := s.BindCluster(a, s.Word)
	s.start(hierarchy)
	s.Apply(bindytest.ProviderManifest, s.Word, a+","+b, "primaryReplicas: 2")
	s.Eventually("the cluster of the other namespace", func() string { return s.hasCluster(b, s.Provider(s.Word)) })
	s.Eventually("the condition", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "NotOwned", "Bind9Cluster "+a+"/"+s.Word+
			" was not made by the operator", "rename or delete it")
	})
	s.Quiet()
	if now := s.BindCluster(a, s.Word); now.Generation != theirs.Generation || len(now.OwnerReferences) > 0 ||
		now.Spec.Version != "9.20" {
		t.Errorf("somebody else's cluster was touched: %+v", now)
	}
	s.Remove(theirs)
	s.Eventually("ours in its place", func() string { return s.hasCluster(a, s.Provider(s.Word)) })

	// Nor is it deleted with the provider.
	s.Apply(bindytest.ClusterManifest, s.Namespace("c"), s.Word, "primaryReplicas: 0")
	s.Remove(s.Provider(s.Word))
	s.Eventually("the end of the provider", func() string { return s.IsGone(s.Provider(s.Word)) })
	if s.BindCluster(s.Word+"-c", s.Word).UID == "" {
		t.Error("somebody else's cluster was deleted with the provider")
	}
}

func TestAContradictoryProviderChangesNothing(t *testing.T) {
	s := newStage(t)
	s.Loosen("clusterbind9providers")
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(bindytest.ProviderManifest, s.Word, a, "primaryReplicas: 2")
	s.Eventually("the instances", func() string { return s.HasInstances(a, s.Word+"-primary-0", s.Word+"-primary-1") })
	for what, body := range map[string]string{
		"spec.primaryReplicas is 1 and spec.primary.replicas is 3":      `{"spec":{"primaryReplicas":1,"primary":{"replicas":3},"namespace":null}}`,
		"spec.namespace is elsewhere, and spec.namespaces lists others": `{"spec":{"primaryReplicas":2,"primary":null,"namespace":"elsewhere"}}`,
	} {
		s.PatchAnyway(s.Provider(s.Word), body)
		s.Eventually("the condition", func() string {
			return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "False", "InvalidSpec", "Nothing was changed", what)
		})
		if complaint := s.HasInstances(a, s.Word+"-primary-0", s.Word+"-primary-1"); complaint != "" {
			t.Error(complaint)
		}
	}
}

func TestAClusterOfAProviderIsKeptAsTheProviderSays(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	s.start(hierarchy)
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {namespace: %s, version: '9.18', primary: {replicas: 1}}}`, s.Word, a)
	s.Eventually("a cluster", func() string { return s.hasCluster(a, s.Provider(s.Word)) })
	s.Patch(s.BindCluster(a, s.Word), `{"metadata":{"annotations":{"note":"mine"},"finalizers":["example.org/wait","bindy.firestoned.io/bind9cluster-finalizer"],"labels":{"bindy.firestoned.io/managed-by":"me"}},
		"spec":{"version":"9.20","primary":{"labels":{"tier":"edge"}}}}`)
	s.Eventually("what is ours", func() string {
		c := s.BindCluster(a, s.Word)
		if c.Spec.Version != "9.18" || c.Labels[v1beta1.ManagedByLabel] != "ClusterBind9Provider" {
			return fmt.Sprintf("%v %+v", c.Labels, c.Spec)
		}
		return ""
	})
	if c := s.BindCluster(a, s.Word); c.Annotations["note"] != "mine" || len(c.Finalizers) != 2 ||
		c.Spec.Primary.Labels["tier"] != "edge" {
		t.Errorf("what others wrote is gone: %v %v %+v", c.Annotations, c.Finalizers, c.Spec.Primary)
	}
	s.Patch(s.Provider(s.Word), `{"spec":{"version":"9.20"}}`)
	s.Eventually("the new version", func() string {
		if got := s.Instance(a, s.Word+"-primary-0"); got.Spec.Version != "9.20" {
			return fmt.Sprintf("%+v", got.Spec)
		}
		return ""
	})
	old := s.BindCluster(a, s.Word)
	s.Remove(old)
	s.Eventually("the instances to be gone", func() string { return s.HasInstances(a) })
	s.Patch(s.BindCluster(a, s.Word), `{"metadata":{"finalizers":null}}`)
	s.Eventually("another one", func() string {
		if now := s.BindCluster(a, s.Word); now.UID == old.UID || now.UID == "" {
			return "it is not there"
		}
		return s.HasInstances(a, s.Word+"-primary-0")
	})
}
