package scenario

import (
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// becomes waits until something is true.
func (s *scene) becomes(what string, is func() bool) {
	s.t.Helper()
	s.eventually(what, func() string {
		if !is() {
			return "it is not"
		}
		return ""
	})
}

func TestReadinessWaitsForTheCaches(t *testing.T) {
	s := newStage(t)
	s.bind = s.bindWith("example.org.", "www.example.org. 60 IN A 192.0.2.9", "old.example.org. 60 IN A 192.0.2.8")
	s.backend("b", "foreign: Delete", s.bind)
	s.apply(www("b"))
	credentials := s.prefix + "credentials"
	s.ensureNamespace(credentials)
	s.lacks = credentials
	s.start("--credentials-namespaces=" + credentials)
	s.becomes("live", s.op.Live)
	// One of the caches cannot be filled: what is in it is unknown, and nothing is done.
	s.becomes("the log naming the namespace whose Secrets may not be read", func() bool {
		return strings.Count(s.log.String(), credentials) >= 2
	})
	if s.op.Ready() || !s.op.Live() {
		t.Errorf("it is ready: %v, live: %v", s.op.Ready(), s.op.Live())
	}
	if s.updates(s.bind) != 0 || s.zone("a/org").Status.Serial != nil {
		t.Error("something was done before everything was read")
	}
	s.letReadSecrets(credentials)
	s.becomes("ready", s.op.Ready)
	s.answers("www.example.org. A", "192.0.2.1")
	s.answers("old.example.org. A")
	s.ready("zone a/org", "record a/www")
}

func TestTheAPIServerGoesAway(t *testing.T) {
	s := newStage(t)
	s.lacks = "is forbidden" // an API server that starts forbids everything before it has read the roles
	s.bind = s.startBIND("example.org.")
	s.backend("b", "auditInterval: 1s", s.bind)
	// With election, as in a cluster. On a busy machine, an API server needs ten seconds to start.
	s.startWith(testoperator.Options{Args: []string{"--leader-elect-lease-duration", "30s",
		"--leader-elect-renew-deadline", "20s"}})
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www", "backend b")
	away := func() {
		s.t.Helper()
		if err := s.cluster.KillAPIServer(s.ctx); err != nil {
			s.t.Fatal(err)
		}
	}
	back := func() {
		s.t.Helper()
		if err := s.cluster.StartAPIServer(s.ctx); err != nil {
			s.t.Fatal(err)
		}
	}

	s.step("for a moment: what is served is looked after, and changes are taken up afterwards", func() {
		away()
		s.update(s.bind, "example.org.", "delete www.example.org. A", "add foreign.example.org. 60 A 192.0.2.7")
		s.answers("www.example.org. A", "192.0.2.1")
		if !s.op.Live() || !s.op.Ready() {
			s.t.Errorf("it is live: %v, ready: %v", s.op.Live(), s.op.Ready())
		}
		back()
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("www.example.org. A", "192.0.2.2")
		s.answers("foreign.example.org. A", "192.0.2.7")
		s.ready("zone a/org", "record a/www")
		s.agreeForeign()
	})

	s.step("for longer: the leader ends, since another may lead, and the next one changes nothing", func() {
		serial := s.serial(s.bind, "example.org.")
		away()
		select {
		case <-s.op.Done():
		case <-s.ctx.Done():
			s.t.Fatal("the leader does not end")
		}
		s.startWith(testoperator.Options{}) // as kubelet does
		select {
		case <-s.op.Done():
		case <-s.ctx.Done():
			s.t.Fatal("an operator without an API server does not end")
		}
		s.answers("www.example.org. A", "192.0.2.2")
		back()
		s.start() // without waiting for the lease of the one that has ended
		s.becomes("ready", s.op.Ready)
		s.apply(`record a/orphan: {domainName: www.example.net., type: A, rdata: 192.0.2.3}`)
		s.refused("record a/orphan", "NoZone")
		s.audited(2)
		s.answers("www.example.org. A", "192.0.2.2")
		s.answers("foreign.example.org. A", "192.0.2.7")
		if now := s.serial(s.bind, "example.org."); now != serial {
			s.t.Errorf("the serial moved from %d to %d although nothing changed", serial, now)
		}
	})
}
