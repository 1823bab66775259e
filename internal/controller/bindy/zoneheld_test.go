package bindy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/plan"
)

// TestADNSZoneIsProtected has a Backend that names the cluster hold what a mistake would delete: records of a zone, and
// the zone, at a secondary too, also when nobody waits for its servers any more.
func TestADNSZoneIsProtected(t *testing.T) {
	s, n := zoneStage(t, "held")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	for i := range 6 {
		s.Apply(addressRecord, n.namespace, fmt.Sprintf("h%d", i), "192.0.2.1")
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("the server", func() string { return n.answers(2, "h5.example.com.", dns.TypeA, "192.0.2.1") })
	n.operator.Fleets().Protect("b", types.NamespacedName{Namespace: n.namespace, Name: "dns"},
		plan.Protection{Limited: true, MinDeleted: 1})

	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	held := func(want int) {
		t.Helper()
		s.Eventually(fmt.Sprintf("%d sets that are held", want), func() string {
			s.Get(o)
			c := meta.FindStatusCondition(o.Status.Conditions, controller.ConditionHeld)
			switch {
			case want == 0 && o.Status.Held == nil && c == nil:
				return ""
			case o.Status.Held == nil || int(o.Status.Held.Sets) != want || c == nil ||
				c.Reason != controller.ReasonTooManyDeletions || !strings.Contains(c.Message, "zonefold approve example"):
				return fmt.Sprintf("%+v %+v", o.Status.Held, c)
			}
			return ""
		})
	}
	approve := func() {
		s.Patch(o, fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, zonefold.ApproveAnnotation, o.Status.Held.Plan))
	}
	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "h5")})
	s.Eventually("one that may go", func() string { return n.answers(2, "h5.example.com.", dns.TypeA, "NXDOMAIN") })
	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "h4")})
	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "h3")})
	held(2)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("what is held", func() string { return n.answers(2, "h4.example.com.", dns.TypeA, "192.0.2.1") })
	approve()
	s.Eventually("what is approved", func() string { return n.answers(2, "h4.example.com.", dns.TypeA, "NXDOMAIN") })
	held(0)
	s.Eventually("the approval", func() string {
		if s.Get(o); o.Annotations[zonefold.ApproveAnnotation] != "" {
			return "it is still there"
		}
		return ""
	})

	s.Remove(o)
	held(3)
	s.Eventually("the zone that is deleted", func() string {
		return n.answers(2, "h0.example.com.", dns.TypeA, "192.0.2.1")
	})
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonDeleting)
	approve()
	s.Eventually("the zone", func() string { return s.IsGone(o) })
	s.Eventually("its server", func() string { return n.answers(2, "h0.example.com.", dns.TypeA, "REFUSED") })
}
