package fleet

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestAnInstanceThatIsTheOneOfItsCluster has somebody make, before the cluster, the instance that it would make, as in
// the document.
func TestAnInstanceThatIsTheOneOfItsCluster(t *testing.T) {
	s := newStage(t)
	a := s.Namespace("a")
	const byHand = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: dns-%s, labels: {mine: "yes"}}, spec: {clusterRef: %s, role: %s, replicas: %d}}`
	s.Apply(byHand, a, "primary-0", "dns", "Primary", 1)
	s.Apply(byHand, a, "primary-1", "other", "Primary", 1)
	s.Apply(byHand, a, "primary-2", "dns", "Secondary", 1)
	s.Apply(byHand, a, "primary-3", "dns", "Primary", 2)
	first := s.Instance(a, "dns-primary-0")
	s.start(hierarchy)
	s.Apply(bindytest.ClusterManifest, a, "dns", `primaryReplicas: 4`)
	s.Eventually("that others are in the way", func() string {
		return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "False", "NotOwned", "dns-primary-1",
			"dns-primary-2", "dns-primary-3")
	})
	c := s.BindCluster(a, "dns")
	if got := s.Instance(a, "dns-primary-0"); got.UID != first.UID || !metav1.IsControlledBy(got, c) ||
		got.Labels["mine"] != "yes" || got.Labels[v1beta1.RoleLabel] != "primary" {
		t.Errorf("the first is %+v", got)
	}
	for _, name := range []string{"dns-primary-1", "dns-primary-2", "dns-primary-3"} {
		if got := s.Instance(a, name); len(got.OwnerReferences) > 0 || got.Labels[v1beta1.RoleLabel] != "" {
			t.Errorf("somebody else's instance was touched: %+v", got)
		}
	}
}

// TestADeploymentThatSelectsByOtherLabels is one of the existing Bindy's, which somebody has to delete.
func TestADeploymentThatSelectsByOtherLabels(t *testing.T) {
	s := newStage(t)
	s.Install()
	a := s.Namespace("a")
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary`)
	s.Apply(`{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: %s, name: ns,
		labels: {app.kubernetes.io/part-of: bindy}, ownerReferences: [{apiVersion: bindy.firestoned.io/v1beta1,
		kind: Bind9Instance, name: ns, uid: %s, controller: true}]}, spec: {selector: {matchLabels: {app: bind9}},
		template: {metadata: {labels: {app: bind9}}, spec: {containers: [{name: bind9, image: bind9}]}}}}`, a,
		s.Instance(a, "ns").UID)
	s.start((*Controller).parts)
	s.IsInstance(a, "ns", "False", v1beta1.ReasonReconcileFailed, "delete Deployment "+a+"/ns, and the operator creates")
	before := s.Deployment(a, "ns")
	s.Remove(before)
	s.Eventually("a Deployment made anew", func() string {
		if now := s.Deployment(a, "ns"); now.UID == "" || now.UID == before.UID {
			return string(now.UID)
		}
		return ""
	})
	s.IsInstance(a, "ns", "False", "NotReady", "0 of 1")
}
