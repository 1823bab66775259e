package bindy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/testcluster"
)

const instanceManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s}, spec: {%s}}`

// fleetStage is a stage on which what the chart installs for sidecars is there, and all reconcilers run.
func fleetStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.install()
	s.start((*Controller).parts)
	return s
}

func (s *stage) install() {
	s.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: bindcarBinding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: bindcarBinding},
	}
	if err := s.live.Create(s.ctx, binding); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = s.live.Delete(s.clean(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: bindcarBinding}})
	})
}

// named is the metadata of an object that is to be read.
func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func (s *stage) deployment(namespace, name string) *appsv1.Deployment {
	s.Helper()
	d := &appsv1.Deployment{ObjectMeta: named(namespace, name)}
	s.get(d)
	return d
}

// kubelet does to the pods of a namespace what a node does until the test ends: those that can run become ready.
func (s *stage) kubelet(namespace string, runs func(p *corev1.Pod) bool) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	var done sync.WaitGroup
	s.Cleanup(func() { cancel(); done.Wait() })
	done.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			var pods corev1.PodList
			_ = s.live.List(ctx, &pods, client.InNamespace(namespace))
			for i := range pods.Items {
				if p := &pods.Items[i]; p.Status.Phase != corev1.PodRunning && runs(p) {
					p.Status.Phase = corev1.PodRunning
					p.Status.Conditions = append(p.Status.Conditions,
						corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
					_ = s.live.Status().Update(ctx, p)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(testcluster.Pace(time.Since(began))):
			}
		}
	})
}

func everyPod(*corev1.Pod) bool { return true }

// isInstance complains about the condition Ready of an instance.
func (s *stage) isInstance(namespace, name string, status metav1.ConditionStatus, reason string, texts ...string) {
	s.Helper()
	s.eventually("the status of "+name, func() string {
		return ready(s.instance(namespace, name).Status.Conditions, status, reason, texts...)
	})
}

// has waits until an object is there.
func (s *stage) has(object client.Object) {
	s.Helper()
	s.eventually(fmt.Sprintf("%T %s", object, object.GetName()), func() string {
		if !s.get(object) {
			return "it is not there"
		}
		return ""
	})
}

func TestAnInstanceOfItsOwnHasAllOfItsChildren(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.apply(instanceManifest, a, "ns", `role: Primary, replicas: 2, config: {recursion: true, allowQuery: [10.0.0.0/8]}`)
	config := &corev1.ConfigMap{ObjectMeta: named(a, "ns-config")}
	service := &corev1.Service{ObjectMeta: named(a, "ns")}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: named(a, "ns")}
	for _, o := range []client.Object{config, service, budget, &appsv1.Deployment{ObjectMeta: named(a, "ns")}} {
		s.has(o)
		if !metav1.IsControlledBy(o, s.instance(a, "ns")) || o.GetLabels()[v1beta1.PartOfLabel] != "bindy" ||
			o.GetLabels()["instance"] != "ns" {
			t.Errorf("%T has the labels %v and owners %v", o, o.GetLabels(), o.GetOwnerReferences())
		}
	}
	if !strings.Contains(config.Data["named.conf.options"], "recursion yes;") {
		t.Error(config.Data)
	}
	s.isInstance(a, "ns", "False", "NotReady", "0 of 2")
	var one atomic.Bool
	s.kubelet(a, func(*corev1.Pod) bool { return one.CompareAndSwap(false, true) })
	s.isInstance(a, "ns", "False", "PartiallyReady", "1 of 2")
	s.kubelet(a, everyPod)
	s.isInstance(a, "ns", "True", "AllReady", "2 of 2")
	i := s.instance(a, "ns")
	if i.Status.ServiceAddress != service.Spec.ClusterIP || i.Status.ObservedGeneration != i.Generation ||
		i.Status.ClusterRef != nil {
		t.Errorf("%+v", i.Status)
	}
	s.quiet()
	s.writes.reset()
	s.stop()
	s.start((*Controller).parts)
	if n := s.quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.writes)
	}
	s.remove(i)
	s.eventually("the end", func() string { return s.isGone(s.instance(a, "ns")) })
	for _, o := range []client.Object{config, service, budget, &appsv1.Deployment{ObjectMeta: named(a, "ns")},
		&corev1.ServiceAccount{ObjectMeta: named(a, "bind9")}} {
		s.eventually("the end of a child", func() string { return s.isGone(o) })
	}
}

func TestServiceAccountsAreCounted(t *testing.T) {
	s := fleetStage(t)
	a, b := s.namespace("a"), s.namespace("b")
	theirs := &corev1.ServiceAccount{ObjectMeta: named(b, "bind9")}
	if err := s.live.Create(s.ctx, theirs); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]string{{a, "one"}, {a, "two"}, {b, "one"}} {
		s.apply(instanceManifest, at[0], at[1], `role: primary`)
		s.has(&appsv1.Deployment{ObjectMeta: named(at[0], at[1])})
	}
	account := &corev1.ServiceAccount{ObjectMeta: named(a, "bind9")}
	s.has(account)
	if len(account.OwnerReferences) > 0 {
		t.Error("the ServiceAccount has an owner")
	}
	s.eventually("the subjects", func() string { return s.subjects(a, b) })
	s.remove(s.instance(a, "one"))
	s.eventually("the end of one", func() string { return s.isGone(s.instance(a, "one")) })
	s.quiet()
	if complaint := s.subjects(a, b); complaint != "" || !s.get(account) {
		t.Errorf("the ServiceAccount went with the first of two instances: %s", complaint)
	}
	for _, at := range [][2]string{{a, "two"}, {b, "one"}} {
		s.remove(s.instance(at[0], at[1]))
	}
	s.eventually("the end of the ServiceAccount", func() string { return s.isGone(account) })
	s.eventually("no subjects", func() string { return s.subjects() })
	s.quiet()
	if !s.get(theirs) || len(theirs.Labels)+len(theirs.Annotations) > 0 {
		t.Errorf("a ServiceAccount that somebody made was touched: %+v", theirs.ObjectMeta)
	}
}

// subjects complains unless the sidecars of exactly these namespaces are bound.
func (s *stage) subjects(namespaces ...string) string {
	s.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: bindcarBinding}}
	s.get(binding)
	var got []string
	for _, subject := range binding.Subjects {
		got = append(got, subject.Namespace)
	}
	if slices.Equal(got, namespaces) {
		return ""
	}
	return fmt.Sprintf("the subjects are of %v and not %v", got, namespaces)
}
