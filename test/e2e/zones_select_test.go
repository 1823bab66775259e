package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// isOn waits until the status of a zone lists these instances, says of each what is documented, and that all have the
// zone.
func (s *site) isOn(zone client.ObjectKey, instances ...client.ObjectKey) {
	s.Helper()
	s.eventually("the instances of "+zone.String(), func() string {
		o := must(s, dnsZone("", ""), zone.Namespace, zone.Name)
		if o.Status.ObservedGeneration != o.Generation || int(o.Status.Bind9InstancesCount) != len(instances) {
			return fmt.Sprintf("of generation %d, %d are counted: %+v", o.Status.ObservedGeneration,
				o.Status.Bind9InstancesCount, o.Status.Conditions)
		}
		var got []client.ObjectKey
		for _, b := range o.Status.Bind9Instances {
			i := must(s, instance("", ""), b.Namespace, b.Name)
			if b.UID != string(i.UID) || b.State != v1beta1.StateConfigured || b.LastSyncTime.IsZero() {
				return fmt.Sprintf("%+v", b)
			}
			got = append(got, client.ObjectKeyFromObject(i))
		}
		if !slices.Equal(got, instances) {
			return fmt.Sprintf("they are %s", got)
		}
		return s.ready(o, metav1.ConditionTrue, v1beta1.ReasonAllConfigured, fmt.Sprintf("All %d instances", len(instances)))
	})
}

func keysOf(namespace string, names ...string) []client.ObjectKey {
	var out []client.ObjectKey
	for _, name := range names {
		out = append(out, client.ObjectKey{Namespace: namespace, Name: name})
	}
	return out
}

// A placement is where a zone has to be.
type placement struct {
	sentence, spec string
	on             []string
}

func TestZ1ByClusterRefBySelectorAndByBoth(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	all := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"}
	const lone = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: %s, labels: {%s: "yes"}}, spec: {role: %s}}`
	ones := []string{s.word, s.word + "-too"} // of no cluster: the second one has no key of any primary
	for i, role := range []string{"Primary", "Secondary"} {
		s.apply(lone, f.namespace, ones[i], s.word, role)
		s.Cleanup(func() { _ = s.client.Delete(context.WithoutCancel(s.ctx), instance(f.namespace, ones[i])) })
	}
	s.label(f, `"yes"`, "dns-primary-1", "dns-secondary-0")
	placements := []placement{
		{"a cluster", "clusterRef: dns", all},
		{"a selector", s.chosen(), append([]string{"dns-primary-1", "dns-secondary-0"}, ones...)},
		{"a cluster and a selector that choose some servers twice", "clusterRef: dns, " + s.chosen(),
			append(slices.Clone(all), ones...)},
		{"two selectors that choose the same", `bind9InstancesFrom: [{selector: {matchLabels: {bindy.firestoned.io/role: primary}}},
			{selector: {matchExpressions: [{key: bindy.firestoned.io/role, operator: In, values: [primary]}]}}]`, all[:2]},
	}
	for i, p := range placements {
		s.apply(zoneManifest, f.namespace, fmt.Sprintf("%s-%d", s.word, i), fmt.Sprintf("z1-%d.%s.example", i, s.word),
			p.spec)
		s.apply(aManifest, f.namespace, fmt.Sprintf("%s-%d", s.word, i), fmt.Sprintf("z1-%d.%s.example", i, s.word), "www",
			"192.0.2.1")
	}
	for i, p := range placements {
		s.run(p.sentence, func(s *site) {
			object := fmt.Sprintf("%s-%d", s.word, i)
			s.isOn(zoneKey(f.namespace, object), keysOf(f.namespace, p.on...)...)
			s.awaitRecord(aRecord(f.namespace, object))
			for _, v := range s.servers(f.namespace, append(slices.Clone(all), ones...)...) {
				want := noZone
				if slices.Contains(p.on, v.instance) {
					want = "30 192.0.2.1"
				}
				s.allDig([]server{v}, fmt.Sprintf("www.z1-%d.%s.example", i, s.word), dns.TypeA, want)
			}
		})
	}
}

func TestZ2ConsentOfInstancesElsewhere(t *testing.T) {
	s := newSite(t)
	ours, theirs := s.namespace("ours"), s.namespace("theirs")
	const shared = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: lone, labels: {%s: "yes"}}, spec: {role: Primary}}`
	s.apply(shared, theirs, s.word)
	const consent = "bindy.firestoned.io/allow-zone-namespaces"
	s.apply(zoneManifest, ours, "unnamed", "unnamed.example", s.chosen()) // it does not name the namespace
	s.apply(zoneManifest, ours, "z2", "z2.example", s.chosenIn(theirs))
	s.apply(aManifest, ours, "www", "z2.example", "www", "192.0.2.1")
	s.awaitReady(instance(theirs, "lone"))
	pod := s.servers(theirs)
	for _, tt := range []struct {
		sentence, annotation string
		allowed              bool
	}{
		{"without an annotation", "null", false},
		{"with the namespace in it", fmt.Sprintf("%q", "other, "+ours), true},
		{"with other namespaces in it", fmt.Sprintf("%q", ours+"-not, other"), false},
		{"with a wildcard", `"*"`, true},
		{"after it is taken back", "null", false},
	} {
		s.run(tt.sentence, func(s *site) {
			s.patch(instance(theirs, "lone"), fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, consent, tt.annotation))
			if tt.allowed {
				s.isOn(zoneKey(ours, "z2"), client.ObjectKey{Namespace: theirs, Name: "lone"})
				s.awaitRecord(aRecord(ours, "www"))
				s.allDig(pod, "www.z2.example", dns.TypeA, "30 192.0.2.1")
				s.allDig(pod, "unnamed.example", dns.TypeSOA, noZone)
				return
			}
			s.eventually("no server", func() string {
				return s.ready(dnsZone(ours, "z2"), metav1.ConditionFalse, v1beta1.ReasonNoInstances, consent)
			})
			s.allDig(pod, "www.z2.example", dns.TypeA, noZone)
			s.eventually("nothing is told of instances that belong to others", func() string {
				if o := must(s, dnsZone("", ""), ours, "z2"); strings.Contains(fmt.Sprint(o.Status), theirs) {
					return fmt.Sprintf("%+v", o.Status)
				}
				return ""
			})
		})
	}
}

func TestZ3NoInstanceMatchesAndThenOneDoes(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	s.apply(zoneManifest, f.namespace, s.word, zone, s.chosen())
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.1")
	s.eventually("no server", func() string {
		return s.ready(dnsZone(f.namespace, s.word), metav1.ConditionFalse, v1beta1.ReasonNoInstances,
			"selects no Bind9Instance")
	})
	s.eventually("the record", func() string {
		return s.ready(aRecord(f.namespace, s.word), metav1.ConditionFalse, v1beta1.ReasonNoInstances)
	})
	s.allDig(f.servers, "www."+zone, dns.TypeA, noZone)

	s.label(f, `"yes"`, "dns-secondary-0")
	s.eventually("a secondary alone", func() string {
		return s.ready(dnsZone(f.namespace, s.word), metav1.ConditionFalse, v1beta1.ReasonNoPrimaryInstances)
	})
	s.allDig(f.servers, "www."+zone, dns.TypeA, noZone)
	s.label(f, `"yes"`, "dns-primary-0")
	s.isOn(zoneKey(f.namespace, s.word), keysOf(f.namespace, "dns-primary-0", "dns-secondary-0")...)
	s.awaitRecord(aRecord(f.namespace, s.word))
	s.allDig(s.servers(f.namespace, "dns-primary-0", "dns-secondary-0"), "www."+zone, dns.TypeA, "30 192.0.2.1")
	s.allDig(s.servers(f.namespace, "dns-primary-1"), "www."+zone, dns.TypeA, noZone)
}

func TestZ9InstancesThatAreNotSelectedAnyMore(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	all := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"}
	s.label(f, `"yes"`, all...)
	s.apply(zoneManifest, f.namespace, s.word, zone, s.chosen())
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.1")
	for _, step := range []struct {
		lost string
		left []string
	}{{"", all}, {"dns-secondary-0", all[:2]}, {"dns-primary-0", all[1:2]}} {
		if step.lost != "" {
			s.label(f, "null", step.lost)
			s.allDig(s.servers(f.namespace, step.lost), "www."+zone, dns.TypeA, noZone)
		}
		s.isOn(zoneKey(f.namespace, s.word), keysOf(f.namespace, step.left...)...)
		s.allDig(s.servers(f.namespace, step.left...), "www."+zone, dns.TypeA, "30 192.0.2.1")
	}
	s.eventually("the instance without the zone", func() string {
		i := must(s, instance("", ""), f.namespace, "dns-primary-0")
		if slices.ContainsFunc(i.Status.Zones, func(z v1beta1.InstanceZone) bool { return z.Name == s.word }) {
			return fmt.Sprintf("it lists %+v", i.Status.Zones)
		}
		return ""
	})
	s.label(f, `"yes"`, all...)
	s.isOn(zoneKey(f.namespace, s.word), keysOf(f.namespace, all...)...)
	s.allDig(f.servers, "www."+zone, dns.TypeA, "30 192.0.2.1")
	s.agree(f.servers, zone, f.key)
}
