package bindy

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestAnInstanceChangesItsRole has an instance with a volume be a secondary, a primary and a secondary again: its zones
// go with it, and nobody hears of what it had in its former role.
func TestAnInstanceChangesItsRole(t *testing.T) {
	s, n := zoneStage(t, "role")
	n.keepVolumes()
	s.Apply(clusterWith, n.namespace, 1, 0)
	extra := func(role string) {
		s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: extra}, spec: {clusterRef: dns, role: %s,
			storage: {storageType: persistentVolumeClaim}}}`, n.namespace, role)
	}
	extra("secondary")
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	for step, change := range []struct {
		role string
		down bool // the operator is, when it happens
	}{{"primary", false}, {"secondary", false}, {"primary", true}, {"secondary", true}} {
		before, address := n.uidAt("extra"), fmt.Sprintf("192.0.2.%d", 2+step)
		if change.down {
			s.Stop()
		}
		extra(change.role)
		s.Apply(addressRecord, n.namespace, "www", address)
		if change.down {
			s.start()
		}
		s.Eventually("a pod that is a "+change.role, func() string {
			if now := n.uidAt("extra"); now == "" || now == before {
				return "it is the former pod"
			}
			return ""
		})
		s.Eventually("both servers with extra as a "+change.role, func() string {
			return n.answers(2, "www.example.com.", dns.TypeA, address)
		})
		s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
		s.Eventually("the same serial", func() string { return n.sameSerial(2) })
	}
}
