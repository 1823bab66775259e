package bindy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// serialAt is the serial that the server of an instance has of a zone; 0: none.
func (n *bindNode) serialAt(instance, zone string) (serial uint32) {
	n.Helper()
	fields := strings.Fields(ask(n.at(instance), zone, dns.TypeSOA))
	if len(fields) < 3 {
		return 0
	}
	if _, err := fmt.Sscan(fields[2], &serial); err != nil {
		n.Fatal(err)
	}
	return serial
}

// TestZonesAreChangedInPlace has the spec of a zone edited, field by field: it is never taken away for it, and no
// serial falls.
func TestZonesAreChangedInPlace(t *testing.T) {
	s, n := zoneStage(t, "edit")
	s.Apply(clusterWith, n.namespace, 2, 1)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {zoneName: example.com, clusterRef: dns,
		soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, serial: 2030010100}}}`, n.namespace)
	s.Apply(addressRecord, n.namespace, "rock", "192.0.2.200")
	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: TXTRecord, metadata: {namespace: %s, name: text}, spec: {zone: example.com, name: text, text: [a]}}`, n.namespace)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("every server", func() string { return n.answers(3, "rock.example.com.", dns.TypeA, "192.0.2.200") })
	first := n.serialAt("dns-secondary-0", "example.com.")
	if first <= 2030010100 {
		t.Errorf("a zone that is to start above 2030010100 has serial %d", first)
	}
	end := n.always("rock.example.com.", "192.0.2.200")
	before := n.tally()
	edits := []struct{ what, patch, name, want string }{
		{"a lower serial and another refresh", `{"soa":{"serial":5,"refresh":7200}}`, "example.com. SOA", " 7200 "},
		{"a mailbox", `{"soa":{"adminEmail":"root@example.org"}}`, "example.com. SOA", "root.example.org."},
		{"a time to live", `{"ttl":77}`, "text.example.com. TXT", "\t77\t"},
		{"another primary name server", `{"soa":{"primaryNameServer":"ns0.example.org"}}`, "example.com. NS",
			"ns0.example.org."},
		{"more name servers",
			`{"nameServers":[{"hostname":"ns2.example.com","ipv4Address":"192.0.2.53"},{"hostname":"ns3.example.com","ipv6Address":"2001:db8::53"}]}`, "ns3.example.com. AAAA", "2001:db8::53"},
		{"another address of a name server", `{"nameServers":[{"hostname":"ns2.example.com","ipv4Address":"192.0.2.54"}]}`,
			"ns2.example.com. A", "192.0.2.54"},
		{"no more name servers", `{"nameServers":null}`, "ns2.example.com. A", "NXDOMAIN"},
	}
	last := first
	for _, e := range edits {
		s.Patch(example, `{"spec":`+e.patch+`}`)
		name, typ, _ := strings.Cut(e.name, " ")
		for _, at := range []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"} {
			s.Eventually(e.what, func() string {
				if got := askWhole(n.at(at), name, dns.StringToType[typ]); !strings.Contains(got, e.want) {
					return fmt.Sprintf("%s answers %q", at, got)
				}
				return ""
			})
		}
		if now := n.serialAt("dns-secondary-0", "example.com."); now <= last {
			t.Errorf("after %s the serial is %d, and was %d", e.what, now, last)
		} else {
			last = now
		}
		s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	}
	s.Patch(&v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")}, `{"spec":{"secondaryReplicas":2}}`)
	s.Eventually("another secondary", func() string { return n.answers(4, "rock.example.com.", dns.TypeA, "192.0.2.200") })
	s.Apply(addressRecord, n.namespace, "rick", "192.0.2.201")
	s.Eventually("a change there", func() string {
		return n.answersAt("dns-secondary-1", "rick.example.com.", dns.TypeA, "192.0.2.201")
	})
	end()
	if asked := n.tally("dns-primary-0", "dns-primary-1", "dns-secondary-0").minus(before); asked.of("DELETE",
		"POST /api/v1/zones ", "retransfer") > 0 || asked["POST /api/v1/zones"] > 0 {
		t.Errorf("for edits the servers were asked: %s", asked)
	}

	// Another name, and then other servers.
	last = n.serialAt("dns-secondary-0", "example.com.")
	s.Patch(example, `{"spec":{"zoneName":"example.net"}}`)
	s.Eventually("the old name", func() string { return n.answers(4, "rock.example.com.", dns.TypeA, "REFUSED") })
	s.recordIs(n.namespace, "rock", metav1.ConditionFalse, v1beta1.ReasonZoneNotFound)
	s.Patch(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "rock")}, `{"spec":{"zone":"example.net"}}`)
	s.Eventually("the new name", func() string { return n.answers(4, "rock.example.net.", dns.TypeA, "192.0.2.200") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.recordIs(n.namespace, "rock", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)

	s.Apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: other}, spec: {primaryReplicas: 1, secondaryReplicas: 1}}`, n.namespace)
	s.Patch(example, `{"spec":{"clusterRef":"other"}}`)
	for _, instance := range []string{"other-primary-0", "other-secondary-0"} {
		s.Eventually("other servers", func() string {
			return n.answersAt(instance, "rock.example.net.", dns.TypeA, "192.0.2.200")
		})
	}
	for _, instance := range []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1"} {
		s.Eventually("servers of before", func() string {
			return n.answersAt(instance, "rock.example.net.", dns.TypeA, "REFUSED")
		})
	}
	if now := n.serialAt("other-secondary-0", "example.net."); now <= last {
		t.Errorf("at other servers the serial is %d, and was %d", now, last)
	}
	s.Eventually("what the zone says of its servers", func() string {
		s.Get(example)
		if len(example.Status.Bind9Instances) != 2 || example.Status.ServedBy != "other" {
			return fmt.Sprintf("%+v", example.Status.Bind9Instances)
		}
		return bindytest.Ready(example.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
}

// askWhole is ask with whole records.
func askWhole(address, name string, typ uint16) string {
	m := new(dns.Msg)
	m.SetQuestion(name, typ)
	answer, _, err := (&dns.Client{Net: "tcp"}).Exchange(m, address)
	if err != nil {
		return err.Error()
	}
	text := dns.RcodeToString[answer.Rcode]
	for _, r := range answer.Answer {
		text += " " + r.String()
	}
	return text
}
