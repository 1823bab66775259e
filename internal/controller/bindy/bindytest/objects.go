package bindytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// What people write: a namespace (of a provider: a name and namespaces), a name and a spec are to be filled in.
const (
	ClusterManifest  = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: %s}, spec: {%s}}`
	InstanceManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s}, spec: {%s}}`
	ProviderManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {namespaces: [%s], %s}}`
)

// Secrets of keys.
const (
	OctetsA = "YSBzZWNyZXQgb2Ygc2l4dGVlbiBvY3RldHMgYW5kIG1vcmU="
	OctetsB = "YW5vdGhlciBzZWNyZXQgb2Ygc2l4dGVlbiBvY3RldHMgYW5k"
)

// Instances are all of a namespace, sorted.
func (s *Stage) Instances(namespace string) []v1beta1.Bind9Instance {
	s.Helper()
	var all v1beta1.Bind9InstanceList
	if err := s.Live.List(s.Ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(all.Items, func(a, b v1beta1.Bind9Instance) int { return dialect.CompareInstances(a.Name, b.Name) })
	return all.Items
}

// Instance reads an instance.
func (s *Stage) Instance(namespace, name string) *v1beta1.Bind9Instance {
	s.Helper()
	i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.Get(i)
	return i
}

// HasInstances complains unless a namespace has exactly these.
func (s *Stage) HasInstances(namespace string, names ...string) string {
	s.Helper()
	var got []string
	for _, i := range s.Instances(namespace) {
		got = append(got, i.Name)
	}
	if slices.Equal(got, names) {
		return ""
	}
	return fmt.Sprintf("the instances are %v and not %v", got, names)
}

// Provider reads a provider.
func (s *Stage) Provider(name string) *v1beta1.ClusterBind9Provider {
	s.Helper()
	p := &v1beta1.ClusterBind9Provider{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Get(p)
	return p
}

// BindCluster reads a cluster.
func (s *Stage) BindCluster(namespace, name string) *v1beta1.Bind9Cluster {
	s.Helper()
	c := &v1beta1.Bind9Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.Get(c)
	return c
}

// MarkReady does what the pods of all instances would bring about.
func (s *Stage) MarkReady(namespaces ...string) {
	s.Helper()
	for _, namespace := range namespaces {
		for _, i := range s.Instances(namespace) {
			s.MarkInstance(&i, "True")
		}
	}
}

// MarkInstance does what the pods of one instance would bring about.
func (s *Stage) MarkInstance(i *v1beta1.Bind9Instance, status string) {
	s.Helper()
	body :=
		fmt.Sprintf(
			`{"status":{"observedParentGeneration":%d,"conditions":[{"type":"Ready","status":%q,"reason":"Tested","message":"","observedGeneration":%d,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
			s.BindCluster(i.Namespace, i.Spec.ClusterRef).Generation, status, i.Generation)
	s.PatchStatus(i, body)
}

// Install makes what the chart installs for sidecars.
func (s *Stage) Install() {
	s.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: dialect.BindcarBinding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: dialect.BindcarBinding},
	}
	if err := s.Live.Create(s.Ctx, binding); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = s.Live.Delete(s.Clean(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: dialect.BindcarBinding}})
	})
}

// Named is the metadata of an object that is to be read.
func Named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// Deployment reads a Deployment.
func (s *Stage) Deployment(namespace, name string) *appsv1.Deployment {
	s.Helper()
	d := &appsv1.Deployment{ObjectMeta: Named(namespace, name)}
	s.Get(d)
	return d
}

// Kubelet does to the pods of a namespace what a node does until the test ends: those that can run become ready.
func (s *Stage) Kubelet(namespace string, runs func(p *corev1.Pod) bool) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Ctx)
	var done sync.WaitGroup
	s.Cleanup(func() { cancel(); done.Wait() })
	done.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			var pods corev1.PodList
			_ = s.Live.List(ctx, &pods, client.InNamespace(namespace))
			for i := range pods.Items {
				if p := &pods.Items[i]; p.Status.Phase != corev1.PodRunning && runs(p) {
					p.Status.Phase = corev1.PodRunning
					p.Status.Conditions = append(p.Status.Conditions,
						corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
					_ = s.Live.Status().Update(ctx, p)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(testcluster.Pace(time.Since(began))):
			}
		}
	})
}

// EveryPod is that every pod can run.
func EveryPod(*corev1.Pod) bool { return true }

// IsInstance complains about the condition Ready of an instance.
func (s *Stage) IsInstance(namespace, name string, status metav1.ConditionStatus, reason string, texts ...string) {
	s.Helper()
	s.Eventually("the status of "+name, func() string {
		return Ready(s.Instance(namespace, name).Status.Conditions, status, reason, texts...)
	})
}

// Has waits until an object is there.
func (s *Stage) Has(object client.Object) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%T %s", object, object.GetName()), func() string {
		if !s.Get(object) {
			return "it is not there"
		}
		return ""
	})
}

// Secret is the Secret of that name, as it is.
func (s *Stage) Secret(namespace, name string) *corev1.Secret {
	s.Helper()
	out := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := s.Live.Get(s.Ctx, client.ObjectKeyFromObject(out), out); err != nil {
		s.Fatal(err)
	}
	return out
}

// Ready says what is wrong with the condition Ready of an object: it is not of this status and reason, or does not hold
// a text.
func Ready(conditions []metav1.Condition, status metav1.ConditionStatus, reason string, texts ...string) string {
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	if c == nil {
		return "there is no condition Ready"
	}
	if c.Status != status || c.Reason != reason {
		return fmt.Sprintf("Ready is %s, %s: %s", c.Status, c.Reason, c.Message)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return fmt.Sprintf("the message %q does not hold %q", c.Message, text)
		}
	}
	return ""
}
