package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestZ2InstancesThatDoNotAllowAZone has an instance of another namespace selected that does not allow it, and then
// does: the zone says so, and one event does. As long as the zone does not name that namespace, nothing of the instance
// matters to it.
func TestZ2InstancesThatDoNotAllowAZone(t *testing.T) {
	s, n := zoneStage(t, "owner")
	s.Apply(clusterWith, n.namespace, 1, 0)
	tenant := s.Namespace("tenant")
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: example.com,
		bind9InstancesFrom: [{selector: {matchLabels: {bindy.firestoned.io/cluster: dns}}}], soa: {primaryNameServer: ns1.example.net, adminEmail: admin@example.com}}}`, tenant)
	i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")}
	allow := func(namespaces string) {
		s.Patch(i, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, v1beta1.AllowZoneNamespacesAnnotation, namespaces))
	}
	s.Eventually("the instance", func() string {
		if !s.Get(i) {
			return "it is not there"
		}
		return ""
	})
	for _, namespaces := range []string{`"*"`, "null"} {
		allow(namespaces)
		s.Quiet()
		s.zoneIs(tenant, metav1.ConditionFalse, v1beta1.ReasonNoInstances)
	}
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(tenant, "example")}
	if s.Get(o); len(o.Status.Bind9Instances) > 0 || meta.FindStatusCondition(o.Status.Conditions,
		controller.ConditionWarning) != nil {
		t.Errorf("of an instance that it does not select it says %+v", o.Status)
	}
	s.Patch(o,
		fmt.Sprintf(
			`{"spec":{"bind9InstancesFrom":[{"selector":{"matchLabels":{"bindy.firestoned.io/cluster":"dns"}},"namespaces":[%q]}]}}`, n.namespace))
	s.Eventually("that it is not allowed", func() string {
		s.Get(o)
		c := meta.FindStatusCondition(o.Status.Conditions, controller.ConditionWarning)
		if c == nil || c.Reason != v1beta1.ReasonNotAllowed ||
			!strings.Contains(c.Message, v1beta1.AllowZoneNamespacesAnnotation) || strings.Contains(c.Message, n.namespace) {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	s.Patch(o, `{"spec":{"soa":{"refresh":7200}}}`) // which writes its status once more
	s.Eventually("the next status", func() string {
		s.Get(o)
		if o.Status.ObservedGeneration != o.Generation {
			return "it is of an older generation"
		}
		return ""
	})
	events := slices.DeleteFunc(s.Reported(), func(e string) bool {
		return !strings.Contains(e, v1beta1.ReasonNotAllowed)
	})
	if len(events) != 1 || strings.Contains(events[0], n.namespace) {
		t.Errorf("of what is not allowed there are the events %q", events)
	}
	allow(fmt.Sprintf("%q", "another, "+tenant))
	s.zoneIs(tenant, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Get(o)
	if c := meta.FindStatusCondition(o.Status.Conditions, controller.ConditionWarning); c != nil {
		t.Errorf("it says yet %+v", c)
	}
	s.Remove(o)
	s.Eventually("its end", func() string { return s.IsGone(o) })
}

// TestInstancesWithoutPods has an instance that is to have no pods: it is told, and a zone is ready without it.
func TestInstancesWithoutPods(t *testing.T) {
	s, n := zoneStage(t, "idle")
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: more}, spec: {clusterRef: dns, role: Primary, replicas: 0}}`, n.namespace)
	o, more := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")},
		&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "more")}
	is := func(state v1beta1.InstanceState) {
		s.Eventually("the states", func() string {
			return s.statesOf(o, map[string]v1beta1.InstanceState{"dns-primary-0": v1beta1.StateConfigured, "more": state})
		})
		s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	}
	is(v1beta1.StateClaimed)
	if i := slices.IndexFunc(o.Status.Bind9Instances, func(i v1beta1.ZoneInstance) bool {
		return i.Name == "more"
	}); i < 0 || !strings.Contains(o.Status.Bind9Instances[i].Message, "replicas is 0") {
		t.Errorf("of the instance without pods it says %+v", o.Status.Bind9Instances)
	}
	s.Patch(more, `{"spec":{"replicas":1}}`)
	is(v1beta1.StateConfigured)
	s.Patch(more, `{"spec":{"replicas":0}}`)
	is(v1beta1.StateClaimed)
	s.Patch(more, `{"spec":{"replicas":1}}`)
	is(v1beta1.StateConfigured)
	s.Remove(more)
	s.Eventually("one instance", func() string {
		return s.statesOf(o, map[string]v1beta1.InstanceState{"dns-primary-0": v1beta1.StateConfigured})
	})
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}
