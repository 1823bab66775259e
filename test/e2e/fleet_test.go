package e2e_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// Manifests of fleets; the last argument is the rest of the spec.
const (
	providerManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: ClusterBind9Provider, metadata: {name: %s}, spec: {namespaces: [%s], %s}}`
	clusterManifest  = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: %s}, spec: {%s}}`
	instanceManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s}, spec: {%s}}`
)

func provider(name string) *v1beta1.ClusterBind9Provider {
	return &v1beta1.ClusterBind9Provider{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func cluster(namespace, name string) *v1beta1.Bind9Cluster {
	return &v1beta1.Bind9Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func instance(namespace, name string) *v1beta1.Bind9Instance {
	return &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// ready says what is wrong with the condition Ready of an object: it is not of this status and reason, is about an
// older spec, or does not hold the texts.
func (s *site) ready(object client.Object, status metav1.ConditionStatus, reason string, texts ...string) string {
	s.Helper()
	if !s.get(object) {
		return fmt.Sprintf("there is no %T %s", object, object.GetName())
	}
	var conditions []metav1.Condition
	switch o := object.(type) {
	case *v1beta1.ClusterBind9Provider:
		conditions = o.Status.Conditions
	case *v1beta1.Bind9Cluster:
		conditions = o.Status.Conditions
	case *v1beta1.Bind9Instance:
		conditions = o.Status.Conditions
	case *v1beta1.DNSZone:
		conditions = o.Status.Conditions
	default:
		if r, ok := bindy.RecordOf(object); ok {
			conditions = r.Status.Conditions
		}
	}
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	if c == nil {
		return object.GetName() + " has no condition Ready"
	}
	if c.Status != status || c.Reason != reason || c.ObservedGeneration != object.GetGeneration() {
		return fmt.Sprintf("Ready of %s, of generation %d of %d, is %s, %s: %s", object.GetName(), c.ObservedGeneration,
			object.GetGeneration(), c.Status, c.Reason, c.Message)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return fmt.Sprintf("the message %q does not hold %q", c.Message, text)
		}
	}
	return ""
}

// awaitReady waits until an object says that everything is ready, and its pods agree.
func (s *site) awaitReady(object client.Object) {
	s.Helper()
	s.eventually("all is ready", func() string { return s.ready(object, metav1.ConditionTrue, v1beta1.ReasonAllReady) })
}

// instances are the names of the instances of a namespace, in order.
func (s *site) instances(namespace string) []string {
	s.Helper()
	var all v1beta1.Bind9InstanceList
	if err := s.client.List(s.ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	var names []string
	for _, i := range all.Items {
		names = append(names, i.Name)
	}
	return slices.Sorted(slices.Values(names))
}

// uids are the UIDs of all Deployments of a namespace, by name.
func (s *site) uids(namespace string) map[string]string {
	s.Helper()
	var all appsv1.DeploymentList
	if err := s.client.List(s.ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range all.Items {
		out[d.Name] = string(d.UID)
	}
	return out
}

// pods are those of a namespace that are not on their way out; of an instance, if one is named.
func (s *site) pods(namespace, instance string) []corev1.Pod {
	s.Helper()
	labels := client.MatchingLabels{v1beta1.AppLabel: v1beta1.AppValue}
	if instance != "" {
		labels[v1beta1.InstanceLabel] = instance
	}
	var all corev1.PodList
	if err := s.client.List(s.ctx, &all, client.InNamespace(namespace), labels); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(all.Items, func(p corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() })
}

// pod is the only pod of an instance.
func (s *site) pod(namespace, instance string) *corev1.Pod {
	s.Helper()
	all := s.pods(namespace, instance)
	if len(all) != 1 {
		s.Fatalf("%s/%s has %d pods and not one", namespace, instance, len(all))
	}
	return &all[0]
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// service is where the Service of an instance answers, which it does a while after the instance is ready. After every
// change that replaces pods it has to be waited for again.
func (s *site) service(namespace, instance string) testcluster.ServiceAddress {
	s.Helper()
	address, err := s.cluster.Service(s.ctx, namespace, instance)
	if err != nil {
		s.Fatal(err)
	}
	return address
}

// podAddress is where a pod answers.
func (s *site) podAddress(p *corev1.Pod) netip.Addr {
	s.Helper()
	address, err := netip.ParseAddr(p.Status.PodIP)
	if err != nil {
		s.Fatal(err)
	}
	return address
}
