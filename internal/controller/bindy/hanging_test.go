package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// TestARecordThatAPrimaryDoesNotTakeYet has a primary that neither takes a change nor refuses it: the record does not
// go on saying what was so before the change.
func TestARecordThatAPrimaryDoesNotTakeYet(t *testing.T) {
	s, n := zoneStage(t, "hangs")
	s.Apply(clusterWith, n.namespace, 2, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	n.suspend("dns-primary-1", true)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("the other primary", func() string {
		return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "192.0.2.2")
	})
	s.recordIs(n.namespace, "www", metav1.ConditionFalse, controller.ReasonPending)
	n.suspend("dns-primary-1", false)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
}
