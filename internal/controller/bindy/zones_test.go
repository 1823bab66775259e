package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

const (
	clusterWith = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: dns}, spec: {primaryReplicas: %d, secondaryReplicas: %d}}`
	exampleZone = `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: example.com, clusterRef: dns,
		soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, ttl: 60}}}`
	addressRecord = `{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {namespace: %s, name: %s}, spec: {zone: example.com, name: %[2]s, ipv4: %s, ttl: 30}}`
)

func (s *stage) zoneIs(namespace string, status metav1.ConditionStatus, reason string) {
	s.Helper()
	s.Eventually("the status of the zone", func() string {
		o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(namespace, "example")}
		s.Get(o)
		return bindytest.Ready(o.Status.Conditions, status, reason)
	})
}

func (s *stage) recordIs(namespace, name string, status metav1.ConditionStatus, reason string) *v1beta1.ARecord {
	s.Helper()
	o := &v1beta1.ARecord{ObjectMeta: bindytest.Named(namespace, name)}
	s.Eventually("the status of record "+name, func() string {
		s.Get(o)
		return bindytest.Ready(o.Status.Conditions, status, reason)
	})
	return o
}

// TestAZoneOnOnePrimary has one zone with records on one server, from nothing to nothing.
func TestAZoneOnOnePrimary(t *testing.T) {
	s, n := zoneStage(t, "one")
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	r := s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	if r.Status.PublishedName != "www.example.com." || r.Status.Addresses != "192.0.2.1" || r.Status.ZoneRef == nil ||
		r.Status.RecordHash == "" {
		t.Errorf("the status of the record is %+v", r.Status)
	}
	s.Eventually("the server", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.1") })

	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Apply(addressRecord, n.namespace, "mail", "192.0.2.3")
	s.Eventually("a change", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.Eventually("a second record", func() string { return n.answers(1, "mail.example.com.", dns.TypeA, "192.0.2.3") })
	s.Remove(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "mail")})
	s.Eventually("a record that is deleted", func() string {
		return n.answers(1, "mail.example.com.", dns.TypeA, "NXDOMAIN")
	})

	i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")}
	s.Eventually("the zones of the instance", func() string {
		s.Get(i)
		if len(i.Status.Zones) != 1 || i.Status.ZonesCount != 1 || i.Status.Zones[0].ZoneName != "example.com" {
			return "they are not told"
		}
		return bindytest.Ready(i.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Eventually("what the zone says of its server", func() string {
		s.Get(o)
		b := o.Status.Bind9Instances
		if len(b) != 1 || b[0].Name != "dns-primary-0" || b[0].UID != string(i.UID) ||
			b[0].State != v1beta1.StateConfigured || o.Status.RecordsCount != 1 {
			return fmt.Sprintf("%+v", o.Status)
		}
		return ""
	})
	s.Remove(o)
	s.Eventually("a zone that is deleted", func() string { return s.IsGone(o) })
	s.Eventually("its server", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "REFUSED") })
}

// TestAZoneOnAFleet has a zone on primaries and secondaries, of which all serve the same, also after one is made anew.
func TestAZoneOnAFleet(t *testing.T) {
	s, n := zoneStage(t, "fleet")
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.recordIs(n.namespace, "www", metav1.ConditionFalse, v1beta1.ReasonNoInstances)
	n.witness("www.example.com.", "192.0.2.1", "192.0.2.2")
	s.Apply(clusterWith, n.namespace, 2, 1)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.1") })
	s.Eventually("the same serial", func() string { return n.sameSerial(3) })
	s.Eventually("what is known of the servers", func() string { return s.inspected(n.namespace, "192.0.2.1") })
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("a change everywhere", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.2") })

	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		n.replace(instance)
		s.Eventually("the pods", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.2") })
		s.Eventually("the same serial", func() string { return n.sameSerial(3) })
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}

// TestZonesComeAndGo has zones that nobody serves, that have one name, that select records, and an operator that starts
// again.
func TestZonesComeAndGo(t *testing.T) {
	s, n := zoneStage(t, "come")
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonNoInstances)
	s.recordIs(n.namespace, "www", metav1.ConditionFalse, v1beta1.ReasonNoInstances)
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)

	// A record that is selected, and is not any more.
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: TXTRecord, metadata: {namespace: %s, name: text, labels: {zone: example}}, spec: {name: "@", text: [a, b]}}`, n.namespace)
	text := &v1beta1.TXTRecord{ObjectMeta: bindytest.Named(n.namespace, "text")}
	isText := func(status metav1.ConditionStatus, reason string) {
		s.Eventually("the status of the text", func() string {
			s.Get(text)
			return bindytest.Ready(text.Status.Conditions, status, reason)
		})
	}
	isText(metav1.ConditionFalse, v1beta1.ReasonNotSelected)
	s.Patch(example, `{"spec":{"recordsFrom":[{"selector":{"matchLabels":{"zone":"example"}}}]}}`)
	isText(metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.Eventually("the text", func() string { return n.answers(1, "example.com.", dns.TypeTXT, `"a" "b"`) })
	s.Patch(example, `{"spec":{"recordsFrom":null}}`)
	isText(metav1.ConditionFalse, v1beta1.ReasonNotSelected)
	s.Eventually("no text", func() string { return n.answers(1, "example.com.", dns.TypeTXT, "") })

	// An operator that starts again changes nothing.
	serial := n.serial()
	s.Quiet()
	s.Stop()
	s.Writes.Reset()
	s.start()
	s.Quiet()
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.9")
	s.Eventually("a change after it started again", func() string {
		return n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.9")
	})
	if writes := s.Writes.Count("PATCH bind9instances/status") + s.Writes.Count("PATCH bind9instances"); writes > 0 {
		t.Errorf("an operator that starts again writes %s", s.Writes)
	}
	if now := n.serial(); now <= serial {
		t.Errorf("the serial went from %d to %d", serial, now)
	}

	// Of two zones of one name the older has the server, and then the other.
	s.Patch(example, `{"metadata":{"annotations":{"a":"b"}}}`)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: younger}, spec: {zoneName: example.com, clusterRef: dns,
		soa: {primaryNameServer: ns9.example.com, adminEmail: admin@example.com, ttl: 60}}}`, n.namespace)
	younger := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "younger")}
	isYounger := func(status metav1.ConditionStatus, reason string) {
		s.Eventually("the status of the younger zone", func() string {
			s.Get(younger)
			return bindytest.Ready(younger.Status.Conditions, status, reason)
		})
	}
	isYounger(metav1.ConditionFalse, "DuplicateZone")
	s.Eventually("the older zone", func() string { return n.answers(1, "example.com.", dns.TypeNS, "ns1.example.com.") })
	serial = n.serial()
	s.Remove(example)
	isYounger(metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("the younger zone", func() string { return n.answers(1, "example.com.", dns.TypeNS, "ns9.example.com.") })
	s.Eventually("its record", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "192.0.2.9") })
	if now := n.serial(); now <= serial {
		t.Errorf("the serial went from %d to %d when another zone took over", serial, now)
	}
	s.Eventually("the end of the older zone", func() string { return s.IsGone(example) })
}

// TestAZoneThatServersLose has a zone taken from a secondary by its selectors, and then deleted.
func TestAZoneThatServersLose(t *testing.T) {
	s, n := zoneStage(t, "lose")
	s.Apply(clusterWith, n.namespace, 2, 1)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: example.com,
		bind9InstancesFrom: [{selector: {matchLabels: {bindy.firestoned.io/role: primary}}}, {selector: {matchLabels: {bindy.firestoned.io/role: secondary}}}],
		soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, ttl: 60}}}`, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.1") })
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Patch(example,
		`{"spec":{"bind9InstancesFrom":[{"selector":{"matchLabels":{"bindy.firestoned.io/instance-index":"none"}}},{"selector":{"matchExpressions":[{"key":"bindy.firestoned.io/role","operator":"In","values":["primary"]}]}}]}}`)
	s.Eventually("the secondary without the zone", func() string {
		return n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "REFUSED")
	})
	s.Eventually("a primary with the zone", func() string {
		return n.answersAt("dns-primary-1", "www.example.com.", dns.TypeA, "192.0.2.1")
	})
	s.Eventually("two instances", func() string {
		s.Get(example)
		if example.Status.Bind9InstancesCount != 2 || len(example.Status.Bind9Instances) != 2 {
			return fmt.Sprintf("%+v", example.Status.Bind9Instances)
		}
		return ""
	})
	s.Remove(example)
	s.Eventually("a zone that is deleted", func() string { return s.IsGone(example) })
	s.Eventually("no server", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "REFUSED") })
}

// TestEveryKindOfRecord has one of each kind on a primary and a secondary, and then another SOA and more name servers.
func TestEveryKindOfRecord(t *testing.T) {
	s, n := zoneStage(t, "kinds")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	kinds := []struct {
		kind, name, spec string
		typ              uint16
		want             string
	}{
		{"ARecord", "*.wild", "ipv4Addresses: [192.0.2.2, 192.0.2.1]", dns.TypeA, ""},
		{"AAAARecord", "six", "ipv6: '2001:DB8::1'", dns.TypeAAAA, "2001:db8::1"},
		{"CNAMERecord", "alias", "target: www.example.org.", dns.TypeCNAME, "www.example.org."},
		{"TXTRecord", "_text", `text: ["v=1; a", "b"]`, dns.TypeTXT, `"v=1; a" "b"`},
		{"MXRecord", "@", "priority: 10, mailServer: mx.example.org.", dns.TypeMX, "10 mx.example.org."},
		{"NSRecord", "sub", "nameserver: ns.example.org.", dns.TypeNS, ""},
		{"SRVRecord", "_sip._tcp", "priority: 1, weight: 2, port: 3, target: sip.example.org.", dns.TypeSRV,
			"1 2 3 sip.example.org."},
		{"CAARecord", "@", "flags: 0, tag: issue, value: ca.example.org", dns.TypeCAA, `0 issue "ca.example.org"`},
		{"PTRRecord", "host", "target: www.example.org.", dns.TypePTR, "www.example.org."},
	}
	for i, k := range kinds {
		s.Apply(
			`{apiVersion: bindy.firestoned.io/v1beta1, kind: %s, metadata: {namespace: %s, name: r%d}, spec: {zone: example.com, name: "%s", %s}}`, k.kind, n.namespace, i, k.name, k.spec)
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	for _, k := range kinds {
		if k.want != "" {
			name := k.name + ".example.com."
			if k.name == "@" {
				name = "example.com."
			}
			s.Eventually(k.kind, func() string { return n.answers(2, name, k.typ, k.want) })
		}
	}
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Patch(example,
		`{"spec":{"soa":{"refresh":7200},"nameServers":[{"hostname":"ns2.example.com","ipv4Address":"192.0.2.53"}]}}`)
	s.Eventually("the address of another name server", func() string {
		return n.answers(2, "ns2.example.com.", dns.TypeA, "192.0.2.53")
	})
	s.Eventually("another SOA", func() string {
		if got := ask(n.at("dns-secondary-0"), "example.com.", dns.TypeSOA); !strings.Contains(got,
			" 7200 600 604800 86400") {
			return got
		}
		return n.sameSerial(2)
	})
	for i, k := range kinds {
		kinds := RecordKinds()
		o := kinds[slices.IndexFunc(kinds, func(o client.Object) bool {
			return strings.HasSuffix(fmt.Sprintf("%T", o), "."+k.kind)
		})]
		o.SetNamespace(n.namespace)
		o.SetName(fmt.Sprintf("r%d", i))
		s.Eventually("the status of the "+k.kind, func() string {
			s.Get(o)
			r, _ := dialect.RecordOf(o)
			return bindytest.Ready(r.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
		})
	}
}

// TestAReverseZone has the names of addresses: one by its own word, one that the zone selects, one by its whole name.
func TestAReverseZone(t *testing.T) {
	s, n := zoneStage(t, "reverse")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: 2.0.192.in-addr.arpa, clusterRef: dns,
		soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com, ttl: 60}, recordsFrom: [{selector: {matchLabels: {reverse: ours}}}]}}`, n.namespace)
	const pointer = `{apiVersion: bindy.firestoned.io/v1beta1, kind: PTRRecord, metadata: {namespace: %s, name: %s, labels: {reverse: %s}}, spec: {%s, target: %[2]s.example.com.}}`
	s.Apply(pointer, n.namespace, "named", "theirs", `name: "1", zone: 2.0.192.in-addr.arpa`)
	s.Apply(pointer, n.namespace, "selected", "ours", `name: "2"`)
	s.Apply(pointer, n.namespace, "whole", "ours", `name: 3.2.0.192.in-addr.arpa.`)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	for i, name := range []string{"named", "selected", "whole"} {
		s.Eventually("the "+name+" record", func() string {
			return n.answers(2, fmt.Sprintf("%d.2.0.192.in-addr.arpa.", i+1), dns.TypePTR, name+".example.com.")
		})
	}
	s.Apply(pointer, n.namespace, "selected", "theirs", `name: "2"`)
	s.Eventually("a record that nothing selects any more", func() string {
		return n.answers(2, "2.2.0.192.in-addr.arpa.", dns.TypePTR, "NXDOMAIN")
	})
}

// TestOneOfTwoPrimariesIsDown has a server that does not answer while a record changes: the other serves the change,
// the status says so, and what comes in place of the server has all of it.
func TestOneOfTwoPrimariesIsDown(t *testing.T) {
	s, n := zoneStage(t, "down")
	s.Apply(clusterWith, n.namespace, 2, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	n.killNamed("dns-primary-1")
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("the other primary", func() string {
		return n.answersAt("dns-primary-0", "www.example.com.", dns.TypeA, "192.0.2.2")
	})
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonPrimaryFailed)
	s.Eventually("what works", func() string {
		o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
		s.Get(o)
		if !meta.IsStatusConditionTrue(o.Status.Conditions, v1beta1.ConditionDegraded) || len(o.Status.Bind9Instances) != 2 ||
			o.Status.Bind9Instances[0].State != v1beta1.StateConfigured ||
			o.Status.Bind9Instances[1].State != v1beta1.StateFailed {
			return fmt.Sprintf("%+v", o.Status)
		}
		return ""
	})
	n.replace("dns-primary-1")
	s.Eventually("both primaries", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.Eventually("the same serial", func() string { return n.sameSerial(2) })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
}

// TestAZoneOnAnInstanceThatCannotBeCarriedOut says what is wrong with the instance, of which nothing has ever run.
func TestAZoneOnAnInstanceThatCannotBeCarriedOut(t *testing.T) {
	s, n := zoneStage(t, "broken")
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: lone, labels: {chosen: "yes"}},
		spec: {role: Primary, volumes: [{name: v, hostPath: {path: /}}]}}`, n.namespace)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: example.com,
		bind9InstancesFrom: [{selector: {matchLabels: {chosen: "yes"}}}], soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com}}}`, n.namespace)
	s.Eventually("what is wrong", func() string {
		o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
		s.Get(o)
		return bindytest.Ready(o.Status.Conditions, metav1.ConditionFalse, v1beta1.ReasonPrimaryFailed,
			"Nothing was changed: spec.volumes[0]")
	})
}
