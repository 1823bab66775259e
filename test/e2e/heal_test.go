package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func named[T client.Object](object T, namespace, name string) T {
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

func TestH4EveryChildComesBack(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2")
	s.apply(instanceManifest, ns, "lone", "role: Primary")
	s.awaitReady(cluster(ns, "dns"))
	s.awaitReady(instance(ns, "lone"))
	children := []client.Object{
		named(&appsv1.Deployment{}, ns, "dns-primary-0"), named(&corev1.Service{}, ns, "dns-primary-0"),
		named(&corev1.Secret{}, ns, "dns-primary-0-rndc-key"),
		named(&corev1.ConfigMap{}, ns, "dns-config"), named(&corev1.Secret{}, ns, "dns-transfer-key"),
		named(&policyv1.PodDisruptionBudget{}, ns, "dns-primary"),
		named(&corev1.ConfigMap{}, ns, "lone-config"), named(&corev1.Secret{}, ns, "lone-transfer-key"),
		named(&corev1.ServiceAccount{}, ns, "bind9"),
	}
	pods := map[string]types.UID{}
	for _, name := range []string{"dns-primary-1", "lone"} { // the Deployment of the other one is deleted
		pods[name] = s.pod(ns, name).UID
	}
	same := func() string {
		for name, uid := range pods {
			if p := s.pod(ns, name); p.UID != uid || restarts(p) > 0 {
				return "the pod of " + name + " was restarted or replaced"
			}
		}
		return ""
	}
	for i, child := range children {
		before := s.versions(children)
		if _, account := child.(*corev1.ServiceAccount); account {
			if complaint := same(); complaint != "" {
				t.Error(complaint)
			}
		}
		s.remove(child)
		s.eventually("it is there again", func() string {
			now := child.DeepCopyObject().(client.Object)
			if !s.get(now) || string(now.GetUID()) == before[i] {
				return fmt.Sprintf("there is no new %T %s", child, child.GetName())
			}
			return ""
		})
		s.awaitReady(cluster(ns, "dns"))
		s.awaitReady(instance(ns, "lone"))
		for n, uid := range s.versions(children) {
			if n != i && uid != before[n] {
				t.Errorf("deleting %T %s has replaced %T %s", child, child.GetName(), children[n], children[n].GetName())
			}
		}
	}
	// A ServiceAccount that was made anew does not vouch for pods of the former: they are replaced.
	s.eventually("every pod has the new ServiceAccount", func() string {
		for _, p := range s.pods(ns, "") {
			if slices.Contains(slices.Collect(maps.Values(pods)), p.UID) || !isReady(&p) {
				return p.Name + " is the one from before, or not ready"
			}
		}
		return s.ready(cluster(ns, "dns"), metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	// What came back works.
	s.makeZone(ns, "dns-primary-0", "h4.example")
	at := s.service(ns, "dns-primary-0").At(servicePort)
	s.eventually("an update with the new key", func() string {
		return text(update(s.ctx, at, s.key(ns, "dns-primary-0-rndc-key"), addition{"h4.example", "new.h4.example",
			"192.0.2.2"}))
	})
	s.resolves(at, "new.h4.example", "192.0.2.2")
}

// versions are the UIDs of objects.
func (s *site) versions(objects []client.Object) []string {
	s.Helper()
	var out []string
	for _, o := range objects {
		now := o.DeepCopyObject().(client.Object)
		if !s.get(now) {
			s.Fatalf("there is no %T %s", o, o.GetName())
		}
		out = append(out, string(now.GetUID()))
	}
	return out
}

// restarts is how often containers of a pod were started again.
func restarts(p *corev1.Pod) (n int32) {
	for _, c := range p.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

func text(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestH7WhatSomebodyEdits(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 1")
	s.awaitReady(cluster(ns, "dns"))
	const name = "dns-primary-0"

	// Foreign fields stay.
	s.patch(named(&appsv1.Deployment{}, ns, name),
		`{"metadata":{"annotations":{"example.org/note":"mine"},"labels":{"example.org/team":"a"}},"spec":{"minReadySeconds":1}}`)
	s.patch(named(&corev1.Service{}, ns, name),
		`{"metadata":{"annotations":{"example.org/note":"mine"}},"spec":{"sessionAffinity":"ClientIP"}}`)
	s.patch(named(&corev1.ConfigMap{}, ns, "dns-config"), `{"data":{"README":"mine"}}`)
	s.patch(named(&corev1.Secret{}, ns, name+"-rndc-key"), `{"metadata":{"labels":{"example.org/team":"a"}}}`)

	// Managed ones are put right.
	s.patch(named(&corev1.Service{}, ns, name),
		`{"metadata":{"labels":{"app":"mine"}},"spec":{"selector":{"app":"mine"}}}`)
	s.eventually("the Service is put right", func() string {
		service := must(s, &corev1.Service{}, ns, name)
		if service.Labels["app"] != "bind9" || service.Spec.Selector["app"] != "bind9" {
			return fmt.Sprintf("its label is %q, its selector %v", service.Labels["app"], service.Spec.Selector)
		}
		return ""
	})
	s.patch(named(&corev1.ConfigMap{}, ns, "dns-config"),
		`{"data":{"named.conf.options":"options { allow-transfer { any; }; };"}}`)
	s.eventually("the ConfigMap is put right", func() string {
		if text := must(s, &corev1.ConfigMap{}, ns, "dns-config").Data["named.conf.options"]; len(text) < 100 {
			return text
		}
		return ""
	})
	s.patch(named(&appsv1.Deployment{}, ns, name), `{"spec":{"replicas":0}}`)
	s.eventually("the Deployment is put right", func() string {
		if n := *must(s, &appsv1.Deployment{}, ns, name).Spec.Replicas; n != 1 {
			return fmt.Sprintf("it has %d replicas", n)
		}
		return ""
	})
	s.eventually("the pod is back", func() string {
		if p := s.pods(ns, name); len(p) != 1 || !isReady(&p[0]) {
			return fmt.Sprintf("there are %d, or it is not ready", len(p))
		}
		return s.ready(cluster(ns, "dns"), metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	s.quiet(time.Second)

	d, service := must(s, &appsv1.Deployment{}, ns, name), must(s, &corev1.Service{}, ns, name)
	if d.Annotations["example.org/note"] != "mine" || d.Labels["example.org/team"] != "a" || d.Spec.MinReadySeconds != 1 {
		t.Errorf("foreign fields of the Deployment are gone: %v %v", d.Annotations, d.Labels)
	}
	if service.Annotations["example.org/note"] != "mine" ||
		service.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		t.Errorf("foreign fields of the Service are gone: %v %s", service.Annotations, service.Spec.SessionAffinity)
	}
	if must(s, &corev1.ConfigMap{}, ns, "dns-config").Data["README"] != "mine" || must(s, &corev1.Secret{}, ns, name+
		"-rndc-key").Labels["example.org/team"] != "a" {
		t.Error("foreign fields of the ConfigMap or the Secret are gone")
	}
	s.service(ns, name) // and it answers
}

func TestH8AFinalizerAndAnAnnotationOfSomebodyElse(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2")
	s.awaitReady(cluster(ns, "dns"))
	const finalizer = "example.org/mine"
	i := must(s, instance("", ""), ns, "dns-primary-1")
	s.patch(i, fmt.Sprintf(`{"metadata":{"annotations":{"example.org/note":"mine"},"finalizers":[%q,%q]}}`,
		v1beta1.InstanceFinalizer, finalizer))
	d := named(&appsv1.Deployment{}, ns, "dns-primary-0")
	s.patch(d, fmt.Sprintf(`{"metadata":{"annotations":{"example.org/note":"mine"},"finalizers":[%q]}}`, finalizer))
	s.patch(cluster(ns, "dns"), `{"spec":{"secondaryReplicas":1}}`)
	s.awaitReady(cluster(ns, "dns"))
	s.quiet(time.Second)
	for _, o := range []client.Object{must(s, instance("", ""), ns, "dns-primary-1"), must(s, &appsv1.Deployment{}, ns,
		"dns-primary-0")} {
		if o.GetAnnotations()["example.org/note"] != "mine" || !slices.Contains(o.GetFinalizers(), finalizer) {
			t.Errorf("%T has the annotations %v and the finalizers %v", o, o.GetAnnotations(), o.GetFinalizers())
		}
	}

	// What somebody holds is held, everything else goes.
	s.patch(cluster(ns, "dns"), `{"spec":{"primaryReplicas":1}}`)
	s.eventually("what the instance had goes", func() string {
		if s.get(named(&appsv1.Deployment{}, ns, "dns-primary-1")) || len(s.pods(ns, "dns-primary-1")) > 0 {
			return "its Deployment or pod is there"
		}
		held := instance(ns, "dns-primary-1")
		if !s.get(held) || !slices.Equal(held.Finalizers, []string{finalizer}) {
			return fmt.Sprintf("the instance has the finalizers %v", held.Finalizers)
		}
		return ""
	})
	for _, o := range []client.Object{instance(ns, "dns-primary-1"), named(&appsv1.Deployment{}, ns, "dns-primary-0")} {
		s.patch(o, `{"metadata":{"finalizers":null}}`)
	}
	s.eventually("it goes when nobody holds it", func() string {
		if s.get(instance(ns, "dns-primary-1")) {
			return "it is there"
		}
		return s.ready(cluster(ns, "dns"), metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
}
