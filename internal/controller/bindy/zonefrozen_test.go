package bindy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

const (
	freezes = `{"metadata": {"annotations": {"` + zonefold.FreezeAnnotation + `": "moving"}}}`
	thaws   = `{"metadata": {"annotations": {"` + zonefold.FreezeAnnotation + `": null}}}`
)

// frozenAs complains unless the zone says that it is frozen, with some words; without words, that it is not.
func (n *bindNode) frozenAs(words ...string) string {
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	n.Get(o)
	c := meta.FindStatusCondition(o.Status.Conditions, controller.ConditionFrozen)
	if len(words) == 0 {
		if c != nil || o.Status.Published != "" {
			return fmt.Sprintf("%+v %q", c, o.Status.Published)
		}
		return ""
	}
	if c == nil || c.Status != metav1.ConditionTrue {
		return fmt.Sprintf("%+v", o.Status)
	}
	for _, w := range words {
		if !strings.Contains(c.Message, w) {
			return c.Message
		}
	}
	return ""
}

// TestAFrozenDNSZone changes what a zone is to be while it is frozen, replaces its servers and the operator, and thaws
// it.
func TestAFrozenDNSZone(t *testing.T) {
	s, n := zoneStage(t, "frozen")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Apply(addressRecord, n.namespace, "old", "192.0.2.9")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	n.zonefold([]string{"DNSZone " + n.namespace + "/example is frozen at serial"}, "freeze", "example.com", "--reason",
		"moving")
	if wrong := n.frozenAs("moving. What is published stays", "no change waits"); wrong != "" {
		t.Errorf("it says %s", wrong)
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	serial := n.serialAt("dns-primary-0", "example.com.")

	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "old")})
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	waits := func() string {
		return n.frozenAs("2 sets wait: old.example.com. A, www.example.com. A", "lets the DNSZone follow")
	}
	s.Eventually("what waits", waits)
	s.zoneIs(n.namespace, metav1.ConditionFalse, controller.ReasonFrozen)
	s.recordIs(n.namespace, "www", metav1.ConditionFalse, controller.ReasonFrozen)
	asBefore := func() string {
		return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") +
			n.answers(2, "old.example.com.", dns.TypeA, "192.0.2.9") + n.sameSerial(2)
	}
	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		n.replace(instance) // which takes its zones with it
		s.Eventually("the same after "+instance+" came anew", asBefore)
	}
	s.Stop()
	s.Apply(addressRecord, n.namespace, "new", "192.0.2.3")
	s.start()
	s.Eventually("what waits after a restart", func() string { return n.frozenAs("3 sets wait: new.example.com. A") })
	n.replace("dns-primary-0")
	s.Eventually("the same after a restart", asBefore)
	s.Quiet()
	if now := n.serialAt("dns-primary-0", "example.com."); now != serial || asBefore() != "" {
		t.Errorf("the serial is %d, and was %d; %s", now, serial, asBefore())
	}

	n.zonefold([]string{"DNSZone " + n.namespace + "/example follows its objects again"}, "thaw", n.namespace+"/example")
	s.Eventually("what waited", func() string {
		return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") +
			n.answers(2, "old.example.com.", dns.TypeA, "NXDOMAIN") + n.answers(2, "new.example.com.", dns.TypeA, "192.0.2.3")
	})
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.Eventually("a zone that is not frozen", func() string { return n.frozenAs() })

	s.Patch(o, freezes)
	s.Eventually("a frozen zone", func() string { return n.frozenAs("no change waits") })
	s.Remove(o)
	s.Eventually("a frozen zone that is deleted", func() string { return s.IsGone(o) })
	s.Eventually("its servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "REFUSED") })
}

// TestADNSZoneFrozenUnseen freezes a zone while no operator sees it. What was published is not known then, unless that
// is what objects say: servers keep what they have, and who has nothing waits for nothing.
func TestADNSZoneFrozenUnseen(t *testing.T) {
	s, n := zoneStage(t, "unseen")
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Stop()
	s.Patch(o, freezes)
	s.start()
	s.Eventually("a frozen zone", func() string { return n.frozenAs("What is published stays", "no change waits") })
	s.Patch(o, thaws)
	s.Eventually("a zone that is not frozen", func() string { return n.frozenAs() })

	s.Stop()
	s.Patch(o, freezes)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.start()
	s.Eventually("a zone of which nobody knows what is published", func() string {
		return n.frozenAs("Nothing of it is published")
	})
	s.zoneIs(n.namespace, metav1.ConditionFalse, controller.ReasonFrozen)
	s.Quiet()
	if complaint := n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.1"); complaint != "" {
		t.Error(complaint)
	}
	n.replace("dns-primary-0")
	s.Eventually("a server that comes anew", func() string {
		return n.answers(1, "www.example.com.", dns.TypeA, "REFUSED")
	})
	s.IsInstance(n.namespace, "dns-primary-0", metav1.ConditionTrue, v1beta1.ReasonAllReady)

	s.Patch(o, thaws)
	s.Eventually("what objects say", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}
