package bindy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestZ8AZoneIsDeletedWhileServersAreDown has a primary and a secondary that hang: the zone waits for them, says so,
// goes when its time is up, and they lose it when they are back.
func TestZ8AZoneIsDeletedWhileServersAreDown(t *testing.T) {
	s, n := zoneStage(t, "hang", func(d *DNS) { d.Patience = 6 * time.Second })
	s.Apply(clusterWith, n.namespace, 2, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	down := []string{"dns-primary-1", "dns-secondary-0"}
	for _, instance := range down {
		n.suspend(instance, true)
	}
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Remove(example)
	s.Eventually("what the zone waits for", func() string {
		s.Get(example)
		c := meta.FindStatusCondition(example.Status.Conditions, v1beta1.ConditionReady)
		if c == nil || c.Reason != v1beta1.ReasonDeleting {
			return fmt.Sprintf("%+v", c)
		}
		for _, part := range []string{"Bind9Instance", n.namespace + "/dns-primary-1", n.namespace + "/dns-secondary-0",
			example.DeletionTimestamp.Add(6 * time.Second).UTC().Format(time.RFC3339)} {
			if !strings.Contains(c.Message, part) {
				return fmt.Sprintf("%q lacks %q", c.Message, part)
			}
		}
		www := &v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "www")}
		s.Get(www)
		if c := meta.FindStatusCondition(www.Status.Conditions, v1beta1.ConditionReady); c == nil ||
			!strings.Contains(c.Message, "is being deleted") {
			return fmt.Sprintf("its record is told %+v", c)
		}
		return ""
	})
	s.Eventually("the server that works", func() string {
		return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "REFUSED")
	})
	s.Eventually("a zone that is deleted", func() string { return s.IsGone(example) })
	if complaint := n.noted(down, "example.com"); complaint != "" {
		t.Error(complaint)
	}
	for _, instance := range down {
		n.suspend(instance, false)
	}
	for _, instance := range down {
		s.Eventually(instance+" without the zone", func() string {
			return n.answersAt(instance, "www.example.com.", dns.TypeA, "REFUSED")
		})
	}
	s.Eventually("what the instances note", func() string { return n.noted(down) })
}

// TestAZoneIsDeletedWithItsServers has a zone deleted together with what serves it, in several ways.
func TestAZoneIsDeletedWithItsServers(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(s *stage, n *bindNode)
	}{
		{"scaled", func(s *stage, n *bindNode) {
			s.Patch(&v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")},
				`{"spec":{"primaryReplicas":0,"secondaryReplicas":0}}`)
		}},
		{"cluster", func(s *stage, n *bindNode) {
			s.Remove(&v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")})
		}},
		{"hanging", func(s *stage, n *bindNode) {
			n.suspend("dns-primary-0", true)
			s.Remove(&v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, n := zoneStage(t, tt.name, func(d *DNS) { d.Patience = 20 * time.Second })
			s.Apply(clusterWith, n.namespace, 1, 1)
			s.Apply(exampleZone, n.namespace)
			s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
			tt.do(s, n)
			example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
			s.Remove(example)
			s.Eventually("a zone that is deleted", func() string { return s.IsGone(example) })
		})
	}
}
