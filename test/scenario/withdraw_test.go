package scenario

import (
	"fmt"
	"slices"
	"testing"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

func TestRejectedRecords(t *testing.T) {
	s := newKubizone(t, "--max-set-size=200")

	s.run("a set that is larger than the server takes is refused, and the others are served", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		for i := range 150 {
			s.apply(fmt.Sprintf(`record a/many-%d: {domainName: many.example.org., type: A, rdata: 198.51.100.%d}`, i, i))
		}
		s.apply(`record a/last: {domainName: last.example.org., type: A, rdata: 192.0.2.3}`)
		s.ready("record a/last", "record a/www", "zone a/org")
		s.answers("last.example.org. A", "192.0.2.3")
		s.cond("record a/many-149", "Accepted", "True Accepted")
		s.cond("record a/many-149", "Served", "False Rejected", "many.example.org. A", "SERVFAIL")
		s.cond("record a/many-0", "Served", "False Rejected")
		for i := 60; i < 150; i++ {
			s.remove(fmt.Sprintf("record a/many-%d", i))
		}
		s.ready("record a/many-0", "record a/many-59")
		s.agree("a/org")
	})

	s.run("what the server refuses is told in its words, and goes when it is corrected", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/bad: {domainName: _under.example.org., type: A, rdata: 192.0.2.1}
		record a/good: {domainName: good.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.ready("record a/good")
		s.answers("good.example.org. A", "192.0.2.2")
		s.cond("record a/bad", "Served", "False Rejected", "REFUSED")
		s.answers("_under.example.org. A")
		s.apply(`record a/bad: {domainName: under.example.org., type: A, rdata: 192.0.2.1}`)
		s.ready("record a/bad")
		s.answers("under.example.org. A", "192.0.2.1")
		s.agree("a/org")
	})

	s.run("a mail server without an address is tried again when the address comes", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/mx: {domainName: example.org., type: MX, rdata: 10 mail.example.org.}
		record a/srv: {domainName: _x._tcp.example.org., type: SRV, rdata: 0 0 80 mail.example.org.}
		`)
		s.cond("record a/mx", "Served", "False Rejected", "MX")
		s.apply(`record a/mail: {domainName: mail.example.org., type: A, rdata: 192.0.2.25}`)
		s.answers("example.org. MX", "10 mail.example.org.")
		s.ready("record a/mx", "record a/srv", "record a/mail")
		s.agree("a/org")
	})

	s.run("a set that no Record asks for is told by the Zone that has it, which stays ready", func(s *scene) {
		s.serve("example.org.", "sub.example.org.", "2.0.192.in-addr.arpa.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		zone a/sub: {domainName: sub.example.org., delegations: ` + anything + `}
		zone a/reverse: {domainName: 2.0.192.in-addr.arpa., reverse: {}}
		record a/apex: {domainName: example.org., type: NS, rdata: ns.example.net.}
		record a/ns: {domainName: sub.example.org., type: NS, rdata: ns_1.sub.example.org.}
		record a/glue: {domainName: ns_1.sub.example.org., type: A, rdata: 192.0.2.53}
		`)
		s.cond("zone a/org", "Warning", "True Rejected", "bind does not take sub.example.org. NS: ",
			"bind does not take ns_1.sub.example.org. A: ")
		s.cond("zone a/reverse", "Warning", "True Rejected", "bind does not take 53.2.0.192.in-addr.arpa. PTR: ")
		s.ready("zone a/org", "zone a/reverse")
		s.apply(`
		record a/ns: {domainName: sub.example.org., type: NS, rdata: ns1.sub.example.org.}
		record a/glue: {domainName: ns1.sub.example.org., type: A, rdata: 192.0.2.53}
		`)
		s.answers("53.2.0.192.in-addr.arpa. PTR", "ns1.sub.example.org.")
		s.eventually("the warning goes", func() string {
			if c := find(conditionsOf(s.get("zone a/org")), "Warning"); c != nil {
				return c.Message
			}
			return ""
		})
		s.agree("a/org")
	})
}

func TestWithdrawal(t *testing.T) {
	s := newStage(t)
	s.start()
	s.sideBySide()

	s.run("a Zone that is deleted while its server is down says why it stays, and goes when the server is back",
		func(s *scene) {
			s.bind = s.startBIND("example.org.")
			s.backend("b", "", s.bind)
			s.apply(www("b"))
			s.ready("zone a/org", "record a/www")
			if f := s.zone("a/org").Finalizers; !slices.Equal(f, []string{kubizone.Finalizer}) {
				s.t.Errorf("the finalizers are %q", f)
			}
			s.bind.Kill()
			s.remove("zone a/org")
			s.cond("zone a/org", "Accepted", "False Withdrawing", "~b", s.bind.Addr())
			s.cond("zone a/org", "Ready", "False Withdrawing")
			s.refused("record a/www", "NoZone")
			if err := s.bind.Start(s.ctx); err != nil {
				s.t.Fatal(err)
			}
			s.gone("zone a/org")
			s.answers("www.example.org. A")
		})

	s.run("a finalizer that somebody removes does no harm", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		s.backend("b", "", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		for range 10 { // the status that is written meanwhile must not keep it from coming back
			s.merge("zone a/org", `{"metadata":{"finalizers":null}}`)
			s.eventually("the finalizer", func() string {
				if f := s.zone("a/org").Finalizers; len(f) != 1 {
					return fmt.Sprintf("there are %q", f)
				}
				return ""
			})
		}
		s.answers("www.example.org. A", "192.0.2.1")
		s.bind.Kill()
		s.remove("zone a/org")
		s.cond("zone a/org", "Accepted", "False Withdrawing")
		s.merge("zone a/org", `{"metadata":{"finalizers":null}}`)
		s.gone("zone a/org")
		if err := s.bind.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.apply(www("b") + `record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.2}`)
		s.ready("zone a/org", "record a/www", "record a/new")
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("new.example.org. A", "192.0.2.2")
		s.agree("a/org")
	})

	s.run("a Zone that is refused is withdrawn and has no entries", func(s *scene) {
		s.bind = s.startBIND("example.org.", "sub.example.org.")
		s.backend("b", "", s.bind)
		s.apply(www("b") + `
		zone b/sub: {domainName: sub.example.org., backendRefs: [{name: ~b}], delegations: ` + anything + `}
		record b/www: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.ready("zone b/sub", "record b/www")
		serial := *s.zone("b/sub").Status.Serial
		s.apply(
			`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{records: [{pattern: "*"}]}]}`)
		s.refused("zone b/sub", "NotDelegated")
		s.noEntries("b/sub")
		s.answers("www.sub.example.org. A")
		s.ready("record b/www")
		s.parent("record b/www", "a/org")
		s.eventually("the finalizer", func() string {
			if z := s.zone("b/sub"); len(z.Finalizers) != 0 || len(z.Status.Backends) != 0 {
				return fmt.Sprintf("there are %q and the Backends %v", z.Finalizers, z.Status.Backends)
			}
			return ""
		})
		s.apply(www("b"))
		s.ready("zone b/sub", "record b/www")
		s.answers("www.sub.example.org. A", "192.0.2.2")
		if now := *s.zone("b/sub").Status.Serial; now <= serial {
			s.t.Errorf("the serial went from %d to %d", serial, now)
		}
		s.agree("b/sub")
	})

	s.run("an object of the same name that comes at once begins anew", func(s *scene) {
		s.bind = s.startBIND("example.org.", "example.com.")
		s.backend("b", "", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.remove("zone a/org", "record a/www")
		s.gone("zone a/org")
		s.apply(`
		zone a/org: {domainName: example.com., backendRefs: [{name: ~b}], delegations: ` + anything + `}
		record a/www: {domainName: www.example.com., type: A, rdata: 192.0.2.2}
		`)
		s.ready("zone a/org", "record a/www")
		s.answers("www.example.com. A", "192.0.2.2")
		s.answers("www.example.org. A")
		s.agree("a/org")
	})
}

func TestWhereGrantsAreRequiredNobodyHasARootWithoutOne(t *testing.T) {
	s := newKubizone(t, "--require-grants")
	s.serve("org.", "example.org.")
	s.apply("zone a/org: {domainName: example.org., delegations: " + anything + "}")
	s.refused("zone a/org", "NotGranted", "namespaces: [~a] and zones: [\"example.org.\"]")
	s.cond("backend bind", "Restricted", "True GrantsRequired")
	s.backend("bind", "default: true, foreign: Delete, grants: [{namespaces: [~a], zones: [example.org.]}]", s.bind)
	s.ready("zone a/org")
	s.cond("backend bind", "Restricted", "True Granted", "~a")
}

func TestGrants(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.", "sub.example.org.", "other.org.")
	s.start()
	grant := func(grants string) { s.t.Helper(); s.backend("b", "default: true, grants: "+grants, s.bind) }
	grant(`[{namespaces: [~a], zones: [example.org.]}]`)
	s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		zone b/sub: {domainName: sub.example.org., delegations: ` + anything + `}
		record b/sub: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.2}
		zone evil/tld: {domainName: org., delegations: ` + anything + `}
		zone evil/root: {domainName: ., delegations: ` + anything + `}
		zone evil/other: {domainName: other.org., delegations: ` + anything + `}
		record evil/www: {domainName: www.other.org., type: A, rdata: 192.0.2.66}
		record evil/taken: {domainName: www.example.org., type: A, rdata: 192.0.2.66}
	`)
	// Who delegates passes on what was granted; who has neither has nothing.
	s.ready("zone a/org", "record b/www", "zone b/sub", "record b/sub")
	s.parent("zone b/sub", "a/org")
	s.parent("zone a/org", "")
	for _, ref := range []string{"zone evil/tld", "zone evil/root", "zone evil/other"} {
		s.refused(ref, "NotGranted", "~evil")
	}
	s.refused("record evil/www", "NoZone")
	s.refused("record evil/taken", "NameHeld")
	s.answers("www.example.org. A", "192.0.2.1")
	s.answers("www.sub.example.org. A", "192.0.2.2")
	s.answers("www.other.org. A")

	s.step("one that appears lets a Zone in, by the label of its namespace, and one that goes takes it away", func() {
		grant(
			`[{namespaces: [~a], zones: [example.org.]}, {namespaceSelector: {matchLabels: {dns: "yes"}}, zones: ["*.org."]}]`)
		s.ready("zone a/org")
		s.refused("zone evil/other", "NotGranted")
		s.labelNamespace("evil", "dns", "yes")
		s.ready("zone evil/other", "record evil/www")
		s.answers("www.other.org. A", "192.0.2.66")
		s.refused("zone evil/tld", "NotGranted")
		s.labelNamespace("evil", "dns", "no")
		s.refused("zone evil/other", "NotGranted")
		s.answers("www.other.org. A")
		s.answers("www.example.org. A", "192.0.2.1")
	})

	s.step("without the grant of its root everything is withdrawn, and with it all is back", func() {
		grant(`[{namespaces: [nobody], zones: [example.org.]}]`)
		s.refused("zone a/org", "NotGranted")
		s.refused("zone b/sub", "NotGranted")
		s.refused("record b/www", "NoZone")
		s.answers("www.example.org. A")
		s.answers("www.sub.example.org. A")
		grant(`[{namespaces: [~a], zones: [example.org.]}]`)
		s.ready("zone a/org", "record b/www", "zone b/sub", "record b/sub")
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("www.sub.example.org. A", "192.0.2.2")
		s.agree("a/org")
	})

	s.step("a Backend without a grant for it does not serve a Zone", func() {
		other := s.startBIND("example.org.")
		s.backend("closed", "grants: [{namespaces: [~nobody], zones: [example.org.]}]", other)
		s.apply(`zone a/org: {domainName: example.org., backendRefs: [{name: ~closed}], delegations: ` + anything + `}`)
		s.cond("zone a/org", "Served", "False NoBackend")
		s.answersAt(other, "www.example.org. A")
		s.answers("www.example.org. A")
		s.apply(`zone a/org: {domainName: example.org., delegations: ` + anything + `}`)
		s.ready("zone a/org")
		s.answers("www.example.org. A", "192.0.2.1")
	})
}

// labelNamespace sets a label of a namespace.
func (s *scene) labelNamespace(namespace, label, value string) {
	s.t.Helper()
	s.kubectl("label", "namespace", s.prefix+namespace, "--overwrite", label+"="+value)
}
