package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// twin makes a zone whose name others have too, later than those by what creationTimestamps can tell, and with an
// address of its own.
func (s *site) twin(zone client.ObjectKey, name, chosen, address string) {
	s.Helper()
	s.apply(zoneManifest, zone.Namespace, zone.Name, name, chosen)
	s.apply(recordManifest, "ARecord", zone.Namespace, zone.Name, fmt.Sprintf("zoneRef: %s, name: www, ipv4: %s, ttl: 30",
		zone.Name, address))
	made := must(s, dnsZone("", ""), zone.Namespace, zone.Name).CreationTimestamp.Add(time.Second)
	s.eventually("the next second", func() string {
		if time.Now().Before(made) {
			return "it is not over"
		}
		return ""
	})
}

// stateAt says what is wrong with the state of a zone at an instance.
func (s *site) stateAt(zone, instance client.ObjectKey, want v1beta1.InstanceState) string {
	s.Helper()
	o := must(s, dnsZone("", ""), zone.Namespace, zone.Name)
	for _, b := range o.Status.Bind9Instances {
		if b.Name == instance.Name && b.Namespace == instance.Namespace && b.State == want {
			return ""
		}
	}
	return fmt.Sprintf("at %s it is not %s: %+v", instance, want, o.Status.Bind9Instances)
}

// TestZ4DuplicateZones has three zones of one name: two in one namespace and one in another. Where they meet at a
// server the oldest has it; where they do not, both are served.
func TestZ4DuplicateZones(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	elsewhere, name := s.namespace("b"), s.word+".example"
	first, second, third := zoneKey(f.namespace, s.word+"-1"), zoneKey(f.namespace, s.word+"-2"),
		zoneKey(elsewhere, s.word+"-3")
	p0, p1 := client.ObjectKey{Namespace: f.namespace, Name: "dns-primary-0"},
		client.ObjectKey{Namespace: f.namespace, Name: "dns-primary-1"}
	s.patch(instance(f.namespace, p1.Name),
		fmt.Sprintf(`{"metadata":{"annotations":{"bindy.firestoned.io/allow-zone-namespaces":%q}}}`, elsewhere))
	s.label(f, `"one"`, p0.Name)
	s.label(f, `"two"`, p1.Name)
	only := func(value, namespaces string) string {
		return fmt.Sprintf(`bind9InstancesFrom: [{selector: {matchLabels: {%s: "%s"}}, namespaces: [%s]}]`, s.word, value,
			namespaces)
	}
	both :=
		fmt.Sprintf(`bind9InstancesFrom: [{selector: {matchExpressions: [{key: %s, operator: In, values: [one, two]}]}}]`,
			s.word)
	answers := func(at0, at1 string) {
		s.Helper()
		s.allDig(f.servers[:1], "www."+name, dns.TypeA, at0)
		s.allDig(f.servers[1:2], "www."+name, dns.TypeA, at1)
	}
	loses := func(zone client.ObjectKey) {
		s.Helper()
		s.eventually("it is told", func() string {
			return s.ready(dnsZone(zone.Namespace, zone.Name), metav1.ConditionFalse, "DuplicateZone")
		})
	}

	s.twin(first, name, only("one", ""), "192.0.2.1")
	s.isOn(first, p0)
	s.twin(second, name, both, "192.0.2.2")
	loses(second)
	answers("30 192.0.2.1", "30 192.0.2.2")
	s.eventually("the state at each", func() string {
		return s.stateAt(second, p0, v1beta1.StateFailed) + s.stateAt(second, p1, v1beta1.StateConfigured)
	})
	s.isOn(first, p0)
	s.twin(third, name, only("two", f.namespace), "192.0.2.3")
	loses(third)
	answers("30 192.0.2.1", "30 192.0.2.2")

	s.remove(dnsZone(first.Namespace, first.Name))
	s.isOn(second, p0, p1)
	answers("30 192.0.2.2", "30 192.0.2.2")
	s.agree(f.primaries(), name, f.key)
	loses(third)
	n, err := serial(s.ctx, f.servers[1].at, name)
	if err != nil {
		t.Fatal(err)
	}
	s.remove(dnsZone(second.Namespace, second.Name))
	s.isOn(third, p1)
	answers(noZone, "30 192.0.2.3")
	if now, err := serial(s.ctx, f.servers[1].at, name); err != nil || int32(now-n) <= 0 {
		t.Errorf("the serial went from %d to %d: %v", n, now, err)
	}
}
