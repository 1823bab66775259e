package scenario

import (
	"fmt"
	"strings"
	"testing"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// www is a Zone with one record, delivered to the Backends named.
func www(backends ...string) string {
	refs := make([]string, 0, len(backends))
	for _, b := range backends {
		refs = append(refs, "{name: ~"+b+"}")
	}
	return `
		zone a/org: {domainName: example.org., backendRefs: [` + strings.Join(refs, ", ") + `], delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`
}

func TestBackends(t *testing.T) {
	s := newStage(t)
	credentials := s.prefix + "credentials"
	s.letReadSecrets(credentials)
	s.start("--credentials-namespaces=" + credentials)

	s.run("a Backend that comes after the Zones serves them, and what it has published stays when it goes",
		func(s *scene) {
			s.bind = s.startBIND("example.org.")
			s.apply(www("b"))
			s.cond("zone a/org", "Served", "False NoBackend", "example.org.")
			s.cond("record a/www", "Served", "False NoBackend")
			s.entries("a/org", "www.example.org. 360 A 192.0.2.1")
			s.backend("b", "", s.bind)
			s.ready("zone a/org", "record a/www", "backend b")
			s.answers("www.example.org. A", "192.0.2.1")
			s.agree("a/org")

			s.remove("backend b")
			s.cond("zone a/org", "Served", "False NoBackend")
			s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
			s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.3}`)
			s.entries("a/org", "new.example.org. 360 A 192.0.2.3", "www.example.org. 360 A 192.0.2.2")
			s.answers("www.example.org. A", "192.0.2.1")
			s.backend("b", "", s.bind)
			s.ready("zone a/org", "record a/www", "record a/new")
			s.answers("www.example.org. A", "192.0.2.2")
			s.answers("new.example.org. A", "192.0.2.3")
			s.agree("a/org")
		})

	s.run("a Zone goes to all default Backends if it names none", func(s *scene) {
		one, two := s.startBIND("example.org."), s.startBIND("example.org.")
		s.backend("one", "default: true", one)
		s.backend("two", "default: true", two)
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("zone a/org", "record a/www")
		s.answersAt(one, "www.example.org. A", "192.0.2.1")
		s.answersAt(two, "www.example.org. A", "192.0.2.1")
		if a, b := s.serial(one, "example.org."), s.serial(two, "example.org."); a != b {
			s.t.Errorf("the serials are %d and %d", a, b)
		}
		s.remove("zone a/org", "backend one", "backend two")
		s.gone("zone a/org")
	})

	s.run("a Backend that changes its server leaves the old one as it is", func(s *scene) {
		one, two := s.startBIND("example.org."), s.startBIND("example.org.")
		s.backend("b", "", one)
		s.apply(www("b"))
		s.answersAt(one, "www.example.org. A", "192.0.2.1")
		s.backend("b", "", two)
		s.answersAt(two, "www.example.org. A", "192.0.2.1")
		s.ready("zone a/org")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answersAt(two, "www.example.org. A", "192.0.2.2")
		s.ready("record a/www")
		s.answersAt(one, "www.example.org. A", "192.0.2.1")
	})

	s.run("a Zone that is sent elsewhere is withdrawn from where it was", func(s *scene) {
		one, two := s.startBIND("example.org."), s.startBIND("example.org.")
		s.backend("one", "", one)
		s.backend("two", "", two)
		s.apply(www("one"))
		s.answersAt(one, "www.example.org. A", "192.0.2.1")
		s.apply(www("two"))
		s.answersAt(two, "www.example.org. A", "192.0.2.1")
		s.answersAt(one, "www.example.org. A")
		s.ready("zone a/org", "record a/www")
		s.eventually("status.backends", func() string {
			if b := s.zone("a/org").Status.Backends; len(b) != 1 || b[0].Name != s.prefix+"two" || b[0].Serial == nil {
				return fmt.Sprint(b)
			}
			return ""
		})
	})

	s.run("two Backends on one server share it, and one leaves without a trace", func(s *scene) {
		bind := s.startBIND("example.org.")
		s.bind = bind
		s.backend("one", "", bind)
		s.backend("two", "", bind)
		s.apply(www("one", "two"))
		s.ready("zone a/org", "record a/www")
		s.agree("a/org")
		serial := s.serial(bind, "example.org.")
		s.apply(www("two"))
		s.eventually("status.backends", func() string {
			if b := s.zone("a/org").Status.Backends; len(b) != 1 {
				return fmt.Sprint(b)
			}
			return ""
		})
		s.ready("zone a/org", "record a/www")
		s.answers("www.example.org. A", "192.0.2.1")
		if now := s.serial(bind, "example.org."); now != serial {
			s.t.Errorf("the serial moved from %d to %d although the content is the same", serial, now)
		}
		s.remove("backend one")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("www.example.org. A", "192.0.2.2")
	})

	s.run("a Backend with several servers is served when all of them have it", func(s *scene) {
		one, two := s.startBIND("example.org."), s.startBIND("example.org.")
		s.backend("b", "", one, two)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		two.Kill()
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answersAt(one, "www.example.org. A", "192.0.2.2")
		s.cond("zone a/org", "Served", "False Unavailable", "~b")
		s.cond("record a/www", "Served", "False Unavailable", two.Addr())
		s.cond("backend b", "Ready", "False Unavailable", two.Addr())
		if err := two.Start(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.answersAt(two, "www.example.org. A", "192.0.2.2")
		s.ready("zone a/org", "record a/www", "backend b")
	})

	s.run("a Secret is read only where it may be, and followed", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		rfc2136 := func(ref string) string {
			return fmt.Sprintf(`backend b: {rfc2136: {servers: [%q], tsig: {keyName: zonefold., secretRef: %s}}}`, s.bind.Addr(),
				ref)
		}
		s.apply(rfc2136("{name: ~key}"))
		s.cond("backend b", "Ready", "False SecretNotFound", testoperator.Namespace+"/~key")
		s.apply(www("b"))
		s.cond("zone a/org", "Served", "False BackendNotReady", "~b")
		s.secret(testoperator.Namespace, s.prefix+"key", "bm90IHRoaXMgb25lIGhlcmU=", nil)
		s.cond("backend b", "Ready", "False NotAuthorised")
		s.cond("zone a/org", "Served", "False NotAuthorised")
		s.secret(testoperator.Namespace, s.prefix+"key", key.Secret, nil)
		s.ready("backend b", "zone a/org", "record a/www")
		s.answers("www.example.org. A", "192.0.2.1")

		s.secret(credentials, s.prefix+"key", key.Secret, nil)
		s.apply(rfc2136("{name: ~key, namespace: " + credentials + "}"))
		s.cond("backend b", "Ready", "False SecretForbidden", "zonefold.dev/credentials")
		s.secret(credentials, s.prefix+"key", key.Secret, map[string]string{zonefold.CredentialsLabel: "true"})
		s.ready("backend b")
		s.secret(s.prefix+"elsewhere", "key", key.Secret, map[string]string{zonefold.CredentialsLabel: "true"})
		s.apply(rfc2136("{name: key, namespace: ~elsewhere}"))
		s.cond("backend b", "Ready", "False SecretNotFound", "~elsewhere/key")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.cond("record a/www", "Served", "False BackendNotReady", "~elsewhere/key") // nothing goes on with the key of before
		s.answers("www.example.org. A", "192.0.2.1")
		s.cond("backend b", "Ready", "False SecretNotFound", "the operator sends nothing to its servers")
		s.apply(rfc2136("{name: ~key}"))
		s.ready("backend b", "zone a/org", "record a/www")
		s.answers("www.example.org. A", "192.0.2.2")
		if text := s.log.String(); strings.Contains(text, key.Secret) || strings.Contains(text, "bm90IHRoaXMgb25lIGhlcmU=") {
			s.t.Error("the operator logged a Secret")
		}
	})

	s.run("Observe writes nothing and reports the difference", func(s *scene) {
		s.bind = s.bindWith("example.org.", "www.example.org. 60 IN A 192.0.2.9", "old.example.org. 60 IN A 192.0.2.8")
		s.backend("b", "mode: Observe, foreign: Delete", s.bind)
		s.apply(www("b") + `record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.2}`)
		s.cond("zone a/org", "Served", "False Observing", "add 1", "change 1", "delete 1")
		s.cond("record a/new", "Served", "False Observing")
		if serial := s.serial(s.bind, "example.org."); serial != 7 || s.updates(s.bind) != 0 {
			s.t.Errorf("the serial is %d after %d updates", serial, s.updates(s.bind))
		}
		if f := s.zone("a/org").Finalizers; len(f) > 0 {
			s.t.Errorf("nothing was published, but there are the finalizers %q", f)
		}
		s.backend("b", "mode: Sync, foreign: Delete", s.bind)
		s.ready("zone a/org", "record a/new")
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("old.example.org. A")
		s.agree("a/org")
	})

	s.run("Keep leaves what zonefold never wrote, and takes back what it wrote", func(s *scene) {
		s.bind = s.bindWith("example.org.", "mail.example.org. 60 IN A 192.0.2.9",
			"example.org. 60 IN MX 10 mail.example.org.")
		s.backend("b", "", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.answers("mail.example.org. A", "192.0.2.9")
		s.answers("example.org. MX", "10 mail.example.org.")
		s.answers("example.org. NS", "localhost.")
		s.apply(`record a/ns: {domainName: example.org., type: NS, rdata: ns.example.net.}`)
		s.ready("record a/ns")
		s.answers("example.org. NS", "localhost.", "ns.example.net.")
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.answers("www.example.org. A")
		s.answers("mail.example.org. A", "192.0.2.9")
		s.answers("example.org. MX", "10 mail.example.org.")
		s.answers("example.org. NS", "localhost.")
	})

	s.run("Delete removes what zonefold never wrote", func(s *scene) {
		s.bind = s.bindWith("example.org.", "mail.example.org. 60 IN A 192.0.2.9",
			"example.org. 60 IN MX 10 mail.example.org.")
		s.backend("b", "foreign: Delete", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.answers("mail.example.org. A")
		s.answers("example.org. MX")
		s.agree("a/org")
	})

	s.run("what somebody else writes into a set of ours is put right", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		s.backend("b", "auditInterval: 1s", s.bind)
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		s.update(s.bind, "example.org.", "add www.example.org. 360 A 192.0.2.66", "add foreign.example.org. 60 A 192.0.2.7")
		s.answers("www.example.org. A", "192.0.2.1")
		s.update(s.bind, "example.org.", "delete www.example.org. A")
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("foreign.example.org. A", "192.0.2.7")
		s.ready("zone a/org", "record a/www")
	})

	s.run("a kind of server that this operator does not know is told", func(s *scene) {
		s.apply(`backend b: {provider: {type: cloud}}`)
		s.apply(www("b"))
		s.cond("backend b", "Ready", "False NotSupported", "provider")
		s.cond("zone a/org", "Served", "False BackendNotReady", "provider")
	})
}
