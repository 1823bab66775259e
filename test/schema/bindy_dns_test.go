package schema

import (
	"strings"
	"testing"
)

func TestBindyRulesOfZones(t *testing.T) {
	const (
		soa    = `soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com}`
		record = `soaRecord: {primaryNs: ns1.example.com., adminEmail: admin.example.com., serial: 1, refresh: 2, retry: 3, expire: 4, negativeTtl: 0}`
		z      = `zoneName: example.com`
	)
	check(t, "DNSZone", "default", []rule{
		{"the document's form", `spec: {` + z + `, ` + soa + `}`, ""},
		{"the existing form", `spec: {` + z + `, ` + record + `}`, ""},
		{"both forms, one with dots at the end", `spec: {` + z + `, ` + soa + `, ` + record + `}`, ""},
		{"both forms, with a mail address and in upper case", `spec: {` + z +
			`, soa: {primaryNameServer: NS1.example.com, adminEmail: admin@Example.com}, ` + record + `}`, ""},
		{"a mail address with a dot before the @", `spec: {` + z +
			`, soa: {primaryNameServer: a, adminEmail: john.doe+dns@example.com}}`, ""},
		{"both forms, with such a mailbox as an address and as a name", `spec: {` + z +
			`, soa: {primaryNameServer: a, adminEmail: John.Doe@example.com}, ` +
			`soaRecord: {primaryNs: a, adminEmail: john\.doe.example.com.}}`, ""},
		{"such a mailbox as a name", `spec: {` + z +
			`, soa: {primaryNameServer: a, adminEmail: john\.doe.example.com.}}`, ""},
		{"the existing form without numbers", `spec: {` + z +
			`, soaRecord: {primaryNs: ns1.example.com, adminEmail: admin.example.com}}`, ""},
		{"the document's form with numbers", `spec: {` + z +
			`, soa: {primaryNameServer: a, adminEmail: b, ttl: 0, serial: 4294967295, refresh: 1, retry: 1, expire: 2147483647, negativeTtl: 0}}`, ""},
		{"a reverse zone", `spec: {zoneName: 2.0.192.in-addr.arpa, ` + soa + `}`, ""},
		{"both forms of a cluster, which say the same", `spec: {` + z + `, ` + soa +
			`, clusterRef: a, clusterProviderRef: a}`, ""},
		{"both forms of a cluster, one of them empty", `spec: {` + z + `, ` + soa +
			`, clusterRef: "", clusterProviderRef: a}`, ""},
		{"nulls", `spec: {` + z + `, ` + soa +
			`, soaRecord: null, ttl: null, clusterRef: null, clusterProviderRef: null, nameServers: null, nameServerIps: null, recordsFrom: null, dnssecPolicy: null}`, ""},
		{"name servers with and without addresses", `spec: {` + z + `, ` + soa +
			`, nameServers: [{hostname: ns2}, {hostname: ns3., ipv4Address: null, ipv6Address: "::1"}], nameServerIps: {ns4.: 192.0.2.4}}`, ""},

		{"no SOA", `spec: {` + z + `}`, "a DNSZone needs soa (or soaRecord, which is another form of it)"},
		{"a SOA that is null", `spec: {` + z + `, soa: null}`, "a DNSZone needs soa"},
		{"no name", `spec: {` + soa + `}`, "spec.zoneName: Required value"},
		{"a name with a dot at the end", `spec: {zoneName: example.com., ` + soa + `}`,
			"a zone's name has no dot at its end"},
		{"a name with an underscore", `spec: {zoneName: _a.example.com, ` + soa + `}`, "a zone's name has no dot at its end"},
		{"a name that leads out of its folder", `spec: {zoneName: ../../etc, ` + soa + `}`,
			"a zone's name has no dot at its end"},
		{"a name that is an address", `spec: {zoneName: 10.0.0.1, ` + soa + `}`, "a zone's name is no address"},
		{"a label that is too long", `spec: {zoneName: ` + strings.Repeat("a", 64) + `.com, ` + soa + `}`,
			"a zone's name has no dot at its end"},
		{"a name that is too long", `spec: {zoneName: ` + strings.Repeat("a.", 127) + `a, ` + soa + `}`, "Too long"},
		{"forms of the SOA with different servers", `spec: {` + z +
			`, soa: {primaryNameServer: ns2.example.com, adminEmail: admin.example.com}, ` + record + `}`,
			"soa.primaryNameServer and soaRecord.primaryNs differ"},
		{"forms of the SOA with different mailboxes", `spec: {` + z +
			`, soa: {primaryNameServer: ns1.example.com, adminEmail: a.example.com}, ` + record + `}`,
			"soa.adminEmail and soaRecord.adminEmail differ"},
		{"forms of the SOA with different times", `spec: {` + z +
			`, soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com, expire: 5}, ` + record + `}`,
			"the numbers in soa and soaRecord differ"},
		{"forms of the SOA with different serials", `spec: {` + z +
			`, soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com, serial: 5}, ` + record + `}`,
			"the numbers in soa and soaRecord differ"},
		{"forms of the cluster that differ", `spec: {` + z + `, ` + soa + `, clusterRef: a, clusterProviderRef: b}`,
			"clusterRef and clusterProviderRef are two forms of one field and name different clusters"},
		{"a SOA without a mailbox", `spec: {` + z + `, soa: {primaryNameServer: a}}`, "spec.soa.adminEmail: Required value"},
		{"a mailbox that is none", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: "a b@c"}}`,
			"adminEmail is a mailbox written as admin.example.com or admin@example.com"},
		{"a mailbox with two dots before the @", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: a..b@c}}`,
			"adminEmail is a mailbox"},
		{"a mailbox with another backslash", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: a\b@c}}`,
			"adminEmail is a mailbox"},
		{"a mailbox with two @", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: a@b@c}}`,
			"adminEmail is a mailbox"},
		{"a server with a line break", `spec: {` + z + `, soa: {primaryNameServer: "a\nb", adminEmail: a.b}}`,
			"a host name has at most 253 characters"},
		{"a serial beyond u32", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: b, serial: 4294967296}}`,
			"spec.soa.serial in body should be less than or equal to 4294967295"},
		{"a refresh of 0", `spec: {` + z + `, soa: {primaryNameServer: a, adminEmail: b, refresh: 0}}`,
			"spec.soa.refresh in body should be greater than or equal to 1"},
		{"a ttl beyond RFC 2181", `spec: {` + z + `, ` + soa + `, ttl: 2147483648}`,
			"spec.ttl in body should be less than or equal to 2147483647"},
		{"a ttl below zero", `spec: {` + z + `, ` + soa + `, ttl: -1}`,
			"spec.ttl in body should be greater than or equal to 0"},
		{"a loose quad", `spec: {` + z + `, ` + soa + `, nameServers: [{hostname: a, ipv4Address: 999.1.1.1}]}`,
			"ipv4Address must be an IPv4 address such as 192.0.2.1"},
		{"an IPv6 address in the place of an IPv4 address", `spec: {` + z + `, ` + soa +
			`, nameServers: [{hostname: a, ipv4Address: "::1"}]}`, "ipv4Address must be an IPv4 address"},
		{"an IPv4 address in the place of an IPv6 address", `spec: {` + z + `, ` + soa +
			`, nameServers: [{hostname: a, ipv6Address: 192.0.2.1}]}`,
			"ipv6Address must be an IPv6 address such as 2001:db8::1"},
		{"a name server without a name", `spec: {` + z + `, ` + soa + `, nameServers: [{ipv4Address: 192.0.2.1}]}`,
			"spec.nameServers[0].hostname: Required value"},
		{"an address in the older form that is none", `spec: {` + z + `, ` + soa + `, nameServerIps: {a.: b}}`,
			"nameServerIps has names of name servers, and an IP address for each"},
		{"a name in the older form that is none", `spec: {` + z + `, ` + soa + `, nameServerIps: {"a b": 192.0.2.1}}`,
			"nameServerIps has names of name servers"},
		{"a policy with quotes", `spec: {` + z + `, ` + soa + `, dnssecPolicy: 'a"; x'}`, "spec.dnssecPolicy"},
		{"a selection without a selector", `spec: {` + z + `, ` + soa + `, recordsFrom: [{}]}`,
			"spec.recordsFrom[0].selector: Required value"},
		{"instances of another namespace, and what they may do", `spec: {` + z + `, ` + soa +
			`, bind9InstancesFrom: [{selector: {}, namespaces: [dns], usages: [Addresses, Signing]}]}`, ""},
		{"nothing said about namespaces", `spec: {` + z + `, ` + soa +
			`, bind9InstancesFrom: [{selector: {}, namespaces: null, usages: null}]}`, ""},
		{"all namespaces", `spec: {` + z + `, ` + soa + `, bind9InstancesFrom: [{selector: {}, namespaces: ["*"]}]}`,
			"spec.bind9InstancesFrom[0].namespaces[0]"},
		{"an unknown usage", `spec: {` + z + `, ` + soa + `, bind9InstancesFrom: [{selector: {}, usages: [Everything]}]}`,
			"spec.bind9InstancesFrom[0].usages[0]"},
		{"a field that does not exist", `spec: {` + z + `, ` + soa + `, instanceRef: a}`, `unknown field "spec.instanceRef"`},
	})
}

func TestBindyRulesOfAddresses(t *testing.T) {
	const name = `name: www`
	check(t, "ARecord", "default", []rule{
		{"every form, which all say the same", `spec: {` + name +
			`, ipv4: 192.0.2.1, ipv4Address: 192.0.2.1, ipv4Addresses: [192.0.2.1]}`, ""},
		{"one form, the others null", `spec: {` + name + `, ipv4: 192.0.2.1, ipv4Address: null, ipv4Addresses: null}`, ""},
		{"as many as BIND takes", `spec: {` + name + `, ipv4Addresses: [` +
			strings.TrimSuffix(strings.Repeat("192.0.2.1, ", 100), ", ") + `]}`, ""},

		{"no address", `spec: {` + name + `}`,
			"the record needs an address: set ipv4 (or ipv4Address or ipv4Addresses, which are other forms of it)"},
		{"addresses that are null", `spec: {` + name + `, ipv4: null}`, "the record needs an address"},
		{"an empty list", `spec: {` + name + `, ipv4Addresses: []}`,
			"spec.ipv4Addresses in body should have at least 1 items"},
		{"more than BIND takes", `spec: {` + name + `, ipv4Addresses: [` +
			strings.TrimSuffix(strings.Repeat("192.0.2.1, ", 101), ", ") + `]}`, "spec.ipv4Addresses: Too many"},
		{"the first two forms differ", `spec: {` + name + `, ipv4: 192.0.2.1, ipv4Address: 192.0.2.2}`,
			"ipv4 and ipv4Address are two forms of one field and differ; remove one of them"},
		{"the first and the last form differ", `spec: {` + name + `, ipv4: 192.0.2.1, ipv4Addresses: [192.0.2.1, 192.0.2.2]}`,
			"ipv4 and ipv4Addresses are two forms of one field and differ"},
		{"the last two forms differ", `spec: {` + name + `, ipv4Address: 192.0.2.1, ipv4Addresses: [192.0.2.2]}`,
			"ipv4Address and ipv4Addresses are two forms of one field and differ"},
		{"an address that is none", `spec: {` + name + `, ipv4: 999.0.2.1}`,
			"the address must be an IPv4 address such as 192.0.2.1"},
		{"an address with a leading zero", `spec: {` + name + `, ipv4Address: 192.0.2.01}`,
			"the address must be an IPv4 address"},
		{"an IPv6 address", `spec: {` + name + `, ipv4Addresses: ["::1"]}`,
			"the addresses must be IPv4 addresses such as 192.0.2.1"},
	})
	check(t, "AAAARecord", "default", []rule{
		{"forms that are written differently and say the same", `spec: {` + name +
			`, ipv6: "2001:db8::1", ipv6Address: "2001:DB8:0::1", ipv6Addresses: ["2001:0db8::0001"]}`, ""},
		{"no address", `spec: {` + name + `}`, "the record needs an address: set ipv6"},
		{"forms that differ", `spec: {` + name + `, ipv6: "2001:db8::1", ipv6Addresses: ["2001:db8::2"]}`,
			"ipv6 and ipv6Addresses are two forms of one field and differ"},
		{"an IPv4 address", `spec: {` + name + `, ipv6: 192.0.2.1}`,
			"the address must be an IPv6 address such as 2001:db8::1"},
		{"an address of an interface", `spec: {` + name + `, ipv6Addresses: ["fe80::1%eth0"]}`,
			"the addresses must be IPv6 addresses"},
	})
}

func TestBindyRulesOfEveryRecord(t *testing.T) {
	const ip = `ipv4: 192.0.2.1`
	check(t, "ARecord", "default", []rule{
		{"the zone's own name", `spec: {name: "@", ` + ip + `}`, ""},
		{"a wildcard", `spec: {name: "*", ` + ip + `}`, ""},
		{"a wildcard below, with underscores", `spec: {name: "*._tcp.a_b", ` + ip + `}`, ""},
		{"a fully qualified name", `spec: {name: www.example.com., zone: example.com., ` + ip + `}`, ""},
		{"nulls", `spec: {name: a, zone: null, zoneRef: null, ttl: null, ` + ip + `}`, ""},
		{"the limits of ttl", `spec: {name: a, ttl: 2147483647, zone: example.com, zoneRef: example-zone, ` + ip + `}`, ""},

		{"no name", `spec: {` + ip + `}`, "spec.name: Required value"},
		{"an empty name", `spec: {name: "", ` + ip + `}`, "spec.name in body should be at least 1 chars long"},
		{"a label that is too long", `spec: {name: ` + strings.Repeat("a", 64) + `, ` + ip + `}`,
			"a record's name is @ for the zone itself, or labels of at most 63"},
		{"a wildcard inside", `spec: {name: "a.*.b", ` + ip + `}`, "a record's name is @"},
		{"a control character", `spec: {name: "a\tb", ` + ip + `}`, "a record's name is @"},
		{"a second line", `spec: {name: "a\nb", ` + ip + `}`, "a record's name is @"},
		{"an empty label", `spec: {name: "a..b", ` + ip + `}`, "a record's name is @"},
		{"a zone that is no name", `spec: {name: a, zone: "a b", ` + ip + `}`, "a host name has at most 253 characters"},
		{"a ttl beyond RFC 2181", `spec: {name: a, ttl: 2147483648, ` + ip + `}`,
			"spec.ttl in body should be less than or equal to 2147483647"},
		{"a ttl in quotes", `spec: {name: a, ttl: "60", ` + ip + `}`, "spec.ttl"},
	})
}

func TestBindyRulesOfOtherRecords(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		rules []rule
	}{
		{"CNAMERecord", []rule{
			{"underscores in a target", `spec: {name: a, target: _x._domainkey.example.com.}`, ""},
			{"a relative target", `spec: {name: a, target: www}`, "the name must be fully qualified: end it with a dot"},
			{"a target that is no name", `spec: {name: a, target: "a b."}`,
				"a name has labels of at most 63 letters, digits, underscores, hyphens and slashes"},
			{"a target in a classless reverse zone", `spec: {name: "1", target: 1.0/26.2.0.192.in-addr.arpa.}`, ""},
			{"a name in a classless reverse zone", `spec: {name: 1.0/26, target: a.}`, ""},
			{"a slash at the end of a label", `spec: {name: 0/, target: a.}`, "a record's name is @"},
			{"a target with a label that is too long", `spec: {name: a, target: ` + strings.Repeat("a", 64) + `.}`,
				"a name has labels of at most 63"},
			{"the zone's own name", `spec: {name: "@", target: a.}`, "a CNAME cannot be at the zone's own name"},
			{"no target", `spec: {name: a}`, "spec.target: Required value"},
		}},
		{"TXTRecord", []rule{
			{"strings that are empty, long, quoted and in Unicode", `spec: {name: a, text: ["", "` + strings.Repeat("x", 4000) +
				`", 'a "b"; c\d', "ü"]}`, ""},
			{"no text", `spec: {name: a, text: []}`, "spec.text in body should have at least 1 items"},
			{"text that is a string", `spec: {name: a, text: x}`, "spec.text"},
			{"a second line", `spec: {name: a, text: ["a\nb"]}`, "spec.text[0]"},
			{"a zero octet", `spec: {name: a, text: ["a\0b"]}`, "spec.text[0]"},
		}},
		{"MXRecord", []rule{
			{"no mail is taken", `spec: {name: "@", priority: 0, mailServer: .}`, ""},
			{"a priority beyond u16", `spec: {name: a, priority: 65536, mailServer: b.}`,
				"spec.priority in body should be less than or equal to 65535"},
			{"no priority", `spec: {name: a, mailServer: b.}`, "spec.priority: Required value"},
			{"a relative mail server", `spec: {name: a, priority: 1, mailServer: b}`,
				"the name must be fully qualified: end it with a dot"},
		}},
		{"NSRecord", []rule{
			{"a relative name server", `spec: {name: a, nameserver: ns1}`,
				"the name must be fully qualified: end it with a dot"},
			{"no name server", `spec: {name: a}`, "spec.nameserver: Required value"},
		}},
		{"SRVRecord", []rule{
			{"there is no such service", `spec: {name: _a._tcp, priority: 0, weight: 0, port: 0, target: .}`, ""},
			{"a port beyond u16", `spec: {name: _a._tcp, priority: 0, weight: 0, port: 65536, target: a.}`,
				"spec.port in body should be less than or equal to 65535"},
			{"a weight below zero", `spec: {name: _a._tcp, priority: 0, weight: -1, port: 1, target: a.}`,
				"spec.weight in body should be greater than or equal to 0"},
			{"no target", `spec: {name: _a._tcp, priority: 0, weight: 0, port: 0}`, "spec.target: Required value"},
		}},
		{"CAARecord", []rule{
			{"a critical tag of others", `spec: {name: a, flags: 128, tag: contactemail, value: "mailto:a@b"}`, ""},
			{"nobody may issue", `spec: {name: a, flags: 0, tag: issue, value: ;}`, ""},
			{"flags beyond an octet", `spec: {name: a, flags: 256, tag: issue, value: a}`,
				"spec.flags in body should be less than or equal to 255"},
			{"a tag with a space", `spec: {name: a, flags: 0, tag: "a b", value: a}`, "spec.tag"},
			{"a value of two lines", `spec: {name: a, flags: 0, tag: issue, value: "a\nb"}`, "spec.value"},
		}},
		{"PTRRecord", []rule{
			{"an address backwards", `spec: {zone: 2.0.192.in-addr.arpa, name: "1", target: www.example.com.}`, ""},
			{"the whole of an IPv6 address",
				`spec: {name: 1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa., target: www.example.com.}`,
				""},
			{"a relative target", `spec: {name: a, target: www}`, "the name must be fully qualified: end it with a dot"},
			{"a target that is an address", `spec: {name: a, target: "2001:db8::1."}`, "a name has labels of at most 63"},
			{"a name without quotes", `spec: {name: 1, target: www.example.com.}`, "spec.name"},
			{"no target", `spec: {name: a}`, "spec.target: Required value"},
		}},
	} {
		t.Run(tt.kind, func(t *testing.T) { check(t, tt.kind, "default", tt.rules) })
	}
}
