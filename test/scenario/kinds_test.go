package scenario

import (
	"context"
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A kind is a kind of name server, and of the Backend that reaches it.
type kind struct {
	name     string // of its Secret too
	password string // what that has to hold
	wrong    string // what it may hold by mistake
	creates  bool   // the operator creates zones that are missing
	start    func(s *scene, zones ...string) place
}

// A place is a running server and the kind of Backend that names it.
type place struct {
	*nameserver.Server
	spec string
	url  string // of PowerDNS's API
}

// kinds are all that the operator serves.
func kinds() (knot, powerDNS, bind kind) {
	knot = kind{name: "knot", password: key.Secret, wrong: "bm90IHRoaXMgb25lIGhlcmU="}
	knot.start = takesUpdates(nameserver.StartKnot, knot.name)
	bind = kind{name: "bind", password: key.Secret, wrong: "bm90IHRoaXMgb25lIGhlcmU="}
	bind.start = takesUpdates(nameserver.StartBIND, bind.name)
	return knot, kind{name: "powerdns", password: powerDNSKey, wrong: "not this one", creates: true, start: startPowerDNS},
		bind
}

// powerDNSKey is the API key of every PowerDNS that package nameserver starts.
const powerDNSKey = "zonefold-test-key"

// takesUpdates starts a server that takes dynamic updates.
func takesUpdates(start func(context.Context, nameserver.Options) (*nameserver.Server, error), secret string) func(
	*scene, ...string) place {
	return func(s *scene, zones ...string) place {
		s.t.Helper()
		server, err := start(s.ctx, s.serverOptions(zones))
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(server.Close)
		return place{Server: server, spec: fmt.Sprintf(
			"rfc2136: {servers: [%q], tsig: {keyName: zonefold., secretRef: {name: ~%s}}}", server.Addr(), secret)}
	}
}

func startPowerDNS(s *scene, zones ...string) place {
	s.t.Helper()
	server, err := nameserver.StartPowerDNS(s.ctx, s.serverOptions(zones))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	return place{Server: server.Server, url: server.URL, spec: fmt.Sprintf(
		"powerdns: {url: %q, secretRef: {name: ~powerdns}}", server.URL)}
}

// connect makes a Backend and its Secret for a server.
func (k kind) connect(s *scene, backend string, at place, more string) {
	s.t.Helper()
	k.tell(s, k.password)
	s.apply(fmt.Sprintf("backend %s: {%s%s}", backend, at.spec, comma(more)))
}

// tell changes what the Secret holds.
func (k kind) tell(s *scene, password string) {
	s.t.Helper()
	s.secret(testoperator.Namespace, s.prefix+k.name, password, nil)
}

func TestEveryKindOfServer(t *testing.T) {
	s := newStage(t)
	s.start()
	s.sideBySide()
	knot, powerDNS, bind := kinds()
	for _, k := range []kind{knot, powerDNS} { // BIND is everywhere else
		s.run(k.name+" has what is created, changed and withdrawn", func(s *scene) { k.life(s) })
		s.run(k.name+" goes away and comes back", func(s *scene) { k.restart(s) })
		s.run(k.name+" takes no wrong password, and the right one at once", func(s *scene) { k.passwords(s) })
	}

	s.run("knot lacks a zone, and has it later", func(s *scene) {
		at := knot.start(s)
		s.bind = at.Server
		knot.connect(s, "b", at, "")
		s.apply(www("b"))
		s.cond("zone a/org", "Served", "False NoSuchZone", "example.org.", "~b")
		s.cond("record a/www", "Served", "False NoSuchZone")
		s.ready("backend b")
		s.serve("example.org.")
		s.answers("www.example.org. A", "192.0.2.1")
		s.ready("zone a/org", "record a/www")
	})

	s.run("powerdns gets a zone again that somebody deletes there", func(s *scene) {
		at := powerDNS.start(s)
		s.bind = at.Server
		powerDNS.connect(s, "b", at, "auditInterval: 1s")
		s.apply(www("b"))
		s.ready("zone a/org", "record a/www")
		serial := s.serial(s.bind, "example.org.")
		s.deleteZone(at, "example.org.")
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("new.example.org. A", "192.0.2.2") // which no cache has
		s.answers("www.example.org. A", "192.0.2.1")
		s.ready("zone a/org", "record a/www")
		if now := s.serial(s.bind, "example.org."); now < serial {
			s.t.Errorf("the serial fell from %d to %d", serial, now)
		}
	})

	s.run("one zone at all kinds of servers has one serial, and none waits for another", func(s *scene) {
		everywhere(s, knot, powerDNS, bind)
	})
}
