package admission

import (
	"fmt"
	"strings"
	"testing"
)

const soa = `soa: {primaryNameServer: ns1.example.net, adminEmail: admin.example.net, ttl: 3600}`

func bindyZone(name, spec string) string {
	return fmt.Sprintf("{kind: DNSZone, metadata: {namespace: ~-a, name: %s}, spec: {zoneName: ~.org, %s, %s}}", name, soa,
		spec)
}

func bindyRecord(kind, name, spec string) string {
	return fmt.Sprintf("{kind: %s, metadata: {namespace: ~-a, name: %s}, spec: {%s}}", kind, name, spec)
}

func bindySentences() []sentence {
	org := bindyZone("org", "recordsFrom: [{selector: {matchLabels: {zone: ~}}}]")
	a := bindyRecord("ARecord", "www", "zone: ~.org, name: www, ipv4: 192.0.2.1")
	return []sentence{
		{"a zone without servers hears of it", nil, org, "",
			[]string{"~.org. belongs to DNSZone ~-a/org.", "not served: DNSZone ~-a/org names no servers; set clusterRef"}},
		{"a zone of a cluster that is not there hears of it", nil, bindyZone("org", "clusterRef: none"), "",
			[]string{"~.org. belongs to", "not served: No Bind9Instance of namespace ~-a belongs to none"}},
		{"a zone with the name of an address is refused", nil,
			"{kind: DNSZone, metadata: {namespace: ~-a, name: org}, spec: {zoneName: 192.0.2.1, " + soa + "}}",
			"a zone's name is no address", nil},
		{"a record goes to the zone that it names", []string{org}, a, "", []string{"www.~.org. goes to DNSZone ~-a/org."}},
		{"a record goes to the zone that selects it", []string{org},
			"{kind: TXTRecord, metadata: {namespace: ~-a, name: t, labels: {zone: ~}}, spec: {name: t, text: [hello]}}", "",
			[]string{"t.~.org. goes to DNSZone ~-a/org."}},
		{"a record of which the labels alone change hears where it goes",
			[]string{org, bindyRecord("TXTRecord", "t", "name: t, text: [hello]")},
			"{kind: TXTRecord, metadata: {namespace: ~-a, name: t, labels: {zone: ~}}, spec: {name: t, text: [hello]}}", "",
			[]string{"t.~.org. goes to DNSZone ~-a/org."}},
		{"a record of a zone that is not there hears of it", nil, a, "", []string{
			"refused (ZoneNotFound): ARecord ~-a/www names the zone ~.org"}},
		{"a record that nobody selects hears of it", []string{org},
			bindyRecord("ARecord", "www", "name: www, ipv4: 192.0.2.1"), "",
			[]string{"refused (NotSelected): ARecord ~-a/www names no zone"}},
		{"an alias beside an address hears of it", []string{org, a}, bindyRecord("CNAMERecord", "www",
			"zone: ~.org, name: www, target: example.net."), "",
			[]string{"refused (Conflict): CNAMERecord ~-a/www asks for a CNAME at www.~.org., where ARecord ~-a/www"}},
		{"data that cannot be read is refused", []string{org},
			bindyRecord("CAARecord", "caa", `zone: ~.org, name: "@", flags: 0, tag: "iss ue", value: ca.example.net`),
			"tag", nil},
		{"a name that is none is refused", []string{org}, bindyRecord("ARecord", "www",
			"zone: ~.org, name: a..b, ipv4: 192.0.2.1"), "name", nil},
		{"an instance of a cluster that is not there hears of it", nil,
			"{kind: Bind9Instance, metadata: {namespace: ~-a, name: one}, spec: {role: Primary, clusterRef: none}}", "",
			[]string{"refused (ClusterNotFound): Neither Bind9Cluster ~-a/none nor ClusterBind9Provider none exists"}},
		{"an instance whose volumes contradict each other is refused", nil,
			"{kind: Bind9Instance, metadata: {namespace: ~-a, name: one}, spec: {role: Primary, replicas: 0, volumeMounts: " +
				"[{name: none, mountPath: /x}]}}",
			"Bind9Instance ~-a/one cannot be carried out: spec.volumeMounts[0] (none) cannot be used", nil},
		{"a cluster whose configuration cannot be written is refused", nil,
			`{kind: Bind9Cluster, metadata: {namespace: ~-a, name: c}, spec: {primaryReplicas: 0, global: {allowQuery: [friends]}}}`, "Bind9Cluster ~-a/c cannot be carried out", nil},
		{"a cluster whose lists name each other many times is refused", nil,
			`{kind: Bind9Cluster, metadata: {namespace: ~-a, name: c}, spec: {primaryReplicas: 0, global: {allowQuery: [a]}, acls: {
				a: [` + strings.Repeat("b, ", 63) + `b], b: [` + strings.Repeat("c, ", 63) + `c], c: [` + strings.Repeat("d, ", 63) + `d], d: [` + strings.Repeat("192.0.2.1, ", 63) + `192.0.2.1]}}}`,
			"more than 1024 elements together", nil},
		{"an instance that resolves for everybody hears of it", nil,
			"{kind: Bind9Instance, metadata: {namespace: ~-a, name: one}, spec: {role: Primary, replicas: 0, config: " +
				"{recursion: true, allowQuery: [any]}}}", "",
			[]string{"note (OpenResolver): Bind9Instance ~-a/one resolves names of other servers"}},
		{"a cluster whose servers would not see their clients hears of it", nil,
			"{kind: Bind9Cluster, metadata: {namespace: ~-a, name: c}, spec: {primaryReplicas: 1, primary: {service: {spec: " +
				"{type: NodePort}}}}}", "",
			[]string{"note (ClientsHidden): Each primary of Bind9Cluster ~-a/c has a Service of type NodePort"}},
		{"a cluster whose servers would have a volume of the node is refused", nil,
			`{kind: Bind9Cluster, metadata: {namespace: ~-a, name: c}, spec: {primaryReplicas: 1, volumes: [{name: host, hostPath: {path: /}}]}}`,
			"Bind9Cluster ~-a/c cannot be carried out: spec.volumes[0] (host)", nil},
		{"a provider whose Service would have a number twice is refused", nil,
			`{kind: ClusterBind9Provider, metadata: {name: ~}, spec: {namespaces: [~-a], primaryReplicas: 1, global: {bindcarConfig: {serviceSpec: {ports: [{name: a, port: 99}, {name: b, port: 99}]}}}}}`,
			"the ports a (99) and b (99) have the same name or number", nil},
		{"a provider likewise is refused", nil,
			`{kind: ClusterBind9Provider, metadata: {name: ~}, spec: {namespaces: [~-a], primaryReplicas: 0, global: {allowQuery: [friends]}}}`, "ClusterBind9Provider ~ cannot be carried out", nil},
	}
}

func backendOf(spec string) string {
	return "{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: ~}, spec: {" + spec + "}}"
}

func backendSentences() []sentence {
	org := zoneOf("a", "org", `domainName: "~.org."`)
	tsig := `rfc2136: {servers: ["127.0.0.1:1"], tsig: {keyName: %s, secretRef: {name: ~}}}`
	return []sentence{
		{"a Backend that can be used", nil, backendOf(`rfc2136: {servers: ["127.0.0.1:1"]}`), "", nil},
		{"a Backend without its Secret hears of it", nil, backendOf(fmt.Sprintf(tsig, "k")), "", []string{
			"not usable (SecretNotFound): Secret zonefold-system/~ cannot be read"}},
		{"a Backend with a key name that is none is refused", nil, backendOf(fmt.Sprintf(tsig, "a..b")),
			"Backend ~ cannot be used: The TSIG keyName is no domain name", nil},
		{"a Backend with a pattern that is none is refused", nil,
			backendOf(`rfc2136: {servers: ["127.0.0.1:1"]}, grants: [{namespaces: [~-a], zones: ["a..b."]}]`),
			"Backend ~: Grant 0 has a pattern that cannot be read", nil},
		{"a Backend says whose Zones it leaves without a grant", []string{org},
			backendOf(`rfc2136: {servers: ["127.0.0.1:1"]}, grants: [{namespaces: [~-b], zones: ["*.~.org."]}]`), "",
			[]string{"Backend ~ no longer grants accepted Zones, which will be refused (NotGranted): "}},
	}
}

func classOf(name, spec string) string {
	return fmt.Sprintf("{kind: DNSClass, metadata: {name: %s}, spec: {%s}}", name, spec)
}

func wanted(namespace, name, spec string) string {
	return fmt.Sprintf(
		"{kind: DNSRecord, metadata: {namespace: ~-%s, name: %s}, spec: {domain: ~.org, dnsClassRef: {name: ~}, %s}}",
		namespace, name, spec)
}

func homelabSentences() []sentence {
	class := classOf("~", `server: "http://127.0.0.1:1"`)
	www := "subdomain: www, type: A, values: [192.0.2.1]"
	secret := `server: "http://127.0.0.1:1", hmacAuth: {secretRef: {namespace: ~-a, name: s, key: k}}`
	return []sentence{
		{"a class", nil, class, "", nil},
		{"a class without its Secret hears of it", nil, classOf("~", secret), "",
			[]string{"not usable (SecretNotFound): DNSClass ~ names the Secret ~-a/s, which does not exist; create it."}},
		{"a class whose Secret lacks the key hears of it", []string{
			"{apiVersion: v1, kind: Secret, metadata: {namespace: ~-a, name: s}}"}, classOf("~", secret), "",
			[]string{
				"not usable (SecretNotFound): DNSClass ~ names the key k of the Secret ~-a/s, which is missing; add it."}},
		{"a class whose Secret ends in a line feed hears of it",
			[]string{
				`{apiVersion: v1, kind: Secret, metadata: {namespace: ~-a, name: s}, stringData: {k: "x-of-sixteen-or-more\n"}}`},
			classOf("~", secret), "",
			[]string{"note (SecretEndsInNewline): The key k of the Secret ~-a/s ends in a line feed"}},
		{"a class with two secrets is refused", nil,
			classOf("~", `server: "http://127.0.0.1:1", hmacAuth: {secret: x, secretRef: {namespace: a, name: s, key: k}}`),
			"either secretRef or secret", nil},
		{"a class with a secret and no hash function that there is is refused", nil,
			classOf("~", `server: "http://127.0.0.1:1", hmacAuth: {secret: x, algorithm: MD5}`),
			"algorithm", nil},
		{"a class without a URL is refused", nil, classOf("~", `server: "ftp://127.0.0.1"`), "server", nil},
		{"a class with a URL that cannot be is refused", nil, classOf("~", `server: "http://[::1"`),
			"DNSClass ~: the server \"http://[::1\" is not a URL", nil},
		{"a class with a pattern that is none is refused", nil,
			classOf("~", `server: "http://127.0.0.1:1", allowed: [{names: [a..b]}]`),
			"Item 0 of spec.allowed of DNSClass ~ allows nothing", nil},
		{"a class says whose records it turns away", []string{class, wanted("a", "www", www)},
			classOf("~", `server: "http://127.0.0.1:1", allowed: [{namespaces: [x]}]`), "", []string{
				"DNSClass ~ turns away 1 object of other namespaces."}},

		{"a record goes to its class", []string{class}, wanted("a", "www", www), "",
			[]string{"www.~.org. goes to DNSClass ~."}},
		{"a record of a class that does not exist is refused", nil, wanted("a", "www", www),
			"DNSRecord ~-a/www names the DNSClass ~, which does not exist; create it or correct dnsClassRef.", nil},
		{"a record that moves to a class that does not exist is refused", []string{class, wanted("a", "www", www)},
			"{kind: DNSRecord, metadata: {namespace: ~-a, name: www}, spec: {domain: ~.org, dnsClassRef: {name: ~-none}, " +
				www + "}}", "which does not exist", nil},
		{"a record of a name that an older one has hears of it", []string{class, wanted("a", "www", www)},
			wanted("b", "www", www), "",
			[]string{"refused (Conflict): DNSRecord ~-b/www asks for the A records at www.~.org. in DNSClass ~, which " +
				"belong to the older DNSRecord ~-a/www; remove one"}},
		{"a record of a name that the class does not allow hears of it",
			[]string{classOf("~", `server: "http://127.0.0.1:1", allowed: [{namespaces: [x]}]`)},
			wanted("a", "www", www), "", []string{"refused (NotDelegated)"}},
		{"an A record with an IPv6 address is refused", []string{class},
			wanted("a", "www", `subdomain: www, type: A, values: ["2001:db8::1"]`), "DNSRecord ~-a/www cannot be sent", nil},
		{"an alias of two names is refused", []string{class}, wanted("a", "www",
			"subdomain: www, type: CNAME, values: [a.example.net, b.example.net]"), "one value", nil},
		{"an MX record without a priority is refused", []string{class}, wanted("a", "www",
			"subdomain: www, type: MX, values: [a.example.net]"), "priority", nil},
		{"an SRV record without a port is refused", []string{class},
			wanted("a", "www", "subdomain: _x._tcp, type: SRV, values: [a.example.net], metadata: {priority: 1, weight: 1}"),
			"port", nil},
		{"a record without values is refused", []string{class}, wanted("a", "www", "subdomain: www, type: A, values: []"),
			"values", nil},
		{"a record of an invalid type is refused", []string{class}, wanted("a", "www",
			"subdomain: www, type: X, values: [a]"), "type", nil},
		{"a record with a domain that is none is refused", []string{class},
			"{kind: DNSRecord, metadata: {namespace: ~-a, name: www}, spec: {domain: a..b, dnsClassRef: {name: ~}, " + www +
				"}}", "domain", nil},
		{"a record with a subdomain that is none is refused", []string{class}, wanted("a", "www",
			"subdomain: a..b, type: A, values: [192.0.2.1]"), "subdomain", nil},
		{"a record beside an alias hears of it", []string{class, wanted("a", "www",
			"subdomain: www, type: CNAME, values: [a.example.net]")},
			wanted("a", "www2", www), "", []string{"refused (Conflict)"}},
	}
}

func TestEachSentenceOfOtherKinds(t *testing.T) {
	s := newStage(t)
	for _, c := range bindySentences() {
		t.Run(c.name, func(t *testing.T) { s.says(t, c, "bindy.firestoned.io/v1beta1") })
	}
	for _, c := range homelabSentences() {
		t.Run(c.name, func(t *testing.T) { s.says(t, c, "dns.homelab.mortenolsen.pro/v1alpha1") })
	}
	for _, c := range backendSentences() {
		t.Run(c.name, func(t *testing.T) { s.says(t, c, "kubi.zone/v1alpha1") })
	}
}
