package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A fleet is a cluster "dns" of two primaries and a secondary.
type fleet struct {
	namespace string
	servers   []server // dns-primary-0, dns-primary-1, dns-secondary-0
	key       key      // for transfers
}

// common is the fleet of the cases that change nothing about it, but have zones and labels of their own there. It goes
// with the node.
var common struct {
	once      sync.Once
	namespace string
}

// commonFleet is ready when it returns.
func (s *site) commonFleet() fleet {
	s.Helper()
	common.once.Do(func() {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "common",
			Labels: map[string]string{restricted: "restricted"}}}
		if err := s.client.Create(s.ctx, ns); err != nil {
			s.Fatal(err)
		}
		s.apply(clusterManifest, ns.Name, "dns",
			`primaryReplicas: 2, secondaryReplicas: 1, global: {bindcarConfig: {envVars: [{name: RATE_LIMIT_ENABLED, value: "false"}]}}`)
		common.namespace = ns.Name
	})
	if common.namespace == "" {
		s.Fatal("the fleet that several cases share was not made")
	}
	s.awaitReady(cluster(common.namespace, "dns"))
	return fleet{common.namespace, s.servers(common.namespace, "dns-primary-0", "dns-primary-1", "dns-secondary-0"),
		s.transferKey(common.namespace, "dns")}
}

func (f fleet) primaries() []server { return f.servers[:2] }

// label gives instances of a fleet the label of this test, or takes it away again.
func (s *site) label(f fleet, value string, instances ...string) {
	s.Helper()
	for _, name := range instances {
		s.patch(instance(f.namespace, name), fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, s.word, value))
	}
}

// chosen is the part of a zone's spec that chooses the instances with the label of this test.
func (s *site) chosen() string {
	return fmt.Sprintf(`bind9InstancesFrom: [{selector: {matchLabels: {%s: "yes"}}}]`, s.word)
}

// chosenIn is chosen in a namespace.
func (s *site) chosenIn(namespace string) string {
	return fmt.Sprintf(`bind9InstancesFrom: [{selector: {matchLabels: {%s: "yes"}}, namespaces: [%s]}]`, s.word, namespace)
}

// zoneKey names a DNSZone.
func zoneKey(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// run is a part of a case, with a name of its own.
func (s *site) run(name string, part func(*site)) {
	s.Helper()
	s.T.Run(name, func(t *testing.T) {
		sub := *s
		sub.T = t
		part(&sub)
	})
}
