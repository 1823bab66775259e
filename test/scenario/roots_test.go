package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// evil is what a namespace may try to get hold of names with.
const evil = `
		record evil/www: {domainName: www.example.org., type: A, rdata: 192.0.2.66}
		record evil/wildcard: {domainName: "*.example.org.", type: A, rdata: 192.0.2.66}
		record evil/free: {domainName: free.example.org., type: A, rdata: 192.0.2.66}
		record evil/apex: {domainName: example.org., type: NS, rdata: ns.evil.example.net.}
		record evil/cut: {domainName: sub.example.org., type: NS, rdata: ns.evil.example.net.}
		record evil/ds: {domainName: example.org., type: DS, rdata: 60485 8 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A}
		record evil/dname: {domainName: example.org., type: DNAME, rdata: evil.example.net.}
		record evil/pinned: {domainName: pinned, zoneRef: {name: org, namespace: ~a}, type: A, rdata: 192.0.2.66}
		zone evil/twin: {domainName: example.org., delegations: ` + anything + `}
		zone evil/below: {domainName: www.example.org., delegations: ` + anything + `}
		zone evil/wedge: {domainName: deep.sub.example.org., delegations: ` + anything + `}
		zone evil/ref: {domainName: ref, zoneRef: {name: org, namespace: ~a}, delegations: ` + anything + `}
`

// TestNamesOfOthersAreOutOfReach creates org. and the root, and names inside a zone of
// others, in a namespace that nobody has given anything to.
func TestNamesOfOthersAreOutOfReach(t *testing.T) {
	s := newKubizone(t)
	grants := func(grants string) {
		s.t.Helper()
		s.backend("bind", "default: true, foreign: Delete, auditInterval: 1s"+comma(grants), s.bind)
	}
	grants("")
	s.serve("org.", "example.org.", "sub.example.org.")
	s.apply(`
		zone a/org: {domainName: example.org., delegations: [{namespace: ~a, records: [{pattern: "@"}, {pattern: "*"}]}, {namespace: ~b, zones: [sub]}]}
		zone b/sub: {domainName: sub.example.org., delegations: [{namespace: ~b, records: [{pattern: "@"}, {pattern: "*"}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record b/ns: {domainName: sub.example.org., type: NS, rdata: ns.sub.example.org.}
		record b/glue: {domainName: ns.sub.example.org., type: A, rdata: 192.0.2.53}
		record b/www: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.2}
		record b/refused: {domainName: refused.example.org., type: A, rdata: 192.0.2.3}
	`)
	s.ready("zone b/sub", "record b/ns", "record b/glue", "record b/www")
	s.refused("record b/refused", "NotDelegated")
	s.unharmed("192.0.2.1")
	s.agree("b/sub")
	s.step("in an open cluster, nobody has a public suffix or the root", func() {
		s.cond("backend bind", "Restricted", "False NoGrants")
		s.apply(`
		zone evil/tld: {domainName: org., delegations: ` + anything + `}
		zone evil/root: {domainName: ., delegations: ` + anything + `}
		`)
		for _, ref := range []string{"zone evil/tld", "zone evil/root"} {
			s.refused(ref, "NotGranted", "~evil")
		}
		s.remove("zone evil/tld", "zone evil/root")
		grants(`grants: [{namespaceSelector: {}, zones: ["*."]}, {namespaces: [~evil], zones: [".", org.]}]`)
		s.cond("backend bind", "Restricted", "False EverythingGranted")
		s.ready("zone a/org", "zone b/sub")
	})
	s.pastSecond("zone a/org", "zone b/sub")
	before, served := s.versionsOf("a", "b"), s.transfers("example.org.", "sub.example.org.")
	same := func() {
		s.t.Helper()
		s.audited(4)
		if d := difference(before, s.versionsOf("a", "b")); d != "" {
			s.t.Errorf("objects of others changed:\n%s", d)
		}
		if d := difference(served, s.transfers("example.org.", "sub.example.org.")); d != "" {
			s.t.Errorf("zones of others changed:\n%s", d)
		}
		s.unharmed("192.0.2.1")
	}

	s.step("with grants for them, roots may be created, and get nothing", func() {
		s.apply(`zone evil/tld: {domainName: org., delegations: [{records: [{pattern: "@"}, {pattern: "*"}]}]}`)
		s.pastSecond("zone evil/tld")
		s.apply(`
		zone evil/root: {domainName: ., delegations: [{records: [{pattern: "@"}, {pattern: "*"}]}]}
		record evil/own: {domainName: own-example.org., type: A, rdata: 192.0.2.66}
		` + evil)
		s.ready("zone evil/tld", "record evil/own")
		s.cond("zone evil/root", "Accepted", "True Accepted")
		s.evilIsRefused("DuplicateZone") // its own org. would take it: who has example.org. is older
		same()
	})

	s.step("roots that delegate what is not theirs become parents by name, and get nothing", func() {
		s.apply(`
		zone evil/tld: {domainName: org., delegations: ` + anything + `}
		zone evil/root: {domainName: ., delegations: ` + anything + `}
		`)
		s.parent("zone a/org", "evil/tld") // who has it, and that it is served, stays
		s.evilIsRefused("DuplicateZone")
		s.ready("zone a/org", "zone b/sub")
		before = s.versionsOf("a", "b")
		same()
	})

	s.step("a restart keeps it so", func() { s.restartChangesNothing() })

	s.step("with grants, roots are refused", func() {
		grants("grants: [{namespaces: [~a], zones: [example.org.]}]")
		for _, ref := range []string{"zone evil/tld", "zone evil/root"} {
			s.refused(ref, "NotGranted", "~evil")
		}
		s.refused("record evil/own", "NoZone")
		s.parent("zone a/org", "")
		s.evilIsRefused("NotGranted")
		s.ready("zone a/org", "zone b/sub")
		before = s.versionsOf("a", "b")
		s.remove("zone evil/tld", "zone evil/root", "zone evil/twin")
		s.apply(`
		zone evil/tld: {domainName: org., delegations: ` + anything + `}
		zone evil/root: {domainName: ., delegations: ` + anything + `}
		zone evil/twin: {domainName: example.org., delegations: ` + anything + `}
		zone evil/other: {domainName: other-example.org., delegations: ` + anything + `}
		record evil/other: {domainName: www.other-example.org., type: A, rdata: 192.0.2.66}
		`)
		for _, ref := range []string{"zone evil/tld", "zone evil/root", "zone evil/other"} {
			s.refused(ref, "NotGranted", "~evil")
		}
		s.refused("record evil/other", "NoZone")
		s.evilIsRefused("NotGranted")
		same()
	})

	s.step("a restart keeps that so, too", func() { s.restartChangesNothing() })
}

// evilIsRefused waits until nothing of evil is accepted; twin is why its second example.org. is not.
func (s *scene) evilIsRefused(twin string) {
	s.t.Helper()
	for _, name := range []string{"www", "wildcard", "free", "apex", "cut", "ds", "dname", "pinned"} {
		s.refused("record evil/"+name, "NotDelegated", "namespace ~evil")
	}
	for _, name := range []string{"below", "wedge", "ref"} {
		s.refused("zone evil/"+name, "NotDelegated", "namespace ~evil")
	}
	s.refused("zone evil/twin", twin, "~evil")
}

// pastSecond waits until what is created from now on is younger: age counts in seconds.
func (s *scene) pastSecond(refs ...string) {
	s.t.Helper()
	for _, ref := range refs {
		created := s.get(ref).GetCreationTimestamp()
		s.eventually("the second after "+ref, func() string {
			if time.Now().Unix() > created.Unix() {
				return ""
			}
			return "it is still the same"
		})
	}
}

// versionsOf returns the resourceVersions of all objects in namespaces of the scene.
func (s *scene) versionsOf(namespaces ...string) string {
	s.t.Helper()
	var out []string
	for line := range strings.SplitSeq(s.allVersions(), "\n") {
		for _, ns := range namespaces {
			if strings.Contains(line, " "+s.prefix+ns+"/") {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}

// transfers returns what BIND has of zones, one record a line.
func (s *scene) transfers(zones ...string) string {
	s.t.Helper()
	var out []string
	for _, zone := range zones {
		sets, err := s.bind.Transfer(s.ctx, name(s.text(zone)))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, set := range sets {
			for _, data := range set.Data {
				out = append(out, fmt.Sprintf("%s %d %s %s", set.Name, set.TTL, set.Type, data))
			}
		}
	}
	return strings.Join(out, "\n")
}
