package bindy

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestAZoneMadeAnewWhileASecondaryIsAway has the secondary come back with the former zone of the name: it is not ready
// with that, whatever its serial says.
func TestAZoneMadeAnewWhileASecondaryIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		object string // that is called example.com now
		ahead  int32  // of the former serial
	}{
		"by an object of the same name, under an earlier serial":   {"example", -1},
		"by an object of the same name, under the same serial":     {"example", 0},
		"by an object of the same name, under a later serial":      {"example", 1},
		"by an object of another name, under the very same serial": {"other", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := zoneStage(t, "anew", func(d *DNS) { d.Patience = 2 * time.Second })
			n.keepVolumes()
			s.Apply(clusterWith, n.namespace, 1, 1)
			s.Apply(exampleZone, n.namespace)
			s.Apply(addressRecord, n.namespace, "former", "192.0.2.1")
			for host := range 4 { // its serial grows
				s.Apply(addressRecord, n.namespace, "www", fmt.Sprintf("192.0.2.%d", 10+host))
				s.Eventually("both servers", func() string {
					return n.answers(2, "www.example.com.", dns.TypeA, fmt.Sprintf("192.0.2.%d", 10+host))
				})
			}
			s.Eventually("the same serial", func() string { return n.sameSerial(2) })
			former := n.serialAt("dns-secondary-0", "example.com.")
			n.setAway("dns-secondary-0", true)
			example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
			s.Remove(example)
			s.Eventually("a zone that is deleted", func() string { return s.IsGone(example) })
			s.Eventually("the primary without it", func() string {
				return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "REFUSED")
			})
			s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "former")})
			s.Stop() // the next operator does not know which serials the former zone had
			s.start()
			n.makeAnew(c.object, former+uint32(c.ahead))
			end := n.neverReadyWith("dns-secondary-0", "former.example.com.", "192.0.2.1")
			n.setAway("dns-secondary-0", false)
			s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.99") })
			s.Eventually("both servers", func() string { return n.answers(2, "former.example.com.", dns.TypeA, "NXDOMAIN") })
			end()
			o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, c.object)}
			s.Eventually("the status of the zone", func() string {
				s.Get(o)
				return bindytest.Ready(o.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
			})
			s.Eventually("the same serial", func() string { return n.sameSerial(2) })
			s.Eventually("an instance that has lost the former zone", func() string {
				i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-secondary-0")}
				s.Get(i)
				if zones := i.Status.Zones; len(zones) != 1 || zones[0].UID != o.UID {
					return fmt.Sprintf("it has %+v", zones)
				}
				return ""
			})
		})
	}
}

// makeAnew makes the zone and changes it until its primary has a serial, with www at 192.0.2.99.
func (n *bindNode) makeAnew(object string, serial uint32) {
	n.Helper()
	n.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: %s}, spec: {zoneName: example.com, clusterRef: dns,
		soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, ttl: 60, serial: %d}}}`, n.namespace, object, serial-4)
	n.Apply(addressRecord, n.namespace, "www", "192.0.2.99")
	n.Eventually("the new zone", func() string {
		return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "192.0.2.99")
	})
	for step := 0; n.serialAt("dns-primary-0", "example.com.") != serial; step++ {
		if now := n.serialAt("dns-primary-0", "example.com."); rr.SerialLess(serial, now) {
			n.Fatalf("the serial is %d; it was to be %d", now, serial)
		}
		step := fmt.Sprintf("192.0.2.%d", 100+step)
		n.Apply(addressRecord, n.namespace, "step", step)
		n.Eventually("a change", func() string { return n.answersAt("dns-primary-0", "step.example.com.", dns.TypeA, step) })
	}
}
