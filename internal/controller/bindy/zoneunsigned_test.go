package bindy

import (
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestSecondariesOfNoClusterHaveTheZone has instances that nothing but a zone brings together: they have no key for
// transfers in common.
func TestSecondariesOfNoClusterHaveTheZone(t *testing.T) {
	const (
		instance = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s, labels: {dns: hand}},
			spec: {role: %s, %s}}`
		zone = `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example},
			spec: {zoneName: example.com, %s bind9InstancesFrom: [{selector: {matchLabels: {dns: hand}}}],
			soa: {primaryNameServer: ns1.example.net, adminEmail: admin@example.com}}}`
	)
	for _, c := range []struct {
		name      string
		namespace string
		of        string // what instances are part of
		zone      string // how else it finds its instances
		cluster   bool   // has a primary of the zone
	}{
		{"instances of nothing", "unsigned-alone", "replicas: 1", "", false},
		{"instances of a cluster that there is not", "unsigned-nobody", "clusterRef: nobody", "clusterRef: nobody,", false},
		{"a cluster, and instances of nothing", "unsigned-union", "replicas: 1", "clusterRef: dns,", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, n := zoneStage(t, c.namespace)
			servers := 1
			s.Apply(zone, n.namespace, c.zone)
			s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
			if c.cluster {
				s.Apply(clusterWith, n.namespace, 1, 1)
				servers = 2
			} else {
				s.Apply(instance, n.namespace, "one", "primary", c.of)
			}
			s.Apply(instance, n.namespace, "two", "secondary", c.of)
			servers++
			s.Eventually("every server", func() string {
				return n.answers(servers, "www.example.com.", dns.TypeA, "192.0.2.1")
			})
			s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
			s.Eventually("a change everywhere", func() string {
				return n.answers(servers, "www.example.com.", dns.TypeA, "192.0.2.2")
			})
			s.Eventually("the same serial", func() string { return n.sameSerial(servers) })
			s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
		})
	}
}
