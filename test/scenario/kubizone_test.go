package scenario

import (
	"strings"
	"testing"
)

// newKubizone starts a test with one BIND as the default Backend, and an operator.
func newKubizone(t *testing.T, args ...string) *scene {
	t.Helper()
	s := newStage(t)
	s.bind = s.startBIND()
	s.backend("bind", "default: true, foreign: Delete", s.bind)
	s.start(args...)
	return s
}

// anything is a delegation of every name to every namespace.
const anything = `[{records: [{pattern: "@"}, {pattern: "*"}], zones: ["*"]}]`

func TestTheDocumentsExamples(t *testing.T) {
	s := newKubizone(t)

	s.run("a standalone Zone, one by zoneRef that delegates on, and one by its full name are served", func(s *scene) {
		s.serve("example.org.", "subdomain.example.org.", "dev.subdomain.example.org.")
		s.apply(`
		zone a/example-org: {domainName: example.org., delegations: [{zones: ["subdomain.example.org."]}]}
		zone a/subdomain-example-org: {domainName: subdomain, zoneRef: {name: example-org}, delegations: [
		  {records: [{pattern: "*.@"}]}, {namespace: ~dev, zones: ["dev.@"]}, {namespace: ~staging, zones: ["staging.@"]}]}
		record a/www: {domainName: www.subdomain.example.org., type: A, rdata: 192.0.2.1}
		zone dev/dev: {domainName: dev.subdomain.example.org., delegations: [{records: [{pattern: "*.dev.subdomain.example.org."}]}]}
		record dev/api: {domainName: api.dev.subdomain.example.org., type: A, rdata: 192.0.2.2}
		zone dev/staging: {domainName: staging.subdomain.example.org., delegations: []}
		`)
		s.ready("zone a/example-org", "zone a/subdomain-example-org", "zone dev/dev", "record a/www", "record dev/api")
		s.refused("zone dev/staging", "NotDelegated", "staging.subdomain.example.org.")
		s.answers("www.subdomain.example.org. A", "192.0.2.1")
		s.answers("api.dev.subdomain.example.org. A", "192.0.2.2")
		s.fqdn("zone a/subdomain-example-org", "subdomain.example.org.")
		s.parent("zone a/subdomain-example-org", "a/example-org")
		s.parent("zone dev/dev", "a/subdomain-example-org")
		s.parent("record dev/api", "dev/dev")
		s.parent("zone a/example-org", "")
		s.parent("zone dev/staging", "")
	})

	s.run("a parent lists the name servers of its sub-zone, their addresses, and what the sub-zone refuses",
		func(s *scene) {
			s.serve("example.org.", "subdomain.example.org.")
			s.apply(`
		zone a/org: {domainName: example.org., delegations: [{zones: ["*.example.org."], records: [{pattern: "*.example.org."}]}]}
		zone a/sub: {domainName: subdomain.example.org., delegations: [{records: [{pattern: "@", types: [NS]}, {pattern: "ns*.@", types: [A]}]}]}
		record a/sub-ns1: {domainName: subdomain.example.org., type: NS, rdata: ns1.subdomain.example.org.}
		record a/sub-ns2: {domainName: subdomain.example.org., type: NS, rdata: ns2.subdomain.example.org.}
		record a/ns1: {domainName: ns1.subdomain.example.org., type: A, rdata: 192.0.2.1}
		record a/ns2: {domainName: ns2.subdomain.example.org., type: A, rdata: 192.0.2.2}
		record a/www: {domainName: www.subdomain.example.org., type: A, rdata: 192.0.2.3}
		record a/free: {domainName: www.example.org., type: A, ttl: 60, rdata: 192.0.2.4}
		`)
			s.entries("a/org",
				"subdomain.example.org. 360 NS ns1.subdomain.example.org.",
				"subdomain.example.org. 360 NS ns2.subdomain.example.org.",
				"ns1.subdomain.example.org. 360 A 192.0.2.1",
				"ns2.subdomain.example.org. 360 A 192.0.2.2",
				"www.subdomain.example.org. 360 A 192.0.2.3",
				"www.example.org. 60 A 192.0.2.4")
			s.entries("a/sub",
				"subdomain.example.org. 360 NS ns1.subdomain.example.org.",
				"subdomain.example.org. 360 NS ns2.subdomain.example.org.",
				"ns1.subdomain.example.org. 360 A 192.0.2.1",
				"ns2.subdomain.example.org. 360 A 192.0.2.2")
			s.parent("record a/www", "a/org")
			s.cond("record a/www", "Accepted", "True Accepted")
			s.cond("record a/www", "Served", "False Occluded", "subdomain.example.org.")
			s.cond("record a/www", "Ready", "False Occluded")
			s.ready("record a/free", "record a/ns1", "record a/sub-ns1")
			s.answers("ns2.subdomain.example.org. A", "192.0.2.2")
			s.answers("www.example.org. A", "192.0.2.4")
			s.agree("a/org")
			s.agree("a/sub")

			before := s.zone("a/org")
			s.apply(`record a/ns1: {domainName: ns1.subdomain.example.org., type: A, rdata: 192.0.2.9}`)
			s.answers("ns1.subdomain.example.org. A", "192.0.2.9")
			s.eventually("the parent's hash and serial", func() string {
				if after := s.zone("a/org"); after.Status.Hash == before.Status.Hash ||
					*after.Status.Serial <= *before.Status.Serial {
					return "they have not changed"
				}
				return ""
			})
			s.agree("a/org")
		})

	s.run("the SOA stands first and has what the spec says", func(s *scene) {
		s.serve("example.org.")
		s.apply(
			`zone a/org: {domainName: example.org., ttl: 100, refresh: 5000, retry: 600, expire: 700000, negativeResponseCache: 50, delegations: [{records: [{pattern: "@"}]}]}`)
		s.ready("zone a/org")
		z := s.entries("a/org")
		if got, want := entriesOf(z)[0],
			s.text("example.org. 100 SOA ns.example.org. hostmaster.example.org. "); !strings.HasPrefix(got, want) ||
			!strings.HasSuffix(got, " 5000 600 700000 50") {
			s.t.Errorf("the SOA is %q", got)
		}
		s.cond("zone a/org", "Warning", "True NoNameServers")
		s.apply(`
		record a/ns: {domainName: "@", zoneRef: {name: org}, type: NS, rdata: a.ns.example.net.}
		zone a/org: {domainName: example.org., rname: first\.last.example.org., delegations: [{records: [{pattern: "@"}]}]}
		`)
		s.eventually("the SOA", func() string {
			if got := entriesOf(s.zone("a/org"))[0]; !strings.Contains(got,
				s.text(` 360 SOA a.ns.example.net. first\.last.example.org. `)) {
				return got
			}
			return ""
		})
		s.agree("a/org")
	})
}

func TestTheBehavioursOfTheExistingOperator(t *testing.T) {
	s := newKubizone(t)

	s.run("a record that is allowed gets the label and an entry", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*"}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record a/www", "zone a/org")
		s.parent("record a/www", "a/org")
		s.fqdn("zone a/org", "example.org.")
		s.entries("a/org", "www.example.org. 360 A 192.0.2.1")
		s.answers("www.example.org. A", "192.0.2.1")

		s.step("and loses the label when the Zone goes, but not its name", func() {
			s.remove("zone a/org")
			s.refused("record a/www", "NoZone")
			s.parent("record a/www", "")
			s.fqdn("record a/www", "www.example.org.")
			s.answers("www.example.org. A")
			s.gone("zone a/org")
		})
	})

	s.run("a delegation that is withdrawn takes entry, label and answer away, and back when it returns", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*"}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.answers("www.example.org. A", "192.0.2.1")
		s.apply(`zone a/org: {domainName: example.org., delegations: []}`)
		s.refused("record a/www", "NotDelegated")
		s.parent("record a/www", "")
		s.entries("a/org")
		s.answers("www.example.org. A")
		s.apply(`zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*"}]}]}`)
		s.ready("record a/www")
		s.answers("www.example.org. A", "192.0.2.1")
	})

	s.run("a zone that delegates to another namespace alone adopts nothing of its own", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone local/org: {domainName: example.org., delegations: [{namespaces: [~foreign], records: [{pattern: "*"}]}]}
		record local/www: {domainName: local.example.org., type: A, rdata: 192.0.2.1}
		record foreign/www: {domainName: foreign.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.refused("record local/www", "NotDelegated", "~local")
		s.fqdn("record local/www", "local.example.org.")
		s.parent("record local/www", "")
		s.ready("record foreign/www")
		s.parent("record foreign/www", "local/org")
		s.entries("local/org", "foreign.example.org. 360 A 192.0.2.2")
		s.answers("foreign.example.org. A", "192.0.2.2")
		s.answers("local.example.org. A")
	})

	s.run("names are split between namespaces", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone dns/org: {domainName: example.org., delegations: [
		  {namespace: ~dev, records: [{pattern: "*.dev"}]}, {namespace: ~prod, records: [{pattern: "*"}]}]}
		record prod/good: {domainName: good.example.org., type: A, rdata: 192.0.2.1}
		record dev/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.2}
		record dev/good: {domainName: good.dev.example.org., type: A, rdata: 192.0.2.3}
		`)
		s.ready("record prod/good", "record dev/good")
		s.refused("record dev/bad", "NotDelegated")
		s.answers("good.example.org. A", "192.0.2.1")
		s.answers("good.dev.example.org. A", "192.0.2.3")
		s.answers("bad.example.org. A")
	})

	s.run("a delegation of one name and type allows nothing else", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: good, types: [A]}]}]}
		record a/good: {domainName: good.example.org., type: A, rdata: 192.0.2.1}
		record a/bad: {domainName: bad.example.org., type: A, rdata: 192.0.2.2}
		record a/six: {domainName: good.example.org., type: AAAA, rdata: "2001:db8::1"}
		`)
		s.ready("record a/good")
		s.refused("record a/bad", "NotDelegated")
		s.refused("record a/six", "NotDelegated", "AAAA")
		s.entries("a/org", "good.example.org. 360 A 192.0.2.1")
		s.answers("good.example.org. A", "192.0.2.1")
		s.answers("good.example.org. AAAA")
		s.remove("record a/good")
		s.entries("a/org")
		s.answers("good.example.org. A")
	})

	s.run("the zone with the longest name that allows a record has it", func(s *scene) {
		s.serve("example.org.", "sub.example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{zones: [sub], records: [{pattern: "*"}]}]}
		zone a/sub: {domainName: sub.example.org., delegations: [{records: [{pattern: "*"}]}]}
		record a/good: {domainName: good.sub.sub.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record a/good")
		s.parent("record a/good", "a/sub")
		s.entries("a/sub", "good.sub.sub.example.org. 360 A 192.0.2.1")
		s.entries("a/org")
		s.answers("good.sub.sub.example.org. A", "192.0.2.1")
	})

	s.run("a record that the sub-zone refuses is the parent's", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{zones: ["*"], records: [{pattern: "*"}]}]}
		zone a/sub: {domainName: sub.example.org., delegations: [{records: [{pattern: "@", types: [MX]}]}]}
		record a/a: {domainName: sub.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record a/a")
		s.parent("record a/a", "a/org")
		s.answers("sub.example.org. A", "192.0.2.1")
		s.cond("zone a/sub", "Served", "False NoSuchZone", "sub.example.org.")
		s.cond("zone a/sub", "Accepted", "True Accepted")
	})
}
