package bindy

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// zoneOf reads the spec of a DNSZone called dns/example.
func zoneOf(t *testing.T, spec string) *v1beta1.DNSZone {
	t.Helper()
	z := &v1beta1.DNSZone{}
	z.Namespace, z.Name = "dns", "example"
	if err := yaml.UnmarshalStrict([]byte(spec), &z.Spec); err != nil {
		t.Fatal(err)
	}
	return z
}

// contentOf is what the core makes of a zone by itself, as text.
func contentOf(z zone.Zone) string {
	w := zone.New(zone.Options{})
	w.PutZone(z)
	w.Settle()
	s, accepted := w.Snapshot(z.ID)
	if !accepted {
		v, _ := w.Verdict(z.ID)
		return string(v.Reason) + ": " + v.Message
	}
	out := fmt.Sprintf("%s %d SOA %s\n", s.Name, s.SOA.TTL, s.SOA.Data())
	for set := range s.Sets.All() {
		for _, data := range set.Data {
			out += fmt.Sprintln(set.Name, set.TTL, set.Type, data)
		}
	}
	for _, n := range z.Warnings {
		out += string(n.Reason) + "\n"
	}
	return strings.TrimSpace(out)
}

func TestAZoneHasItsSOAAndNameServers(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"the document's example",
			`{zoneName: example.com, clusterRef: c, soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com, ttl: 3600}}`,
			`example.com. 3600 SOA ns1.example.com. admin.example.com. 0 3600 600 604800 86400
example.com. 3600 NS ns1.example.com.
ns1.example.com. 3600 A 198.51.100.7
ns1.example.com. 3600 AAAA 2001:db8::7`},
		{"the form of the existing Bindy, where the zone has a TTL",
			`{zoneName: Example.COM, ttl: 120, soaRecord: {primaryNs: NS1.example.net., adminEmail: admin@example.com., serial: 5, refresh: 10, retry: 5, expire: 20, negativeTtl: 0}}`,
			`example.com. 120 SOA ns1.example.net. admin.example.com. 0 10 5 20 0
example.com. 120 NS ns1.example.net.`},
		{"the TTLs of SOA and records differ",
			`{zoneName: example.com, ttl: 60, soa: {primaryNameServer: ns.example.net, adminEmail: a.example.com, ttl: 900}}`,
			`example.com. 900 SOA ns.example.net. a.example.com. 0 3600 600 604800 86400
example.com. 60 NS ns.example.net.`},
		{"without any TTL", `{zoneName: example.com, soa: {primaryNameServer: ns.example.net, adminEmail: a.example.com}}`,
			`example.com. 300 SOA ns.example.net. a.example.com. 0 3600 600 604800 86400
example.com. 300 NS ns.example.net.`},
		{"more name servers, those in the zone with glue, in both forms", `{zoneName: example.com, soa: {primaryNameServer: ns1.example.com, adminEmail: a.example.com},
  nameServers: [{hostname: ns1.example.com., ipv4Address: 192.0.2.1}, {hostname: NS2.example.com, ipv6Address: "2001:DB8:0::2"}, {hostname: ns.example.net., ipv4Address: 192.0.2.9}],
  nameServerIps: {ns2.example.com: 192.0.2.2, ns3.example.com.: 192.0.2.3}}`,
			`example.com. 300 SOA ns1.example.com. a.example.com. 0 3600 600 604800 86400
example.com. 300 NS ns.example.net.
example.com. 300 NS ns1.example.com.
example.com. 300 NS ns2.example.com.
example.com. 300 NS ns3.example.com.
ns1.example.com. 300 A 192.0.2.1
ns2.example.com. 300 A 192.0.2.2
ns2.example.com. 300 AAAA 2001:db8::2
ns3.example.com. 300 A 192.0.2.3`},
		{"timers that secondaries cannot work with",
			`{zoneName: example.com, soa: {primaryNameServer: ns.example.net, adminEmail: a.example.com, refresh: 10, retry: 10}}`,
			`example.com. 300 SOA ns.example.net. a.example.com. 0 10 10 604800 86400
example.com. 300 NS ns.example.net.
InvalidTimers`},
		{"selectors that cannot be read", `{zoneName: example.com, soa: {primaryNameServer: ns.example.net, adminEmail: a.example.com},
  recordsFrom: [{selector: {}}, {selector: {matchExpressions: [{key: a, operator: Equals, values: [b]}]}}], bind9InstancesFrom: [{selector: {matchLabels: {a: "b c"}}}]}`,
			`example.com. 300 SOA ns.example.net. a.example.com. 0 3600 600 604800 86400
example.com. 300 NS ns.example.net.
InvalidSelector
InvalidSelector`},
		{"no SOA", `{zoneName: example.com}`,
			`InvalidSpec: DNSZone dns/example cannot be read: spec.soa is missing; correct it.`},
		{"a name that is none", `{zoneName: a..b, soa: {primaryNameServer: ns.a, adminEmail: a.b}}`,
			`InvalidName: DNSZone dns/example has a zoneName that is not the name of a zone: "a..b." has an empty label; correct it.`},
		{"the root", `{zoneName: ., soa: {primaryNameServer: ns.a, adminEmail: a.b}}`,
			`InvalidName: DNSZone dns/example has a zoneName that is not the name of a zone: "." is empty; correct it.`},
		{"an address", `{zoneName: 10.0.0.1, soa: {primaryNameServer: ns.a, adminEmail: a.b}}`,
			`InvalidName: DNSZone dns/example has a zoneName that is not the name of a zone: "10.0.0.1" is an address; correct it.`},
		{"a wildcard", `{zoneName: "*.a", soa: {primaryNameServer: ns.a, adminEmail: a.b}}`,
			`InvalidName: DNSZone dns/example has a zoneName that is not the name of a zone: "*.a" is a wildcard, at which no zone can start (RFC 4592 §4.2); correct it.`},
		{"a timer out of range", `{zoneName: a, soa: {primaryNameServer: ns.b, adminEmail: a.b, expire: 2147483648}}`,
			`InvalidSpec: DNSZone dns/example cannot be read: expire is 2147483648; it must be from 0 to 2147483647 seconds; correct it.`},
		{"two clusters",
			`{zoneName: a, clusterRef: x, clusterProviderRef: z, soa: {primaryNameServer: ns.b, adminEmail: a.b}}`,
			`InvalidSpec: DNSZone dns/example cannot be read: spec.clusterRef is x and spec.clusterProviderRef is z; remove one of the two; correct it.`},
		{"an address that is none",
			`{zoneName: a, nameServers: [{hostname: ns.a, ipv4Address: 999.0.0.1}], soa: {primaryNameServer: ns.b, adminEmail: a.b}}`,
			`InvalidSpec: DNSZone dns/example cannot be read: the address "999.0.0.1" of the name server ns.a. is not an IP address; correct it.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers := []netip.Addr{netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr(
				"198.51.100.7")}
			if got := contentOf(ConvertZone(zoneOf(t, c.spec), servers)); got != c.want {
				t.Errorf("the zone is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAZoneTakesTheRecordsOfItsNamespaceOnly(t *testing.T) {
	w := zone.New(zone.Options{})
	z := ConvertZone(
		zoneOf(t, `{zoneName: example.com, soa: {primaryNameServer: ns.example.net, adminEmail: a.example.com}}`), nil)
	w.PutZone(z)
	for _, namespace := range []string{"dns", "evil"} {
		a := &v1beta1.ARecord{Spec: v1beta1.ARecordSpec{RecordMeta: v1beta1.RecordMeta{Name: "@"}, IPv4: "192.0.2.1"}}
		a.Namespace, a.Name = namespace, "apex"
		r, _ := RecordOf(a)
		w.PutClaim(ConvertRecord(r, Home{Zone: z.ID}))
	}
	w.Settle()
	if v, _ := w.Verdict(RecordID(rr.TypeA, "dns", "apex")); !v.Accepted {
		t.Errorf("the record of the zone's namespace is refused: %s", v.Message)
	}
	if v, _ := w.Verdict(RecordID(rr.TypeA, "evil", "apex")); v.Accepted {
		t.Error("the record of another namespace is accepted")
	}
}
