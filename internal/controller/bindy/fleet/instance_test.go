package fleet

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

func TestAnInstanceOfItsOwnHasAllOfItsChildren(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary, replicas: 2, config: {recursion: true, allowQuery: [10.0.0.0/8]}`)
	config := &corev1.ConfigMap{ObjectMeta: bindytest.Named(a, "ns-config")}
	service := &corev1.Service{ObjectMeta: bindytest.Named(a, "ns")}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: bindytest.Named(a, "ns")}
	for _, o := range []client.Object{config, service, budget, &appsv1.Deployment{ObjectMeta: bindytest.Named(a, "ns")}} {
		s.Has(o)
		if !metav1.IsControlledBy(o, s.Instance(a, "ns")) || o.GetLabels()[v1beta1.PartOfLabel] != "bindy" ||
			o.GetLabels()["instance"] != "ns" {
			t.Errorf("%T has the labels %v and owners %v", o, o.GetLabels(), o.GetOwnerReferences())
		}
	}
	if !strings.Contains(config.Data["named.conf.options"], "recursion yes;") {
		t.Error(config.Data)
	}
	s.IsInstance(a, "ns", "False", "NotReady", "0 of 2")
	var one atomic.Bool
	s.Kubelet(a, func(*corev1.Pod) bool { return one.CompareAndSwap(false, true) })
	s.IsInstance(a, "ns", "False", "PartiallyReady", "1 of 2")
	s.Kubelet(a, bindytest.EveryPod)
	s.IsInstance(a, "ns", "True", "AllReady", "2 of 2")
	i := s.Instance(a, "ns")
	if i.Status.ServiceAddress != service.Spec.ClusterIP || i.Status.ObservedGeneration != i.Generation ||
		i.Status.ClusterRef != nil {
		t.Errorf("%+v", i.Status)
	}
	s.Quiet()
	s.Writes.Reset()
	s.Stop()
	s.start((*Controller).parts)
	if n := s.Quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.Writes)
	}
	s.Remove(i)
	s.Eventually("the end", func() string { return s.IsGone(s.Instance(a, "ns")) })
	for _, o := range []client.Object{config, service, budget, &appsv1.Deployment{ObjectMeta: bindytest.Named(a, "ns")},
		&corev1.ServiceAccount{ObjectMeta: bindytest.Named(a, "bind9")}} {
		s.Eventually("the end of a child", func() string { return s.IsGone(o) })
	}
}

func TestServiceAccountsAreCounted(t *testing.T) {
	s := fleetStage(t)
	a, b := s.Namespace("a"), s.Namespace("b")
	theirs := &corev1.ServiceAccount{ObjectMeta: bindytest.Named(b, "bind9")}
	if err := s.Live.Create(s.Ctx, theirs); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]string{{a, "one"}, {a, "two"}, {b, "one"}} {
		s.Apply(bindytest.InstanceManifest, at[0], at[1], `role: primary`)
		s.Has(&appsv1.Deployment{ObjectMeta: bindytest.Named(at[0], at[1])})
	}
	account := &corev1.ServiceAccount{ObjectMeta: bindytest.Named(a, "bind9")}
	s.Has(account)
	if len(account.OwnerReferences) > 0 {
		t.Error("the ServiceAccount has an owner")
	}
	s.Eventually("the subjects", func() string { return s.subjects(a, b) })
	s.Remove(s.Instance(a, "one"))
	s.Eventually("the end of one", func() string { return s.IsGone(s.Instance(a, "one")) })
	s.Quiet()
	if complaint := s.subjects(a, b); complaint != "" || !s.Get(account) {
		t.Errorf("the ServiceAccount went with the first of two instances: %s", complaint)
	}
	for _, at := range [][2]string{{a, "two"}, {b, "one"}} {
		s.Remove(s.Instance(at[0], at[1]))
	}
	s.Eventually("the end of the ServiceAccount", func() string { return s.IsGone(account) })
	s.Eventually("no subjects", func() string { return s.subjects() })
	s.Quiet()
	if !s.Get(theirs) || len(theirs.Labels)+len(theirs.Annotations) > 0 {
		t.Errorf("a ServiceAccount that somebody made was touched: %+v", theirs.ObjectMeta)
	}
}

// subjects complains unless the sidecars of exactly these namespaces are bound.
func (s *stage) subjects(namespaces ...string) string {
	s.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: dialect.BindcarBinding}}
	s.Get(binding)
	var got []string
	for _, subject := range binding.Subjects {
		got = append(got, subject.Namespace)
	}
	if slices.Equal(got, namespaces) {
		return ""
	}
	return fmt.Sprintf("the subjects are of %v and not %v", got, namespaces)
}
