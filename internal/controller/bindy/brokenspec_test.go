package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
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

// TestPodsOfAClusterThatCannotBeCarriedOut are of instances that could be. They wait for what the cluster asks for,
// which no instance can have, and are made anew as above.
func TestPodsOfAClusterThatCannotBeCarriedOut(t *testing.T) {
	s, n := zoneStage(t, "behind")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	const labels = `{"labels":{"tier":"not approved"}}`
	s.Patch(s.BindCluster(n.namespace, "dns"), `{"spec":{"primary":`+labels+`,"secondary":`+labels+`}}`)
	s.Eventually("what is wrong", func() string {
		return bindytest.Ready(s.BindCluster(n.namespace, "dns").Status.Conditions, "False", "InvalidSpec", "not approved")
	})
	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		n.replace(instance)
		s.Eventually("a new pod of "+instance, func() string {
			if !n.isReady(instance) {
				return "it is not ready"
			}
			return n.answersAt(instance, "www.example.com.", dns.TypeA, "192.0.2.1")
		})
	}
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: late}, spec: {zoneName: example.net,
		clusterRef: dns, soa: {primaryNameServer: ns1.example.net, adminEmail: admin@example.net}}}`, n.namespace)
	late := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "late")}
	s.Eventually("a zone that is new", func() string {
		s.Get(late)
		return bindytest.Ready(late.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
	s.Remove(late)
	s.Eventually("its end", func() string { return s.IsGone(late) })
}
