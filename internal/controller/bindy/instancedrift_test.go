package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// childrenOf are those of an instance of its own with two replicas.
func childrenOf(namespace, name string) []client.Object {
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: named(namespace, name)}, &corev1.Service{ObjectMeta: named(namespace, name)},
		&policyv1.PodDisruptionBudget{ObjectMeta: named(namespace, name)},
		&corev1.ConfigMap{ObjectMeta: named(namespace, name+"-config")},
		&corev1.Secret{ObjectMeta: named(namespace, name+"-rndc-key")},
		&corev1.Secret{ObjectMeta: named(namespace, name+"-transfer-key")},
		&corev1.ServiceAccount{ObjectMeta: named(namespace, "bind9")},
		&corev1.Service{ObjectMeta: named(namespace, name+"-bindcar")},
	}
}

func TestH4EveryChildIsMadeAgain(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	for _, name := range []string{"ns", "sibling"} {
		s.apply(instanceManifest, a, name, `role: Primary, replicas: 2`)
		s.isInstance(a, name, "True", "AllReady")
	}
	all := childrenOf(a, "sibling")
	// the status of the others is their pods', and the ServiceAccount is everybody's
	siblings := []client.Object{all[1], all[3], all[4], all[5]}
	versions := func() (out []string) {
		for _, o := range siblings {
			s.has(o)
			out = append(out, o.GetResourceVersion())
		}
		return out
	}
	s.quiet()
	before := versions()
	for _, child := range childrenOf(a, "ns") {
		s.has(child)
		gone := child.GetUID()
		s.remove(child)
		s.eventually(fmt.Sprintf("%T %s", child, child.GetName()), func() string {
			if !s.get(child) || child.GetUID() == gone || !child.GetDeletionTimestamp().IsZero() {
				return "it is not there again"
			}
			return ""
		})
	}
	s.isInstance(a, "ns", "True", "AllReady")
	s.quiet()
	if after := versions(); !slices.Equal(before, after) {
		t.Errorf("what a sibling has was touched: %v, %v", before, after)
	}
}

func TestH7AndH8OfTheWorkload(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(instanceManifest, a, "ns", `role: Primary, replicas: 2`)
	s.isInstance(a, "ns", "True", "AllReady")
	const foreign = `"metadata":{"labels":{"team":"web"},"annotations":{"note":"mine"},"finalizers":["example.org/wait"]}`
	edits := []string{
		`{%s,"spec":{"replicas":5,"template":{"metadata":{"annotations":{"zonefold.dev/config-checksum":"x"}},"spec":{"serviceAccountName":"admin"}}}}`,
		`{%s,"spec":{"selector":{"app":"other"},"externalIPs":["192.0.2.1"]}}`,
		`{%s,"spec":{"maxUnavailable":2}}`,
		`{%s,"data":{"named.conf":"mine","notes":"mine"}}`,
	}
	for n, child := range childrenOf(a, "ns")[:len(edits)] {
		s.has(child)
		s.patch(child, fmt.Sprintf(edits[n], foreign))
		s.eventually(fmt.Sprintf("%T %s", child, child.GetName()), func() string {
			s.get(child)
			if l := child.GetLabels(); l["team"] != "web" || child.GetAnnotations()["note"] != "mine" ||
				!slices.Contains(child.GetFinalizers(), "example.org/wait") {
				return fmt.Sprintf("what others wrote is gone: %+v", l)
			}
			switch o := child.(type) {
			case *appsv1.Deployment:
				if *o.Spec.Replicas != 2 || o.Spec.Template.Spec.ServiceAccountName != "bind9" ||
					o.Spec.Template.Annotations["zonefold.dev/config-checksum"] == "x" {
					return fmt.Sprintf("%+v", o.Spec)
				}
			case *corev1.Service:
				if o.Spec.Selector["app"] != "bind9" || len(o.Spec.ExternalIPs) != 1 {
					return fmt.Sprintf("%+v", o.Spec)
				}
			case *policyv1.PodDisruptionBudget:
				if o.Spec.MaxUnavailable.IntValue() != 1 {
					return fmt.Sprintf("%+v", o.Spec)
				}
			case *corev1.ConfigMap:
				if o.Data["named.conf"] == "mine" || o.Data["notes"] != "mine" {
					return fmt.Sprintf("%+v", o.Data)
				}
			}
			return ""
		})
	}
	// Finalizers of others do not hold the instance up.
	s.remove(s.instance(a, "ns"))
	s.eventually("the end of the instance", func() string { return s.isGone(s.instance(a, "ns")) })
	for _, child := range childrenOf(a, "ns")[:len(edits)] {
		s.has(child)
		s.patch(child, `{"metadata":{"finalizers":null}}`)
		s.eventually("the end of a child", func() string { return s.isGone(child) })
	}
}

func TestWhatRunsIsKeptWhileTheSpecCannotBeCarriedOut(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(instanceManifest, a, "ns", `role: Primary, configMapRefs: {namedConfOptions: mine}`)
	s.isInstance(a, "ns", "False", "ConfigMapNotFound", "There is no ConfigMap "+a+"/mine")
	mine := &corev1.ConfigMap{ObjectMeta: named(a, "mine"), Data: map[string]string{"other": ""}}
	if err := s.live.Create(s.ctx, mine); err != nil {
		t.Fatal(err)
	}
	s.isInstance(a, "ns", "False", "ConfigMapNotFound", "has no entry named.conf.options")
	if s.deployment(a, "ns").UID != "" {
		t.Error("pods were started that cannot run")
	}
	s.patch(mine, `{"data":{"named.conf.options":"options {};"}}`)
	s.isInstance(a, "ns", "True", "AllReady")
	template := func() string { return s.deployment(a, "ns").Annotations[templateAnnotation] }
	first := template()
	s.patch(mine, `{"data":{"named.conf.options":"options { recursion no; };"}}`)
	s.eventually("a roll-out of what the user changed", func() string {
		if template() == first {
			return "there is none"
		}
		return ""
	})
	s.isInstance(a, "ns", "True", "AllReady")
	second := s.deployment(a, "ns")
	for _, c := range []struct{ spec, reason, message string }{
		{`{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}`, "InvalidSpec", "Nothing was changed: spec.volumes[0]"},
		{`{"volumes":null,"clusterRef":"dns"}`, "ClusterNotFound", "neither a Bind9Cluster " + a +
			"/dns nor a ClusterBind9Provider dns"},
	} {
		s.patch(s.instance(a, "ns"), `{"spec":`+c.spec+`}`)
		s.isInstance(a, "ns", "False", c.reason, c.message)
	}
	s.quiet()
	if now := s.deployment(a, "ns"); now.Generation != second.Generation || now.UID != second.UID {
		t.Error("what runs was changed")
	}
	s.apply(clusterManifest, a, "dns", ``)
	s.patch(s.instance(a, "ns"), `{"spec":{"version":"9.20"}}`)
	s.eventually("the cluster to be found", func() string {
		return s.images(a, "zonefold/bind9:9.20", "ns") + ready(s.instance(a, "ns").Status.Conditions, "True", "AllReady")
	})
	s.eventually("the end of the transfer key that the cluster's takes the place of", func() string {
		return s.isGone(&corev1.Secret{ObjectMeta: named(a, "ns-transfer-key")})
	})
	s.patch(s.instance(a, "ns"), `{"spec":{"replicas":0}}`)
	s.isInstance(a, "ns", "True", "AllReady", "replicas is 0")
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: bindcarBinding}}
	s.remove(binding)
	s.isInstance(a, "ns", "False", "BindingNotFound", "install it again")
	s.install()
	s.isInstance(a, "ns", "True", "AllReady")
}

func TestClaimsGrowOnly(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(instanceManifest, a, "ns", `role: Primary, storage: {storageType: persistentVolumeClaim}`)
	s.isInstance(a, "ns", "True", "AllReady")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: named(a, "ns-zones")}
	s.has(claim)
	if q := claim.Spec.Resources.Requests[corev1.ResourceStorage]; q.String() != "1Gi" ||
		!slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}) ||
		!metav1.IsControlledBy(claim, s.instance(a, "ns")) {
		t.Errorf("%+v", claim.Spec)
	}
	s.patch(s.instance(a, "ns"),
		`{"spec":{"storage":{"persistentVolumeClaim":{"size":"1Mi","storageClassName":"fast","accessModes":["ReadWriteMany"]}}}}`)
	s.isInstance(a, "ns", "False", "InvalidSpec", "cannot shrink to 1Mi", `cannot become "fast"`, "ReadWriteMany")
	s.quiet()
	s.writes.reset()
	if n := s.quiet(); n != 0 {
		t.Errorf("a claim that cannot be changed is written: %s", s.writes)
	}
	s.patch(s.instance(a, "ns"), `{"spec":{"storage":{"persistentVolumeClaim":null}}}`)
	s.isInstance(a, "ns", "True", "AllReady")
	s.patch(s.instance(a, "ns"), `{"spec":{"storage":{"persistentVolumeClaim":{"claimName":"bindy-mine"}}}}`)
	s.eventually("the user's claim", func() string {
		if got := s.deployment(a, "ns").Annotations[templateAnnotation]; !strings.Contains(got, `"claimName":"bindy-mine"`) {
			return got
		}
		return ""
	})
	if !s.get(claim) {
		t.Error("zones were thrown away")
	}
	mine := &corev1.PersistentVolumeClaim{ObjectMeta: named(a, "mine"), Spec: claim.Spec}
	mine.Spec.VolumeName = ""
	if err := s.live.Create(s.ctx, mine); err != nil {
		t.Fatal(err)
	}
	s.remove(s.instance(a, "ns"))
	s.eventually("the end of the instance", func() string { return s.isGone(s.instance(a, "ns")) })
	s.eventually("the claim to go", func() string {
		if s.get(claim) && claim.DeletionTimestamp.IsZero() {
			return "it stays"
		}
		return ""
	})
	if !s.get(mine) || !mine.DeletionTimestamp.IsZero() {
		t.Error("a claim of the user's was deleted")
	}
}

func TestFiftyServersAndThenNothing(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(clusterManifest, a, "dns", `primaryReplicas: 20, secondaryReplicas: 30`)
	s.eventually("all ready", func() string {
		return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady", "50 of 50")
	})
	t.Logf("50 servers took %d writes: %s", s.quiet(), s.writes)
	s.writes.reset()
	s.stop()
	s.start((*Controller).parts)
	if n := s.quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.writes)
	}
}
