package schema

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// rule is one thing that a schema decides. An object that is refused has a part of the API server's words.
type rule struct {
	name    string
	spec    string
	refused string
}

func check(t *testing.T, kind, namespace string, rules []rule) {
	a := connect(t, testcluster.ForTest(t))
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			_, err := a.create(namespace, object(t, kind, "rule", r.spec), metav1.DryRunAll)
			switch {
			case r.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case r.refused != "" && err == nil:
				t.Errorf("accepted; want it refused: %s", r.refused)
			case r.refused != "" && !strings.Contains(err.Error(), r.refused):
				t.Errorf("refused: %v\nwant: %s", err, r.refused)
			}
		})
	}
}

func TestRulesOfZones(t *testing.T) {
	check(t, "Zone", "default", []rule{
		{"a fully qualified name needs nothing else", `spec: {domainName: example.org.}`, ""},
		{"the delegations may be an empty list", `spec: {domainName: example.org., delegations: []}`, ""},
		{"the delegations may be null", `spec: {domainName: example.org., delegations: null}`, ""},
		{"the root", `spec: {domainName: .}`, ""},
		{"a name in Unicode", `spec: {domainName: bücher.example.}`, ""},
		{"a partial name with a zoneRef", `spec: {domainName: dev, zoneRef: {name: example}}`, ""},
		{"a zoneRef into another namespace", `spec: {domainName: dev, zoneRef: {name: example, namespace: other}}`, ""},
		{"a zoneRef whose namespace is null", `spec: {domainName: dev, zoneRef: {name: example, namespace: null}}`, ""},
		{"a zoneRef that is null is none", `spec: {domainName: example.org., zoneRef: null}`, ""},
		{"a status that is null", `{spec: {domainName: example.org.}, status: null}`, ""},
		{"numbers that are null take their defaults",
			`spec: {domainName: example.org., ttl: null, refresh: null, retry: null, expire: null, negativeResponseCache: null}`,
			""},
		{"a backslash before the last dot but one", `spec: {domainName: 'a\.b.'}`, ""},
		{"an escaped backslash before the last dot", `spec: {domainName: 'a\\.'}`, ""},

		{"PTR records below in-addr.arpa.", `spec: {domainName: 2.0.192.In-Addr.arpa., reverse: {from: ["*"]}}`, ""},
		{"PTR records below ip6.arpa.", `spec: {domainName: 8.b.d.0.1.0.0.2.ip6.arpa., reverse: {}}`, ""},
		{"PTR records of a block", `spec: {domainName: 0/25, zoneRef: {name: four}, reverse: {conflict: oldest}}`, ""},

		{"PTR records below another name", `spec: {domainName: in-addr.example.org., reverse: {}}`,
			"reverse is for the names of addresses, so domainName must be in-addr.arpa. or ip6.arpa., or end in one of the two"},
		{"PTR records below a name that only ends alike", `spec: {domainName: 'x\.in-addr.arpa.', reverse: {}}`,
			"reverse is for the names of addresses"},
		{"a conflict that nobody knows how to solve", `spec: {domainName: 10.in-addr.arpa., reverse: {conflict: all}}`,
			`supported values: "oldest"`},
		{"no spec", `{}`, "spec: Required value"},
		{"no domainName", `spec: {delegations: []}`, "spec.domainName: Required value"},
		{"an empty domainName", `spec: {domainName: ""}`, "spec.domainName in body should be at least 1 chars long"},
		{"a domainName longer than any name", `spec: {domainName: ` + strings.Repeat("a", 1024) + `.}`, "Too long"},
		{"a partial name without a zoneRef", `spec: {domainName: dev}`,
			"domainName is relative, so zoneRef must name the parent Zone; to make it fully qualified, end it with a dot"},
		{"a partial name whose zoneRef is null", `spec: {domainName: dev, zoneRef: null}`,
			"domainName is relative, so zoneRef must name the parent Zone"},
		{"an escaped last dot does not make a name fully qualified", `spec: {domainName: 'a\.'}`, "domainName is relative"},
		{"a fully qualified name with a zoneRef", `spec: {domainName: dev.example.org., zoneRef: {name: example}}`,
			"domainName is fully qualified, so zoneRef must be absent; to make it relative to zoneRef, remove the trailing dot"},
		{"a zoneRef without a name", `spec: {domainName: dev, zoneRef: {namespace: a}}`, "spec.zoneRef.name: Required value"},
		{"an unknown field of the spec", `spec: {domainName: example.org., delegation: []}`,
			`unknown field "spec.delegation"`},
	})
}

func TestNumbersOfZones(t *testing.T) {
	check(t, "Zone", "default", []rule{
		{"a ttl of 0", `spec: {domainName: a., ttl: 0}`, ""},
		{"the largest ttl", `spec: {domainName: a., ttl: 2147483647}`, ""},
		{"a negative response cache of 0", `spec: {domainName: a., negativeResponseCache: 0}`, ""},
		{"retry just under refresh", `spec: {domainName: a., refresh: 100, retry: 99}`, ""},
		{"expire just over refresh and retry", `spec: {domainName: a., refresh: 100, retry: 50, expire: 151}`, ""},

		{"a ttl beyond RFC 2181", `spec: {domainName: a., ttl: 2147483648}`,
			"spec.ttl in body should be less than or equal to 2147483647"},
		{"a ttl beyond u32", `spec: {domainName: a., ttl: 4294967296}`, "spec.ttl"},
		{"a ttl beyond int64", `spec: {domainName: a., ttl: 1.0e+30}`, "spec.ttl"},
		{"a ttl below zero", `spec: {domainName: a., ttl: -1}`, "spec.ttl in body should be greater than or equal to 0"},
		{"a ttl with a fraction", `spec: {domainName: a., ttl: 1.5}`, "spec.ttl"},
		{"a ttl in quotes", `spec: {domainName: a., ttl: "360"}`, "spec.ttl"},
		{"a refresh beyond RFC 2181", `spec: {domainName: a., refresh: 2147483648}`,
			"spec.refresh in body should be less than or equal to 2147483647"},
		{"a retry beyond RFC 2181", `spec: {domainName: a., retry: 2147483648}`,
			"spec.retry in body should be less than or equal to 2147483647"},
		{"an expire beyond RFC 2181", `spec: {domainName: a., expire: 2147483648}`,
			"spec.expire in body should be less than or equal to 2147483647"},
		{"a negative response cache beyond RFC 2181", `spec: {domainName: a., negativeResponseCache: 2147483648}`,
			"spec.negativeResponseCache in body should be less than or equal to 2147483647"},
		{"retry equal to refresh", `spec: {domainName: a., refresh: 100, retry: 100}`,
			"retry (default 7200) must be less than refresh (default 86400)"},
		{"refresh under the default of retry", `spec: {domainName: a., refresh: 3600}`,
			"retry (default 7200) must be less than refresh (default 86400)"},
		{"expire equal to refresh and retry together", `spec: {domainName: a., refresh: 100, retry: 50, expire: 150}`,
			"expire (default 3600000) must be greater than refresh (default 86400) and retry (default 7200) together"},
		{"refresh over the default of expire", `spec: {domainName: a., refresh: 3600000}`,
			"expire (default 3600000) must be greater"},
		{"the sum of refresh and retry does not overflow",
			`spec: {domainName: a., refresh: 2147483647, retry: 2147483646, expire: 2147483647}`,
			"expire (default 3600000) must be greater"},
	})
}

func TestRulesOfDelegations(t *testing.T) {
	check(t, "Zone", "default", []rule{
		{"an empty rule", `spec: {domainName: a., delegations: [{}]}`, ""},
		{"the document's namespace and the existing namespaces",
			`spec: {domainName: a., delegations: [{namespace: a, namespaces: [b, c], zones: ["*.@"]}]}`, ""},
		{"empty inner lists",
			`spec: {domainName: a., delegations: [{namespaces: [], zones: [], records: [{pattern: "@", types: []}]}]}`, ""},
		{"types in upper and lower case and by number",
			`spec: {domainName: a., delegations: [{records: [{pattern: "*", types: [A, txt, TYPE65280, type1]}]}]}`, ""},
		{"an unknown field is kept, to be refused with a reason",
			`spec: {domainName: a., delegations: [{namespce: a, records: [{pattern: "@", typs: [A]}]}]}`, ""},

		{"a rule that is a string", `spec: {domainName: a., delegations: ["*.@"]}`, "spec.delegations[0]"},
		{"a rule that is null", `spec: {domainName: a., delegations: [null]}`, "spec.delegations[0]"},
		{"a namespace that is a list", `spec: {domainName: a., delegations: [{namespace: [a]}]}`,
			"spec.delegations[0].namespace"},
		{"an empty namespace, which would be read as any", `spec: {domainName: a., delegations: [{namespace: ""}]}`,
			"spec.delegations[0].namespace in body should be at least 1 chars long"},
		{"an empty namespace in the list", `spec: {domainName: a., delegations: [{namespaces: [""]}]}`,
			"spec.delegations[0].namespaces[0]"},
		{"zones that are a string", `spec: {domainName: a., delegations: [{zones: "*.@"}]}`, "spec.delegations[0].zones"},
		{"an empty pattern of zones", `spec: {domainName: a., delegations: [{zones: [""]}]}`, "spec.delegations[0].zones[0]"},
		{"a record rule without a pattern", `spec: {domainName: a., delegations: [{records: [{types: [A]}]}]}`,
			"spec.delegations[0].records[0].pattern: Required value"},
		{"an empty pattern of records", `spec: {domainName: a., delegations: [{records: [{pattern: ""}]}]}`,
			"spec.delegations[0].records[0].pattern"},
		{"types that are a string", `spec: {domainName: a., delegations: [{records: [{pattern: "@", types: A}]}]}`,
			"spec.delegations[0].records[0].types"},
		{"a type that does not exist", `spec: {domainName: a., delegations: [{records: [{pattern: "@", types: [AA]}]}]}`,
			"spec.delegations[0].records[0].types[0]"},
		{"a record rule that is a string", `spec: {domainName: a., delegations: [{records: ["@"]}]}`,
			"spec.delegations[0].records[0]"},
	})
}

func TestRulesOfWhatKubizoneZonesDidNotHave(t *testing.T) {
	check(t, "Zone", "default", []rule{
		{"names for the SOA", `spec: {domainName: a., mname: ns1.a., rname: 'first\.last.a.'}`, ""},
		{"references to Backends", `spec: {domainName: a., backendRefs: [{name: one}, {name: two}]}`, ""},
		{"a relative mname", `spec: {domainName: a., mname: ns1}`, "mname must be fully qualified: end it with a dot"},
		{"an mname whose last dot is escaped", `spec: {domainName: a., mname: 'ns1\.'}`, "mname must be fully qualified"},
		{"an rname that is a mail address", `spec: {domainName: a., rname: hostmaster@a}`,
			"rname must be fully qualified: end it with a dot, and write a dot instead of the @"},
		{"the same Backend twice", `spec: {domainName: a., backendRefs: [{name: one}, {name: one}]}`,
			"spec.backendRefs[1]: Duplicate value"},
		{"a reference without a name", `spec: {domainName: a., backendRefs: [{}]}`,
			"spec.backendRefs[0].name: Required value"},
	})
}

func TestRulesOfRecords(t *testing.T) {
	check(t, "Record", "default", []rule{
		{"a fully qualified name", `spec: {domainName: www.a., type: A, rdata: 192.0.2.1}`, ""},
		{"a partial name with a zoneRef", `spec: {domainName: www, zoneRef: {name: a}, type: A, rdata: 192.0.2.1}`, ""},
		{"the apex by a zoneRef", `spec: {domainName: "@", zoneRef: {name: a}, type: MX, rdata: 10 mail.a.}`, ""},
		{"a fully qualified name and a zoneRef",
			`spec: {domainName: www.a., zoneRef: {name: a, namespace: b}, type: A, rdata: 192.0.2.1}`, ""},
		{"a wildcard and an underscore", `spec: {domainName: "*._tcp.a.", type: TXT, rdata: '"x"'}`, ""},
		{"nulls where they are allowed",
			`{spec: {domainName: www.a., zoneRef: null, type: A, ttl: null, rdata: 192.0.2.1}, status: null}`, ""},
		{"a class that is null takes the default", `spec: {domainName: www.a., class: null, type: A, rdata: 192.0.2.1}`, ""},
		{"a class and a ttl", `spec: {domainName: www.a., class: CH, type: TXT, ttl: 0, rdata: x}`, ""},
		{"the largest ttl", `spec: {domainName: www.a., type: A, ttl: 2147483647, rdata: 192.0.2.1}`, ""},
		{"a type by number", `spec: {domainName: www.a., type: TYPE65280, rdata: '\# 1 00'}`, ""},
		{"the longest TXT, escaped", `spec: {domainName: www.a., type: TXT, rdata: "` + strings.Repeat(`\\000`, 65280) + `"}`,
			""},

		{"no type", `spec: {domainName: www.a., rdata: 192.0.2.1}`, "spec.type: Required value"},
		{"no rdata", `spec: {domainName: www.a., type: A}`, "spec.rdata: Required value"},
		{"no domainName", `spec: {type: A, rdata: 192.0.2.1}`, "spec.domainName: Required value"},
		{"empty rdata", `spec: {domainName: www.a., type: A, rdata: ""}`,
			"spec.rdata in body should be at least 1 chars long"},
		{"rdata longer than any", `spec: {domainName: www.a., type: TXT, rdata: ` + strings.Repeat("a", 262145) + `}`,
			"Too long"},
		{"a partial name without a zoneRef", `spec: {domainName: www, type: A, rdata: 192.0.2.1}`,
			"domainName is relative, so zoneRef must name the Zone; to make it fully qualified, end it with a dot"},
		{"a type that does not exist", `spec: {domainName: www.a., type: AA, rdata: 192.0.2.1}`,
			"spec.type in body should match"},
		{"a type in lower case", `spec: {domainName: www.a., type: a, rdata: 192.0.2.1}`, "spec.type in body should match"},
		{"a type by a number with six digits", `spec: {domainName: www.a., type: TYPE655350, rdata: '\# 0'}`,
			"spec.type in body should match"},
		{"a class that does not exist", `spec: {domainName: www.a., class: in, type: A, rdata: 192.0.2.1}`,
			`supported values: "IN", "CH", "HS"`},
		{"a ttl below zero", `spec: {domainName: www.a., type: A, ttl: -1, rdata: 192.0.2.1}`,
			"spec.ttl in body should be greater than or equal to 0"},
		{"a ttl beyond RFC 2181", `spec: {domainName: www.a., type: A, ttl: 2147483648, rdata: 192.0.2.1}`,
			"spec.ttl in body should be less than or equal to 2147483647"},
	})
}

func TestRulesOfBackends(t *testing.T) {
	const embedded = `embedded: {}`
	check(t, "Backend", "", []rule{
		{"the embedded server", `spec: {embedded: {}}`, ""},
		{"name servers with dynamic updates",
			`spec: {rfc2136: {servers: [192.0.2.1], tsig: {keyName: zonefold., secretRef: {name: key}}}}`, ""},
		{"PowerDNS", `spec: {powerdns: {url: "http://127.0.0.1:8081", secretRef: {name: key, namespace: dns, key: token}}}`,
			""},
		{"a Bind9Cluster", `spec: {bind9: {clusterRef: {name: a, namespace: b}}}`, ""},
		{"a DNSClass", `spec: {dnsClass: {name: a}}`, ""},
		{"a provider", `spec: {provider: {type: aws-route53, secretRef: {name: a}, region: eu-west-1, config: {a: b}}}`, ""},
		{"the policies", `spec: {embedded: {}, default: true, foreign: Delete, mode: Observe, auditInterval: 1h30m}`, ""},
		{"keys of updates, one of which is being replaced", `spec: {embedded: {update: [
			{keyName: a, secretRef: {name: a}, namespace: a}, {keyName: A., secretRef: {name: b}, namespace: a},
			{keyName: b, secretRef: {name: a}, namespace: b}]}}`, ""},
		{"a key of updates of two namespaces", `spec: {embedded: {update: [
			{keyName: a, secretRef: {name: a}, namespace: a}, {keyName: A., secretRef: {name: a}, namespace: b}]}}`,
			"a key stands for one namespace: give the entries of update for other namespaces keys with other names"},
		{"an audit every second", `spec: {embedded: {}, auditInterval: 1000ms}`, ""},

		{"no kind of server", `spec: {default: true}`,
			"a Backend is exactly one of embedded, rfc2136, powerdns, bind9, dnsClass and provider"},
		{"two kinds of server", `spec: {embedded: {}, dnsClass: {name: a}}`, "a Backend is exactly one of"},
		{"an unknown policy for foreign sets", `spec: {` + embedded + `, foreign: Drop}`,
			`supported values: "Keep", "Delete"`},
		{"an unknown mode", `spec: {` + embedded + `, mode: Dry}`, `supported values: "Sync", "Observe"`},
		{"an audit without a unit", `spec: {` + embedded + `, auditInterval: "60"}`,
			"spec.auditInterval in body should match"},
		{"an audit below a second", `spec: {` + embedded + `, auditInterval: 999ms}`, "auditInterval must be at least 1s"},
		{"an audit that no duration can hold", `spec: {` + embedded + `, auditInterval: 999999999999h}`,
			"spec.auditInterval"},
		{"no clusterRef", `spec: {bind9: {}}`, "spec.bind9.clusterRef: Required value"},
		{"a clusterRef without a namespace", `spec: {bind9: {clusterRef: {name: a}}}`,
			"spec.bind9.clusterRef.namespace: Required value"},
		{"a provider without a type", `spec: {provider: {}}`, "spec.provider.type: Required value"},
	})
}

func TestRulesOfServers(t *testing.T) {
	servers := func(list string) string { return `spec: {rfc2136: {servers: ` + list + `}}` }
	tsig := func(rest string) string { return `spec: {rfc2136: {servers: [a], tsig: {` + rest + `}}}` }
	pdns := func(rest string) string { return `spec: {powerdns: {secretRef: {name: a}, ` + rest + `}}` }
	check(t, "Backend", "", []rule{
		{"addresses and names, with and without ports",
			servers(
				`[192.0.2.1, "192.0.2.1:5353", ns1.example.org., "ns1.dns.svc:53", "[2001:db8::1]:53", "[2001:db8::1]", "2001:db8::1", "::1", "[fe80::1%eth0]:53"]`), ""},
		{"no server", servers(`[]`), "spec.rfc2136.servers in body should have at least 1 items"},
		{"seventeen servers", servers(`[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]`), "must have at most 16 items"},
		{"the same server twice", servers(`[a, a]`), "spec.rfc2136.servers[1]: Duplicate value"},
		{"an empty server", servers(`[""]`), "spec.rfc2136.servers[0]"},
		{"a URL as a server", servers(`["dns://ns1.example.org"]`), "spec.rfc2136.servers[0] in body should match"},
		{"a server with a space", servers(`["a b"]`), "spec.rfc2136.servers[0] in body should match"},
		{"a port that is no number", servers(`["a:dns"]`), "spec.rfc2136.servers[0] in body should match"},

		{"every algorithm has a name", tsig(`keyName: k, algorithm: hmac-sha512, secretRef: {name: a, namespace: b, key: c}`),
			""},
		{"an algorithm that is broken", tsig(`keyName: k, algorithm: hmac-md5, secretRef: {name: a}`),
			`supported values: "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"`},
		{"a key without a name", tsig(`secretRef: {name: a}`), "spec.rfc2136.tsig.keyName: Required value"},
		{"a key without a Secret", tsig(`keyName: k`), "spec.rfc2136.tsig.secretRef: Required value"},

		{"an address with a path", pdns(`url: "https://dns.example.org/pdns"`), ""},
		{"all about PowerDNS", pdns(
			`url: "https://[2001:db8::1]:8081/", serverID: a, zoneKind: Primary, caBundle: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"`), ""},
		{"no URL", pdns(`serverID: a`), "spec.powerdns.url: Required value"},
		{"a URL without a scheme", pdns(`url: "dns.example.org:8081"`), "spec.powerdns.url in body should match"},
		{"a URL with a password", pdns(`url: "http://a:b@dns.example.org"`), "spec.powerdns.url in body should match"},
		{"an unknown kind of zones", pdns(`url: "http://a", zoneKind: Slave`),
			`supported values: "Native", "Master", "Primary"`},
		{"certificates in base64", pdns(`url: "http://a", caBundle: LS0tLS1CRUdJTg==`),
			"caBundle must be certificates in PEM"},
		{"no API key", `spec: {powerdns: {url: "http://a"}}`, "spec.powerdns.secretRef: Required value"},
	})
}

func TestRulesOfGrants(t *testing.T) {
	grant := func(text string) string { return `spec: {embedded: {}, grants: [` + text + `]}` }
	check(t, "Backend", "", []rule{
		{"no grants at all", `spec: {embedded: {}, grants: []}`, ""},
		{"to namespaces by name", grant(`{namespaces: [a, b], zones: [example.org., "*.example.org."]}`), ""},
		{"to namespaces by label", grant(`{namespaceSelector: {matchLabels: {team: a}}, zones: [example.org.]}`), ""},
		{"to every namespace", grant(`{namespaceSelector: {}, zones: [example.org.]}`), ""},
		{"to nobody", grant(`{zones: [example.org.]}`),
			"a grant has either namespaces or a namespaceSelector (an empty one selects every namespace)"},
		{"to a misspelt field", grant(`{namespace: a, zones: [example.org.]}`), `unknown field "spec.grants[0].namespace"`},
		{"by name and by label", grant(`{namespaces: [a], namespaceSelector: {}, zones: [example.org.]}`),
			"a grant has either namespaces or a namespaceSelector"},
		{"to an empty list", grant(`{namespaces: [], zones: [example.org.]}`),
			"spec.grants[0].namespaces in body should have at least 1 items"},
		{"of no zones", grant(`{namespaces: [a], zones: []}`), "spec.grants[0].zones in body should have at least 1 items"},
		{"without zones", grant(`{namespaces: [a]}`), "spec.grants[0].zones: Required value"},
		{"of a relative name", grant(`{namespaces: [a], zones: [example.org]}`),
			"the zones of a grant are absolute: end each with a dot"},
		{"of the Zone's own name, which a Backend does not have", grant(`{namespaces: [a], zones: ["@"]}`),
			"the zones of a grant are absolute: end each with a dot"},
	})
}

func TestRulesOfZoneRevisions(t *testing.T) {
	check(t, "ZoneRevision", "default", []rule{
		{"a revision", `{spec: {zone: a, fqdn: a., time: "2026-01-01T00:00:00Z", serial: 4294967295, hash: x,
			delta: "+ a. 0 IN A 192.0.2.1", objects: [{kind: Record, namespace: default, name: a, manager: kubectl}]}}`, ""},
		{"a serial that is none", `{spec: {zone: a, fqdn: a., time: "2026-01-01T00:00:00Z", serial: 4294967296, hash: x}}`,
			"spec.serial in body should be less than or equal to 4294967295"},
		{"no hash", `{spec: {zone: a, fqdn: a., time: "2026-01-01T00:00:00Z", serial: 1}}`, "spec.hash: Required value"},
	})
}

func TestAZoneRevisionNeverChanges(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	u, err := a.create(a.namespace("revisions"), object(t, "ZoneRevision", "case",
		`spec: {zone: a, fqdn: a., time: "2026-01-01T00:00:00Z", serial: 7, hash: x, delta: "+ a. 0 IN A 192.0.2.1"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.patch(t.Context(), u, `{"spec":{"delta":"+ a. 0 IN A 192.0.2.66"}}`, "")
	if err == nil || !strings.Contains(err.Error(), "a ZoneRevision never changes") {
		t.Errorf("it is changed: %v", err)
	}
}

func TestRulesOfZoneSlices(t *testing.T) {
	check(t, "ZoneSlice", "default", []rule{
		{"a slice", `{zone: a, index: 0, entries: [{fqdn: a., type: A, class: IN, ttl: 0, rdata: 192.0.2.1}]}`, ""},
		{"a slice without entries", `{zone: a, index: 7}`, ""},
		{"no zone", `{index: 0}`, "zone: Required value"},
		{"no index", `{zone: a}`, "index: Required value"},
		{"an index below zero", `{zone: a, index: -1}`, "index in body should be greater than or equal to 0"},
		{"an entry without rdata", `{zone: a, index: 0, entries: [{fqdn: a., type: A, class: IN, ttl: 0}]}`,
			"entries[0].rdata: Required value"},
		{"an entry whose ttl is too large",
			`{zone: a, index: 0, entries: [{fqdn: a., type: A, class: IN, ttl: 2147483648, rdata: 192.0.2.1}]}`,
			"entries[0].ttl"},
	})
}
