package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestH1AProviderWithThreeNamespaces(t *testing.T) {
	s := newSite(t)
	a, b, c := s.namespace("a"), s.namespace("b"), s.namespace("c")
	s.apply(providerManifest, s.word, strings.Join([]string{a, b, c}, ","), "primaryReplicas: 1")
	s.awaitReady(provider(s.word))
	for _, namespace := range s.namespaces {
		own := must(s, &v1beta1.Bind9Cluster{}, namespace, s.word)
		if ref := own.OwnerReferences; len(ref) != 1 || ref[0].Kind != v1beta1.KindProvider || ref[0].Name != s.word {
			t.Errorf("the owners of the cluster in %s are %+v", namespace, ref)
		}
		if p := s.pod(namespace, s.word+"-primary-0"); !isReady(p) {
			t.Errorf("the pod %s is not ready", p.Name)
		}
		s.service(namespace, s.word+"-primary-0") // it answers
	}
	kept := s.pod(a, s.word+"-primary-0").UID
	s.patch(provider(s.word), fmt.Sprintf(`{"spec":{"namespaces":[%q,%q]}}`, a, c))
	s.eventually("the namespace that is not listed is empty", func() string { return s.isEmpty(b) })
	s.awaitReady(provider(s.word))
	if now := s.pod(a, s.word+"-primary-0").UID; now != kept {
		t.Error("the pod of another namespace was replaced")
	}
}

// isEmpty says what the operator has made in a namespace and is there still.
func (s *site) isEmpty(namespace string) string {
	s.Helper()
	for _, list := range []client.ObjectList{
		&v1beta1.Bind9ClusterList{}, &v1beta1.Bind9InstanceList{}, &appsv1.DeploymentList{}, &corev1.PodList{},
		&corev1.ServiceList{},
		&corev1.SecretList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		if n := s.count(list, client.InNamespace(namespace)); n > 0 {
			return fmt.Sprintf("there are %d in %T", n, list)
		}
	}
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.ServiceAccountList{}} {
		if n := s.count(list, client.InNamespace(namespace),
			client.MatchingLabels{v1beta1.PartOfLabel: v1beta1.PartOfValue}); n > 0 {
			return fmt.Sprintf("there are %d of ours in %T", n, list)
		}
	}
	return ""
}

func TestH2TwoPrimariesAndThreeSecondaries(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	began := time.Now()
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2, secondaryReplicas: 3")
	s.awaitReady(cluster(ns, "dns"))
	t.Logf("from apply to every pod of 2+3 ready: %.1f s", time.Since(began).Seconds())

	want := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1", "dns-secondary-2"}
	if got := s.instances(ns); !slices.Equal(got, want) {
		t.Fatalf("the instances are %q", got)
	}
	owner := must(s, cluster("", ""), ns, "dns")
	if owner.Status.InstanceCount != 5 || owner.Status.ReadyInstances != 5 || !slices.Equal(owner.Status.Instances, want) {
		t.Errorf("the status is %+v", owner.Status)
	}
	for _, name := range want {
		role := strings.Split(name, "-")[1]
		i := must(s, instance("", ""), ns, name)
		wantOwner(t, i, v1beta1.KindCluster, owner.UID)
		wantLabels(t, i, map[string]string{
			"bindy.firestoned.io/managed-by": "Bind9Cluster", "bindy.firestoned.io/cluster": "dns",
			"bindy.firestoned.io/role": role,
		})
		if at := s.service(ns, name).String(); i.Status.ServiceAddress != at {
			t.Errorf("the Service of %s is at %s, and its status says %q", name, at, i.Status.ServiceAddress)
		}
		children := []client.Object{
			must(s, &appsv1.Deployment{}, ns, name), must(s, &corev1.Service{}, ns, name), must(s, &corev1.Secret{}, ns, name+
				"-rndc-key"),
		}
		for _, child := range children {
			wantOwner(t, child, v1beta1.KindInstance, i.UID)
			wantLabels(t, child, childLabels("dns", name, role))
		}
		wantLabels(t, s.pod(ns, name), childLabels("dns", name, role))
	}
	for _, shared := range []client.Object{
		must(s, &corev1.ConfigMap{}, ns, "dns-config"), must(s, &corev1.Secret{}, ns, "dns-transfer-key"),
		must(s, &policyv1.PodDisruptionBudget{}, ns, "dns-primary"), must(s, &policyv1.PodDisruptionBudget{}, ns,
			"dns-secondary"),
	} {
		wantOwner(t, shared, v1beta1.KindCluster, owner.UID)
	}
	account := must(s, &corev1.ServiceAccount{}, ns, "bind9")
	if len(account.OwnerReferences) > 0 {
		t.Errorf("the ServiceAccount, which all share, is owned by %+v", account.OwnerReferences)
	}
	t.Logf("writes of the operator: %d", s.quiet(2*time.Second))
}

// childLabels are those of everything that an instance has.
func childLabels(cluster, instance, role string) map[string]string {
	return map[string]string{
		"app": "bind9", "instance": instance, "cluster": cluster,
		"app.kubernetes.io/name": "bind9", "app.kubernetes.io/instance": instance,
		"app.kubernetes.io/component":  "dns-server",
		"app.kubernetes.io/managed-by": "zonefold", "app.kubernetes.io/part-of": "bindy",
		"bindy.firestoned.io/cluster": cluster, "bindy.firestoned.io/role": role,
		"bindy.firestoned.io/managed-by": "Bind9Instance",
	}
}

func wantLabels(t *testing.T, o client.Object, want map[string]string) {
	t.Helper()
	got := maps.Clone(o.GetLabels())
	for k, v := range want {
		if got[k] != v {
			t.Errorf("the label %s of %T %s is %q, want %q", k, o, o.GetName(), got[k], v)
		}
	}
}

func wantOwner(t *testing.T, o client.Object, kind string, uid any) {
	t.Helper()
	refs := o.GetOwnerReferences()
	if len(refs) != 1 || refs[0].Kind != kind || refs[0].UID != uid || refs[0].Controller == nil || !*refs[0].Controller ||
		refs[0].BlockOwnerDeletion == nil || !*refs[0].BlockOwnerDeletion {
		t.Errorf("the owner of %T %s is not %s %v: %+v", o, o.GetName(), kind, uid, refs)
	}
}

func TestH3Scaling(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 1, secondaryReplicas: 1")
	s.awaitReady(cluster(ns, "dns"))
	first := s.uids(ns)

	s.patch(cluster(ns, "dns"), `{"spec":{"primaryReplicas":3}}`)
	s.awaitReady(cluster(ns, "dns"))
	s.has(ns, "dns-primary-0", "dns-primary-1", "dns-primary-2", "dns-secondary-0")
	s.kept(first, s.uids(ns))

	before := s.uids(ns)
	gap := must(s, instance("", ""), ns, "dns-primary-1").UID
	s.remove(instance(ns, "dns-primary-1"))
	s.eventually("the gap is filled", func() string {
		i := instance(ns, "dns-primary-1")
		if !s.get(i) || i.UID == gap {
			return "there is none, or the old one"
		}
		return s.ready(i, metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	s.has(ns, "dns-primary-0", "dns-primary-1", "dns-primary-2", "dns-secondary-0")
	delete(before, "dns-primary-1")
	s.kept(before, s.uids(ns))

	s.patch(cluster(ns, "dns"), `{"spec":{"primaryReplicas":1}}`)
	s.eventually("the highest numbers go", func() string {
		if got := s.instances(ns); !slices.Equal(got, []string{"dns-primary-0", "dns-secondary-0"}) {
			return fmt.Sprintf("the instances are %q", got)
		}
		return ""
	})
	s.awaitReady(cluster(ns, "dns"))
	s.kept(first, s.uids(ns))

	s.patch(cluster(ns, "dns"), `{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
	s.eventually("none is left", func() string {
		if pods := s.count(&corev1.PodList{}, client.InNamespace(ns)); pods > 0 || len(s.instances(ns)) > 0 {
			return fmt.Sprintf("there are the instances %q and %d pods", s.instances(ns), pods)
		}
		return s.ready(cluster(ns, "dns"), metav1.ConditionFalse, v1beta1.ReasonNoChildren)
	})
	s.patch(cluster(ns, "dns"), `{"spec":{"primaryReplicas":1}}`)
	s.awaitReady(cluster(ns, "dns"))
	s.has(ns, "dns-primary-0")
	s.service(ns, "dns-primary-0") // it answers
}

// has complains unless these are the instances of a namespace.
func (s *site) has(namespace string, want ...string) {
	s.Helper()
	if got := s.instances(namespace); !slices.Equal(got, want) {
		s.Fatalf("the instances are %q, want %q", got, want)
	}
}

// kept complains if one of what was there before is not the same.
func (s *site) kept(before, after map[string]string) {
	s.Helper()
	for name, uid := range before {
		if after[name] != uid {
			s.Errorf("%s was replaced or removed", name)
		}
	}
}
