package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func (s *stage) provider(name string) *v1beta1.ClusterBind9Provider {
	s.Helper()
	p := &v1beta1.ClusterBind9Provider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.get(p)
	return p
}

func (s *stage) bindCluster(namespace, name string) *v1beta1.Bind9Cluster {
	s.Helper()
	c := &v1beta1.Bind9Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.get(c)
	return c
}

// hasCluster complains unless a cluster is there that a provider made.
func (s *stage) hasCluster(namespace string, p *v1beta1.ClusterBind9Provider) string {
	c := s.bindCluster(namespace, p.Name)
	if c.UID == "" || !metav1.IsControlledBy(c, p) {
		return fmt.Sprintf("there is no cluster of it in %s", namespace)
	}
	return ""
}

const providerManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {namespaces: [%s], %s}}`

func TestH1AProviderHasAClusterInEachNamespace(t *testing.T) {
	s := newStage(t)
	a, b, c := s.namespace("a"), s.namespace("b"), s.namespace("c")
	s.start(hierarchy)
	s.apply(providerManifest, s.word, strings.Join([]string{a, b, c}, ","),
		"primaryReplicas: 2, secondaryReplicas: 3, version: '9.18'")
	for _, namespace := range []string{a, b, c} {
		s.eventually("a cluster", func() string { return s.hasCluster(namespace, s.provider(s.word)) })
	}
	p, got := s.provider(s.word), s.bindCluster(a, s.word)
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
	s.eventually("the status", func() string {
		p := s.provider(s.word)
		if p.Status.InstanceCount != 15 || p.Status.ReadyInstances != 0 || p.Status.ObservedGeneration != p.Generation ||
			!slices.Contains(p.Status.Instances, a+"/"+s.word+"-primary-0") {
			return fmt.Sprintf("%+v", p.Status)
		}
		return ready(p.Status.Conditions, "False", "NotReady", "0 of 15 instances are ready")
	})
	s.markReady(a, b, c)
	s.eventually("the status of what is ready", func() string {
		return ready(s.provider(s.word).Status.Conditions, "True", "AllReady", "15 of 15")
	})

	kept := s.bindCluster(a, s.word)
	s.patch(s.provider(s.word), fmt.Sprintf(`{"spec":{"namespaces":[%q,%q]}}`, a, c))
	s.eventually("the removal", func() string {
		if got := s.bindCluster(b, s.word); got.UID != "" {
			return "the cluster is still there"
		}
		return ""
	})
	if now := s.bindCluster(a, s.word); now.UID != kept.UID || now.Generation != kept.Generation {
		t.Error("the cluster of another namespace was touched")
	}
	s.eventually("the status afterwards", func() string {
		return ready(s.provider(s.word).Status.Conditions, "True", "AllReady", "10 of 10")
	})
}

// markReady does what the pods of all instances would bring about.
func (s *stage) markReady(namespaces ...string) {
	s.Helper()
	for _, namespace := range namespaces {
		for _, i := range s.instances(namespace) {
			s.markInstance(&i, "True")
		}
	}
}

func (s *stage) markInstance(i *v1beta1.Bind9Instance, status string) {
	s.Helper()
	body :=
		fmt.Sprintf(
			`{"status":{"observedParentGeneration":%d,"conditions":[{"type":"Ready","status":%q,"reason":"Tested","message":"","observedGeneration":%d,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
			s.bindCluster(i.Namespace, i.Spec.ClusterRef).Generation, status, i.Generation)
	s.patchStatus(i, body)
}

func TestAProviderWithoutNamespacesHasTheDefault(t *testing.T) {
	s := newStage(t)
	s.namespace("default") // as --bindy-namespace says
	s.start(hierarchy)
	s.apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {primaryReplicas: 1}}`, s.word)
	s.eventually("a cluster", func() string { return s.hasCluster(s.word+"-default", s.provider(s.word)) })
}

func TestANamespaceThatIsNotThere(t *testing.T) {
	s := newStage(t)
	a, absent := s.namespace("a"), s.word+"-later"
	s.start(hierarchy)
	s.apply(providerManifest, s.word, absent+","+a, "primaryReplicas: 1")
	s.eventually("the cluster of the other namespace", func() string { return s.hasCluster(a, s.provider(s.word)) })
	s.eventually("the condition", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "NamespaceNotFound", "The namespace "+absent+
			" does not exist: create it")
	})
	s.namespace("later")
	s.eventually("the cluster of the namespace that is there now", func() string {
		return s.hasCluster(absent, s.provider(s.word))
	})
	s.eventually("the condition", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "NotReady")
	})

	// A namespace that goes takes the cluster with it, and one that returns has it again.
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: absent, Name: "held", Finalizers: []string{
		"example.org/held"}}}
	if err := s.live.Create(s.ctx, held); err != nil {
		t.Fatal(err)
	}
	s.remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: absent}})
	s.eventually("the condition while it goes", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "NamespaceNotFound", "The namespace "+absent+
			" is being deleted")
	})
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.eventually("the condition when it is gone", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "NamespaceNotFound", "does not exist")
	})
	s.namespace("later")
	s.eventually("the cluster", func() string { return s.hasCluster(absent, s.provider(s.word)) })
}

func TestAClusterOfThatNameThatSomebodyElseMade(t *testing.T) {
	s := newStage(t)
	a, b := s.namespace("a"), s.namespace("b")
	s.apply(clusterManifest, a, s.word, "version: '9.20', primaryReplicas: 0")
	theirs := s.bindCluster(a, s.word)
	s.start(hierarchy)
	s.apply(providerManifest, s.word, a+","+b, "primaryReplicas: 2")
	s.eventually("the cluster of the other namespace", func() string { return s.hasCluster(b, s.provider(s.word)) })
	s.eventually("the condition", func() string {
		return ready(s.provider(s.word).Status.Conditions, "False", "NotOwned", "Bind9Cluster "+a+"/"+s.word+
			" was made by somebody else", "rename or delete it")
	})
	s.quiet()
	if now := s.bindCluster(a, s.word); now.Generation != theirs.Generation || len(now.OwnerReferences) > 0 ||
		now.Spec.Version != "9.20" {
		t.Errorf("somebody else's cluster was touched: %+v", now)
	}
	s.remove(theirs)
	s.eventually("ours in its place", func() string { return s.hasCluster(a, s.provider(s.word)) })

	// Nor is it deleted with the provider.
	s.apply(clusterManifest, s.namespace("c"), s.word, "primaryReplicas: 0")
	s.remove(s.provider(s.word))
	s.eventually("the end of the provider", func() string { return s.isGone(s.provider(s.word)) })
	if s.bindCluster(s.word+"-c", s.word).UID == "" {
		t.Error("somebody else's cluster was deleted with the provider")
	}
}

func TestAContradictoryProviderChangesNothing(t *testing.T) {
	s := newStage(t)
	s.loosen("clusterbind9providers")
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(providerManifest, s.word, a, "primaryReplicas: 2")
	s.eventually("the instances", func() string { return s.hasInstances(a, s.word+"-primary-0", s.word+"-primary-1") })
	for what, body := range map[string]string{
		"spec.primaryReplicas is 1 and spec.primary.replicas is 3":      `{"spec":{"primaryReplicas":1,"primary":{"replicas":3},"namespace":null}}`,
		"spec.namespace is elsewhere, and spec.namespaces lists others": `{"spec":{"primaryReplicas":2,"primary":null,"namespace":"elsewhere"}}`,
	} {
		s.patchAnyway(s.provider(s.word), body)
		s.eventually("the condition", func() string {
			return ready(s.provider(s.word).Status.Conditions, "False", "InvalidSpec", "Nothing was changed", what)
		})
		if complaint := s.hasInstances(a, s.word+"-primary-0", s.word+"-primary-1"); complaint != "" {
			t.Error(complaint)
		}
	}
}

func TestAClusterOfAProviderIsKeptAsTheProviderSays(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.start(hierarchy)
	s.apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {namespace: %s, version: '9.18', primary: {replicas: 1}}}`, s.word, a)
	s.eventually("a cluster", func() string { return s.hasCluster(a, s.provider(s.word)) })
	s.patch(s.bindCluster(a, s.word), `{"metadata":{"annotations":{"note":"mine"},"finalizers":["example.org/wait","bindy.firestoned.io/bind9cluster-finalizer"],"labels":{"bindy.firestoned.io/managed-by":"me"}},
		"spec":{"version":"9.20","primary":{"labels":{"tier":"edge"}}}}`)
	s.eventually("what is ours", func() string {
		c := s.bindCluster(a, s.word)
		if c.Spec.Version != "9.18" || c.Labels[v1beta1.ManagedByLabel] != "ClusterBind9Provider" {
			return fmt.Sprintf("%v %+v", c.Labels, c.Spec)
		}
		return ""
	})
	if c := s.bindCluster(a, s.word); c.Annotations["note"] != "mine" || len(c.Finalizers) != 2 ||
		c.Spec.Primary.Labels["tier"] != "edge" {
		t.Errorf("what others wrote is gone: %v %v %+v", c.Annotations, c.Finalizers, c.Spec.Primary)
	}
	s.patch(s.provider(s.word), `{"spec":{"version":"9.20"}}`)
	s.eventually("the new version", func() string {
		if got := s.instance(a, s.word+"-primary-0"); got.Spec.Version != "9.20" {
			return fmt.Sprintf("%+v", got.Spec)
		}
		return ""
	})
	old := s.bindCluster(a, s.word)
	s.remove(old)
	s.eventually("the instances to be gone", func() string { return s.hasInstances(a) })
	s.patch(s.bindCluster(a, s.word), `{"metadata":{"finalizers":null}}`)
	s.eventually("another one", func() string {
		if now := s.bindCluster(a, s.word); now.UID == old.UID || now.UID == "" {
			return "it is not there"
		}
		return s.hasInstances(a, s.word+"-primary-0")
	})
}
