package bindy

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestAZoneMadeAnewWhileASecondaryIsAway has the secondary come back with the former zone of the same object's name, under a serial that the new
// one has not reached: it is not ready with that.
func TestAZoneMadeAnewWhileASecondaryIsAway(t *testing.T) {
	s, n := zoneStage(t, "anew", func(d *DNS) { d.Patience = 2 * time.Second })
	n.keepVolumes()
	s.apply(clusterWith, n.namespace, 1, 1)
	s.apply(exampleZone, n.namespace)
	for host := range 4 { // its serial grows
		s.apply(addressRecord, n.namespace, "www", fmt.Sprintf("192.0.2.%d", 10+host))
		s.eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, fmt.Sprintf("192.0.2.%d", 10+host)) })
	}
	former := n.serialAt("dns-secondary-0", "example.com.")
	n.setAway("dns-secondary-0", true)
	example := &v1beta1.DNSZone{ObjectMeta: named(n.namespace, "example")}
	s.remove(example)
	s.eventually("a zone that is deleted", func() string { return s.isGone(example) })
	s.eventually("the primary without it", func() string { return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "REFUSED") })
	s.apply(exampleZone, n.namespace)
	s.apply(addressRecord, n.namespace, "www", "192.0.2.99")
	s.eventually("the new zone", func() string { return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "192.0.2.99") })
	if now := n.serialAt("dns-primary-0", "example.com."); now >= former {
		t.Fatalf("the serial is %d, and was %d", now, former)
	}
	end := n.neverReadyWith("dns-secondary-0", "www.example.com.", "192.0.2.13")
	n.setAway("dns-secondary-0", false)
	s.eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.99") })
	end()
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.eventually("the same serial", func() string { return n.sameSerial(2) })
}
