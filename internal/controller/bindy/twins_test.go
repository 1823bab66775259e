package bindy

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// statesOf complains if a zone does not say these states of its instances.
func (s *stage) statesOf(o *v1beta1.DNSZone, want map[string]v1beta1.InstanceState) string {
	s.Get(o)
	have := map[string]v1beta1.InstanceState{}
	for _, i := range o.Status.Bind9Instances {
		have[i.Name] = i.State
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		return fmt.Sprintf("%v", have)
	}
	return ""
}

// TestZ4DuplicatesThatShareASecondary has two zones of one name with a primary each and one secondary, which has the
// older one and follows its primary only, and then the younger, whose serials are lower.
func TestZ4DuplicatesThatShareASecondary(t *testing.T) {
	s, n := zoneStage(t, "twins")
	s.Apply(clusterWith, n.namespace, 2, 1)
	for instance, labels := range map[string]string{"dns-primary-0": `{"older":"yes"}`,
		"dns-primary-1": `{"younger":"yes"}`, "dns-secondary-0": `{"older":"yes","younger":"yes"}`} {
		i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, instance)}
		s.Eventually(instance, func() string {
			if !s.Get(i) {
				return "it is not there"
			}
			return ""
		})
		s.Patch(i, `{"metadata":{"labels":`+labels+`}}`)
	}
	const twin = `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: %s}, spec: {zoneName: example.com,
		bind9InstancesFrom: [{selector: {matchLabels: {%[2]s: "yes"}}}], soa: {primaryNameServer: %[2]s.example.net, adminEmail: admin@example.com, refresh: %d}}}`
	older, younger := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "older")},
		&v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "younger")}
	is := func(o *v1beta1.DNSZone, status metav1.ConditionStatus, reason string) {
		s.Eventually("the status of "+o.Name, func() string {
			s.Get(o)
			return bindytest.Ready(o.Status.Conditions, status, reason)
		})
	}
	serves := func(instance, want string) {
		s.Eventually(instance, func() string { return n.answersAt(instance, "example.com.", dns.TypeNS, want) })
	}
	for refresh := range 4 { // its serial grows
		s.Apply(twin, n.namespace, "older", 3600+refresh)
		is(older, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	}
	s.Apply(twin, n.namespace, "younger", 3600)
	is(younger, metav1.ConditionFalse, "DuplicateZone")
	serves("dns-primary-0", "older.example.net.")
	serves("dns-primary-1", "younger.example.net.")
	s.Eventually("the states of the younger", func() string {
		return s.statesOf(younger, map[string]v1beta1.InstanceState{"dns-primary-1": v1beta1.StateConfigured,
			"dns-secondary-0": v1beta1.StateFailed})
	})
	if !meta.IsStatusConditionTrue(younger.Status.Conditions, v1beta1.ConditionDegraded) {
		t.Errorf("what works in part says %+v", younger.Status.Conditions)
	}
	serves("dns-secondary-0", "older.example.net.")
	is(older, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)

	s.Remove(older)
	serves("dns-primary-0", "REFUSED")
	serves("dns-secondary-0", "younger.example.net.")
	is(younger, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("the states of the younger", func() string {
		return s.statesOf(younger, map[string]v1beta1.InstanceState{"dns-primary-1": v1beta1.StateConfigured,
			"dns-secondary-0": v1beta1.StateConfigured})
	})
	s.Eventually("the end of the older", func() string { return s.IsGone(older) })
}
