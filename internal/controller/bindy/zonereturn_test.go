package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestAZoneWithoutPrimariesForAMoment has the only primary of a zone gone: the secondary goes on to serve the zone,
// also when the operator starts again meanwhile, follows the primary that comes, and loses the zone when that is
// deleted.
func TestAZoneWithoutPrimariesForAMoment(t *testing.T) {
	s, n := zoneStage(t, "moment")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	cluster := &v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")}
	kept := func() {
		s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonNoPrimaryInstances)
		s.Eventually("the end of the primary", func() string {
			return s.IsGone(&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")})
		})
		s.Quiet()
		if complaint := n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "192.0.2.1") +
			n.noted([]string{"dns-secondary-0"}, "example.com"); complaint != "" {
			t.Error(complaint)
		}
	}
	s.Patch(cluster, `{"spec":{"primaryReplicas":0}}`)
	kept()
	s.Stop()
	s.start()
	kept()
	s.Patch(cluster, `{"spec":{"primaryReplicas":1}}`)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("a change", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)

	s.Patch(cluster, `{"spec":{"primaryReplicas":0}}`)
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonNoPrimaryInstances)
	s.Remove(&v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")})
	s.Eventually("the secondary without the zone", func() string {
		return n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "REFUSED")
	})
	s.Eventually("what the secondary notes", func() string { return n.noted([]string{"dns-secondary-0"}) })
}
