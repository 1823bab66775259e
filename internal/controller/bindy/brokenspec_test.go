package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestPodsOfASpecThatCannotBeCarriedOut are made anew by whatever makes pods anew: a node that is drained, for
// instance. They get their zones, and all changes of these, as before.
func TestPodsOfASpecThatCannotBeCarriedOut(t *testing.T) {
	s, n := zoneStage(t, "broken")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Patch(s.BindCluster(n.namespace, "dns"), `{"spec":{"global":{"allowQuery":["friends"]}}}`)
	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		s.IsInstance(n.namespace, instance, "False", "InvalidSpec", "friends")
		n.replace(instance)
		s.Eventually("a new pod of "+instance, func() string {
			if !n.isReady(instance) {
				return "it is not ready"
			}
			return n.answersAt(instance, "www.example.com.", dns.TypeA, "192.0.2.1")
		})
	}
	s.Apply(addressRecord, n.namespace, "late", "192.0.2.2")
	s.recordIs(n.namespace, "late", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Stop()
	s.start()
	s.Apply(addressRecord, n.namespace, "later", "192.0.2.3")
	s.recordIs(n.namespace, "later", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Patch(s.BindCluster(n.namespace, "dns"), `{"spec":{"global":null}}`)
	s.IsInstance(n.namespace, "dns-primary-0", "True", "AllReady")
}
