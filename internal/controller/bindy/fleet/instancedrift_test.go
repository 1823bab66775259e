package fleet

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

	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// childrenOf are those of an instance of its own with two replicas.
func childrenOf(namespace, name string) []client.Object {
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: bindytest.Named(namespace, name)},
		&corev1.Service{ObjectMeta: bindytest.Named(namespace, name)},
		&policyv1.PodDisruptionBudget{ObjectMeta: bindytest.Named(namespace, name)},
		&corev1.ConfigMap{ObjectMeta: bindytest.Named(namespace, name+"-config")},
		&corev1.Secret{ObjectMeta: bindytest.Named(namespace, name+"-rndc-key")},
		&corev1.Secret{ObjectMeta: bindytest.Named(namespace, name+"-transfer-key")},
		&corev1.ServiceAccount{ObjectMeta: bindytest.Named(namespace, "bind9")},
		&corev1.Service{ObjectMeta: bindytest.Named(namespace, name+"-bindcar")},
	}
}

func TestH4EveryChildIsMadeAgain(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	for _, name := range []string{"ns", "sibling"} {
		s.Apply(bindytest.InstanceManifest, a, name, `role: Primary, replicas: 2`)
		s.IsInstance(a, name, "True", "AllReady")
	}
	all := childrenOf(a, "sibling")
	// the status of the others is their pods', and the ServiceAccount is everybody's
	siblings := []client.Object{all[1], all[3], all[4], all[5]}
	versions := func() (out []string) {
		for _, o := range siblings {
			s.Has(o)
			out = append(out, o.GetResourceVersion())
		}
		return out
	}
	s.Quiet()
	before := versions()
	for _, child := range childrenOf(a, "ns") {
		s.Has(child)
		gone := child.GetUID()
		s.Remove(child)
		s.Eventually(fmt.Sprintf("%T %s", child, child.GetName()), func() string {
			if !s.Get(child) || child.GetUID() == gone || !child.GetDeletionTimestamp().IsZero() {
				return "it is not there again"
			}
			return ""
		})
	}
	s.IsInstance(a, "ns", "True", "AllReady")
	s.Quiet()
	if after := versions(); !slices.Equal(before, after) {
		t.Errorf("what a sibling has was touched: %v, %v", before, after)
	}
}

func TestH7AndH8OfTheWorkload(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary, replicas: 2`)
	s.IsInstance(a, "ns", "True", "AllReady")
	const foreign = `"metadata":{"labels":{"team":"web"},"annotations":{"note":"mine"},"finalizers":["example.org/wait"]}`
	edits := []string{
		`{%s,"spec":{"replicas":5,"template":{"metadata":{"annotations":{"zonefold.dev/config-checksum":"x"}},"spec":{"serviceAccountName":"admin"}}}}`,
		`{%s,"spec":{"selector":{"app":"other"},"externalIPs":["192.0.2.1"]}}`,
		`{%s,"spec":{"maxUnavailable":2}}`,
		`{%s,"data":{"named.conf":"mine","notes":"mine"}}`,
	}
	for n, child := range childrenOf(a, "ns")[:len(edits)] {
		s.Has(child)
		s.Patch(child, fmt.Sprintf(edits[n], foreign))
		s.Eventually(fmt.Sprintf("%T %s", child, child.GetName()), func() string {
			s.Get(child)
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
	s.Remove(s.Instance(a, "ns"))
	s.Eventually("the end of the instance", func() string { return s.IsGone(s.Instance(a, "ns")) })
	for _, child := range childrenOf(a, "ns")[:len(edits)] {
		s.Has(child)
		s.Patch(child, `{"metadata":{"finalizers":null}}`)
		s.Eventually("the end of a child", func() string { return s.IsGone(child) })
	}
}

func TestWhatRunsIsKeptWhileTheSpecCannotBeCarriedOut(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary, configMapRefs: {namedConfOptions: mine}`)
	s.IsInstance(a, "ns", "False", "ConfigMapNotFound", "ConfigMap "+a+"/mine", "does not exist")
	mine := &corev1.ConfigMap{ObjectMeta: bindytest.Named(a, "mine"), Data: map[string]string{"other": ""}}
	if err := s.Live.Create(s.Ctx, mine); err != nil {
		t.Fatal(err)
	}
	s.IsInstance(a, "ns", "False", "ConfigMapNotFound", "has no entry named.conf.options")
	if s.Deployment(a, "ns").UID != "" {
		t.Error("pods were started that cannot run")
	}
	s.Patch(mine, `{"data":{"named.conf.options":"options {};"}}`)
	s.IsInstance(a, "ns", "True", "AllReady")
	template := func() string { return s.Deployment(a, "ns").Annotations[templateAnnotation] }
	first := template()
	s.Patch(mine, `{"data":{"named.conf.options":"options { recursion no; };"}}`)
	s.Eventually("a roll-out of what the user changed", func() string {
		if template() == first {
			return "there is none"
		}
		return ""
	})
	s.IsInstance(a, "ns", "True", "AllReady")
	second := s.Deployment(a, "ns")
	for _, c := range []struct{ spec, reason, message string }{
		{`{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}`, "InvalidSpec", "Nothing was changed: spec.volumes[0]"},
		{`{"volumes":null,"clusterRef":"dns"}`, "ClusterNotFound", "Neither Bind9Cluster " + a +
			"/dns nor ClusterBind9Provider dns exists"},
	} {
		s.Patch(s.Instance(a, "ns"), `{"spec":`+c.spec+`}`)
		s.IsInstance(a, "ns", "False", c.reason, c.message)
	}
	s.Quiet()
	if now := s.Deployment(a, "ns"); now.Generation != second.Generation || now.UID != second.UID {
		t.Error("what runs was changed")
	}
	s.Apply(bindytest.ClusterManifest, a, "dns", ``)
	s.Patch(s.Instance(a, "ns"), `{"spec":{"version":"9.20"}}`)
	s.Eventually("the cluster to be found", func() string {
		return s.images(a, "zonefold/bind9:9.20", "ns") +
			bindytest.Ready(s.Instance(a, "ns").Status.Conditions, "True", "AllReady")
	})
	s.Eventually("the end of the transfer key that the cluster's takes the place of", func() string {
		return s.IsGone(&corev1.Secret{ObjectMeta: bindytest.Named(a, "ns-transfer-key")})
	})
	s.Patch(s.Instance(a, "ns"), `{"spec":{"replicas":0}}`)
	s.IsInstance(a, "ns", "True", "AllReady", "replicas is 0")
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: dialect.BindcarBinding}}
	s.Remove(binding)
	s.IsInstance(a, "ns", "False", "BindingNotFound", "install it again")
	s.Install()
	s.IsInstance(a, "ns", "True", "AllReady")
}

func TestClaimsGrowOnly(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary, storage: {storageType: persistentVolumeClaim}`)
	s.IsInstance(a, "ns", "True", "AllReady")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: bindytest.Named(a, "ns-zones")}
	s.Has(claim)
	if q := claim.Spec.Resources.Requests[corev1.ResourceStorage]; q.String() != "1Gi" ||
		!slices.Equal(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}) ||
		!metav1.IsControlledBy(claim, s.Instance(a, "ns")) {
		t.Errorf("%+v", claim.Spec)
	}
	s.Patch(s.Instance(a, "ns"),
		`{"spec":{"storage":{"persistentVolumeClaim":{"size":"1Mi","storageClassName":"fast","accessModes":["ReadWriteMany"]}}}}`)
	s.IsInstance(a, "ns", "False", "InvalidSpec", "cannot shrink to 1Mi", `cannot change to "fast"`, "ReadWriteMany")
	s.Quiet()
	s.Writes.Reset()
	if n := s.Quiet(); n != 0 {
		t.Errorf("a claim that cannot be changed is written: %s", s.Writes)
	}
	s.Patch(s.Instance(a, "ns"), `{"spec":{"storage":{"persistentVolumeClaim":null}}}`)
	s.IsInstance(a, "ns", "True", "AllReady")
	s.Patch(s.Instance(a, "ns"), `{"spec":{"storage":{"persistentVolumeClaim":{"claimName":"bindy-mine"}}}}`)
	s.Eventually("the user's claim", func() string {
		if got := s.Deployment(a, "ns").Annotations[templateAnnotation]; !strings.Contains(got, `"claimName":"bindy-mine"`) {
			return got
		}
		return ""
	})
	if !s.Get(claim) {
		t.Error("zones were thrown away")
	}
	mine := &corev1.PersistentVolumeClaim{ObjectMeta: bindytest.Named(a, "mine"), Spec: claim.Spec}
	mine.Spec.VolumeName = ""
	if err := s.Live.Create(s.Ctx, mine); err != nil {
		t.Fatal(err)
	}
	s.Remove(s.Instance(a, "ns"))
	s.Eventually("the end of the instance", func() string { return s.IsGone(s.Instance(a, "ns")) })
	s.Eventually("the claim to go", func() string {
		if s.Get(claim) && claim.DeletionTimestamp.IsZero() {
			return "it stays"
		}
		return ""
	})
	if !s.Get(mine) || !mine.DeletionTimestamp.IsZero() {
		t.Error("a claim of the user's was deleted")
	}
}

func TestFiftyServersAndThenNothing(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 20, secondaryReplicas: 30`)
	s.Eventually("all ready", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "50 of 50")
	})
	t.Logf("50 servers took %d writes: %s", s.Quiet(), s.Writes)
	s.Writes.Reset()
	s.Stop()
	s.start((*Controller).parts)
	if n := s.Quiet(); n != 0 {
		t.Errorf("idle, there were %d writes: %s", n, s.Writes)
	}
}
