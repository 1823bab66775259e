package scenario

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// ownServer starts the operator as a name server, and returns that.
func (s *scene) ownServer(args ...string) *nameserver.Server {
	s.t.Helper()
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(release)
	s.start(append([]string{"--dns-bind-address", fmt.Sprintf("127.0.0.1:%d", number)}, args...)...)
	return nameserver.At(number, key)
}

// follower starts a server that follows the zones, or the catalog, of the one that s.bind is.
func (s *scene) follower(start startServer, catalog string, zones ...string) *nameserver.Server {
	s.t.Helper()
	opts := s.serverOptions(nil)
	opts.Follow = &nameserver.Follow{Primary: netip.MustParseAddrPort(s.bind.Addr()), Key: &key}
	if catalog != "" {
		opts.Follow.Catalog = name(s.text(catalog))
	}
	for _, z := range zones {
		opts.Follow.Zones = append(opts.Follow.Zones, name(s.text(z)))
	}
	server, err := start(s.ctx, opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	return server
}

func TestTheOperatorAnswers(t *testing.T) {
	s := newStage(t)
	s.bind = s.ownServer()
	s.run("for what is created, changed and withdrawn, and is settled at once", func(s *scene) {
		s.apply(`backend b: {embedded: {}}` + "\n" + www("b"))
		s.ready("backend b", "zone a/org", "record a/www")
		s.answers("www.example.org. A", "192.0.2.1")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.answers("www.example.org. A", "192.0.2.2")
		s.remove("record a/www")
		s.answers("www.example.org. A")
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.eventually("the zone is refused", func() string { return s.rcodeAt(s.bind, "example.org. SOA", "REFUSED") })
	})

	s.run("to those who may transfer, and tells them", func(s *scene) {
		s.secret(testoperator.Namespace, s.prefix+"key", key.Secret, nil)
		s.apply(`backend b: {embedded: {}}` + "\n" + www("b"))
		s.ready("zone a/org")
		if sets, err := s.bind.Transfer(s.ctx, name(s.text("example.org."))); err == nil {
			s.t.Errorf("a transfer that nobody allowed gave %d sets", len(sets))
		}
		knot := s.follower(nameserver.StartKnot, "catalog.example.")
		bind := s.follower(nameserver.StartBIND, "", "example.org.")
		s.apply(
			fmt.Sprintf(
				`backend b: {embedded: {catalogZone: catalog.example., transfer: [{addresses: [127.0.0.0/8], tsig: {keyName: zonefold., secretRef: {name: ~key}}}], notify: [{address: %q, tsig: {keyName: zonefold., secretRef: {name: ~key}}}, {address: %q}]}}`, knot.Addr(), bind.Addr()))
		for _, at := range []*nameserver.Server{knot, bind} {
			s.answersAt(at, "www.example.org. A", "192.0.2.1")
		}
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		for _, at := range []*nameserver.Server{knot, bind} {
			s.answersAt(at, "www.example.org. A", "192.0.2.2")
		}
		s.apply(`zone a/net: {domainName: example.net., delegations: ` + anything + `, backendRefs: [{name: ~b}]}
			record a/net: {domainName: www.example.net., type: A, rdata: 192.0.2.3}`)
		s.answersAt(knot, "www.example.net. A", "192.0.2.3")
		s.remove("zone a/net")
		s.eventually("the follower drops the zone", func() string { return s.rcodeAt(knot, "example.net. SOA", "REFUSED") })
	})

	s.run("and says what is wrong with its settings", func(s *scene) {
		s.apply(
			`backend b: {embedded: {transfer: [{addresses: [192.0.2.0/24], tsig: {keyName: k., secretRef: {name: ~missing}}}]}}`)
		s.cond("backend b", "Ready", "False SecretNotFound", "embedded.transfer[0]", "~missing")
		s.apply(www("b"))
		s.answers("www.example.org. A", "192.0.2.1") // whoever may copy it
		s.ready("zone a/org")
		s.rejected("backend b", wrong{`{embedded: {transfer: [{}]}}`, "", []string{"does not let everybody"}})
		s.rejected("backend b", wrong{`{embedded: {transfer: [{addresses: [everybody]}]}}`, "", []string{
			"IP addresses or networks"}})
	})
}

func TestAnOperatorThatIsNoNameServerSaysSo(t *testing.T) {
	s := newStage(t)
	s.start()
	s.apply(`backend b: {embedded: {}}` + "\n" + www("b"))
	s.cond("backend b", "Ready", "False NotSupported", "--dns-bind-address")
	s.cond("zone a/org", "Served", "False BackendNotReady")
}

// TestARestartOfTheNameServer has the operator forget everything, again and again.
func TestARestartOfTheNameServer(t *testing.T) {
	s := newStage(t)
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	listen := fmt.Sprintf("--dns-bind-address=127.0.0.1:%d", number)
	s.start(listen)
	s.bind = nameserver.At(number, key)
	s.apply(`backend b: {embedded: {}}` + "\n" + www("b"))
	s.ready("zone a/org", "record a/www")
	serial := s.serial(s.bind, "example.org.")
	s.settles("zone a/org")

	s.op.Stop()
	s.start(listen)
	s.answers("www.example.org. A", "192.0.2.1")
	if now := s.serial(s.bind, "example.org."); now != serial {
		t.Errorf("a restart changed the serial from %d to %d", serial, now)
	}
	for i := range 5 {
		data := fmt.Sprintf("192.0.2.%d", 10+i)
		s.apply(fmt.Sprintf(`record a/www: {domainName: www.example.org., type: A, rdata: %s}`, data))
		s.answers("www.example.org. A", data)
		before := s.serial(s.bind, "example.org.")
		s.op.Kill()
		s.start(listen)
		s.answers("www.example.org. A", data)
		if now := s.serial(s.bind, "example.org."); now-before > 1<<30 {
			t.Errorf("the serial fell from %d to %d", before, now)
		}
	}
}

// startServer is what starts a server.
type startServer = func(context.Context, nameserver.Options) (*nameserver.Server, error)

// rcodeAt says what is wrong unless a server answers a question with an rcode.
func (s *scene) rcodeAt(server *nameserver.Server, question, want string) string {
	answer, err := server.Lookup(s.ctx, s.question(question))
	switch {
	case err != nil:
		return err.Error()
	case answer.Rcode != want:
		return fmt.Sprintf("%s is answered with %s, not %s", s.text(question), answer.Rcode, want)
	}
	return ""
}

// settles waits until it is stored that no serial after that of a Zone's status was used.
func (s *scene) settles(ref string) {
	s.t.Helper()
	z := s.reference(ref).blank()
	s.eventually(ref, func() string {
		if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(z), z); err != nil {
			return err.Error()
		}
		status := z.(*kubizone.Zone).Status
		if status.Serial == nil || status.SerialCeiling == nil || *status.Serial != *status.SerialCeiling {
			return fmt.Sprintf("the serial is %v, the ceiling %v", status.Serial, status.SerialCeiling)
		}
		return ""
	})
}
