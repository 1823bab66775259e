package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestAZoneWithoutPrimariesForAMoment has the only primary of a zone gone: the secondary goes on to serve the zone,
// also when the operator starts again meanwhile, follows the primary that comes, and loses the zone when that is
// deleted.
func TestAZoneWithoutPrimariesForAMoment(t *testing.T) {
	s, n := zoneStage(t, "moment")
	s.apply(clusterWith, n.namespace, 1, 1)
	s.apply(exampleZone, n.namespace)
	s.apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	cluster := &v1beta1.Bind9Cluster{ObjectMeta: named(n.namespace, "dns")}
	kept := func() {
		s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonNoPrimaryInstances)
		s.eventually("the end of the primary", func() string {
			return s.isGone(&v1beta1.Bind9Instance{ObjectMeta: named(n.namespace, "dns-primary-0")})
		})
		s.quiet()
		if complaint := n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "192.0.2.1") +
			n.noted([]string{"dns-secondary-0"}, "example.com"); complaint != "" {
			t.Error(complaint)
		}
	}
	s.patch(cluster, `{"spec":{"primaryReplicas":0}}`)
	kept()
	s.stop()
	s.start((*Controller).parts)
	kept()
	s.patch(cluster, `{"spec":{"primaryReplicas":1}}`)
	s.apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.eventually("a change", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)

	s.patch(cluster, `{"spec":{"primaryReplicas":0}}`)
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonNoPrimaryInstances)
	s.remove(&v1beta1.DNSZone{ObjectMeta: named(n.namespace, "example")})
	s.eventually("the secondary without the zone", func() string {
		return n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "REFUSED")
	})
	s.eventually("what the secondary notes", func() string { return n.noted([]string{"dns-secondary-0"}) })
}
