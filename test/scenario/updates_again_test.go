package scenario

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/controller/updates"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// signed makes a message of an update, as it goes over the wire.
func (s *scene) signed(fill func(*dns.Msg)) []byte {
	s.t.Helper()
	m := new(dns.Msg).SetUpdate(s.text("example.org."))
	fill(m)
	m.SetTsig("dhcp.", dns.HmacSHA256, 300, time.Now().Unix())
	wire, _, err := dns.TsigGenerate(m, updateSecret, "", false)
	if err != nil {
		s.t.Fatal(err)
	}
	return wire
}

// data is one record of DNS.
func (s *scene) data(text string) []dns.RR {
	s.t.Helper()
	r, err := dns.NewRR(s.text(text))
	if err != nil {
		s.t.Fatal(err)
	}
	return []dns.RR{r}
}

// replay sends a message as it is and returns the mnemonic of the answer's rcode.
func (s *scene) replay(wire []byte) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.bind.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	link := dns.Conn{Conn: conn}
	if _, err := link.Write(wire); err != nil {
		s.t.Fatal(err)
	}
	answer, err := link.ReadMsgHeader(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return dns.RcodeToString[int(answer[3]&15)]
}

// A client whose answer is lost because the operator ends repeats its message. Whoever leads then answers as if there
// had been no other.
func TestAMessageThatComesAgainAfterAChangeOfLeaders(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	listen := fmt.Sprintf("--dns-bind-address=127.0.0.1:%d", number)
	s.bind = nameserver.At(number, key)
	s.start(listen)
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.apply(`backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}]}}
zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	s.answers("www.example.org. A", "192.0.2.80")

	whole := s.signed(func(m *dns.Msg) {
		m.NameNotUsed(s.data("whole.example.org. 60 A 192.0.2.1"))
		m.Insert(s.data("whole.example.org. 60 A 192.0.2.1"))
		m.Insert(s.data(`whole.example.org. 60 TXT "one"`))
	})
	if got := s.replay(whole); got != "NOERROR" {
		t.Fatalf("the first time it is %s", got)
	}
	part := s.signed(func(m *dns.Msg) {
		m.NameNotUsed(s.data("part.example.org. 60 A 192.0.2.2"))
		m.Insert(s.data("part.example.org. 60 A 192.0.2.2"))
		m.Insert(s.data(`part.example.org. 60 TXT "two"`))
	})
	request := updates.Request{Place: s.prefix + "b", Namespace: s.prefix + "b", Message: part}
	another := s.signed(func(m *dns.Msg) {
		m.NameNotUsed(s.data("whole.example.org. 60 A 192.0.2.1"))
		m.Insert(s.data("whole.example.org. 60 A 192.0.2.3"))
	})
	s.op.Kill()
	// It might have ended just after the first Record of a message.
	s.manifest(fmt.Sprintf(`{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: part, namespace: ~b,
		labels: {zonefold.dev/update: "true"}, annotations: {zonefold.dev/update-message: %q}},
		spec: {domainName: part.example.org., ttl: 60, type: A, rdata: 192.0.2.2}}`, request.Digest()))
	s.start(listen)
	s.answers("part.example.org. A", "192.0.2.2")
	for _, c := range []struct {
		name, want string
		message    []byte
	}{
		{"one that was carried out", "NOERROR", whole},
		{"one of which a part was carried out", "NOERROR", part},
		{"one that is new", "YXDOMAIN", another},
	} {
		if got := s.replay(c.message); got != c.want {
			t.Errorf("%s is answered with %s, not %s", c.name, got, c.want)
		}
	}
	s.answers("whole.example.org. A", "192.0.2.1")
	s.answers("whole.example.org. TXT", `"one"`)
	s.answers("part.example.org. A", "192.0.2.2")
	s.answers("part.example.org. TXT", `"two"`)
}

// An update that takes too long is answered, and taken back however long that takes.
func TestAnUpdateThatRunsOutOfTime(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	s.bind = s.ownServer()
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.apply(`backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}]}}
zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	s.answers("www.example.org. A", "192.0.2.80")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	name := "validatingwebhookconfiguration/" + s.prefix + "silent"
	s.manifest(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,
		metadata: {name: ~silent}, webhooks: [{name: silent.example.org, clientConfig: {url: "https://%s"}, timeoutSeconds: 30,
		failurePolicy: Fail, sideEffects: None, admissionReviewVersions: [v1],
		namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ~b}},
		matchConditions: [{name: slow, expression: "request.operation == 'DELETE' || object.spec.domainName.startsWith('slow')"}],
		rules: [{apiGroups: [kubi.zone], apiVersions: ["*"], resources: [records], operations: [CREATE, DELETE]}]}]}`,
		silent.Addr()))
	t.Cleanup(func() { s.kubectlQuiet("delete", name, "--ignore-not-found") })
	s.eventually("the webhook is asked", func() string {
		out, _ := s.cluster.RunKubectl(s.ctx, "delete", "record", "www", "-n", s.prefix+"b", "--dry-run=server",
			"--request-timeout=2s")
		return unless(!strings.Contains(out, "deleted"), out)
	})
	if got := s.replay(s.signed(func(m *dns.Msg) {
		m.Insert(s.data("fast.example.org. 60 A 192.0.2.1"))
		m.Insert(s.data("slow.example.org. 60 A 192.0.2.2"))
	})); got != "SERVFAIL" {
		t.Errorf("it is answered with %s", got)
	}
	s.answers("fast.example.org. A", "192.0.2.1")
	s.kubectl("delete", name)
	s.answers("fast.example.org. A")
	if made := s.kubectl("get", "records.kubi.zone", "-n", s.prefix+"b", "-o", "name"); strings.Count(made, "\n") != 1 {
		t.Errorf("the Records are %s", made)
	}
}

// Who changes a name just after another update of it was undone changes what is there then.
func TestAnUpdateAfterOneThatIsUndone(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	s.bind = s.ownServer()
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.ensureNamespace(s.prefix + "b")
	s.apply(`backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}]}}
zone a/org: {domainName: example.org., backendRefs: [{name: ~b}],
  delegations: [{namespace: ~a, records: [{pattern: "*"}]}, {namespace: ~b, records: [{pattern: "*.dyn"}]}]}
record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	s.answers("www.example.org. A", "192.0.2.80")
	alias := func(m *dns.Msg) {
		m.RemoveRRset(s.data("h.dyn.example.org. 60 A 192.0.2.1"))
		m.Insert(s.data("h.dyn.example.org. 60 CNAME www.example.org."))
	}
	for range 10 {
		if got := s.replay(s.signed(func(m *dns.Msg) {
			m.RemoveName(s.data("h.dyn.example.org. 60 A 192.0.2.1"))
			m.Insert(s.data("h.dyn.example.org. 60 A 192.0.2.1"))
		})); got != "NOERROR" {
			t.Fatalf("who adds an address is told %s", got)
		}
		refused := s.signed(func(m *dns.Msg) {
			alias(m)
			m.Insert(s.data(`www.example.org. 60 TXT "no"`))
		})
		var first sync.WaitGroup
		first.Go(func() {
			if got := s.replay(refused); got != "REFUSED" {
				t.Errorf("who asks for the name of somebody else is told %s", got)
			}
		})
		if got := s.replay(s.signed(alias)); got != "NOERROR" {
			t.Errorf("who comes next is told %s", got)
		}
		first.Wait()
		s.answers("h.dyn.example.org. CNAME", "www.example.org.")
	}
}

// A DS is written in the zone that it is about, and served by the one above.
func TestUpdatesOfTheDSOfAZone(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	s.bind = s.ownServer()
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.apply(`backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}]}}
zone a/up: {domainName: up.example.org., backendRefs: [{name: ~b}], delegations: [{namespace: ~b, zones: ["sub"]}]}
zone b/sub: {domainName: sub.up.example.org., backendRefs: [{name: ~b}],
  delegations: [{namespace: ~b, records: [{pattern: "@"}]}]}
record b/ns: {domainName: sub.up.example.org., type: NS, rdata: ns.example.net.}`)
	s.answers("sub.up.example.org. NS", "ns.example.net.")
	const one, two = "60485 8 2 " + "D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A",
		"60486 8 2 " + "D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A"
	ds := func(data string) []dns.RR { return s.data("sub.up.example.org. 60 DS " + data) }
	for _, c := range []struct {
		sentence string
		fill     func(*dns.Msg)
		rcode    string
		want     []string
	}{
		{"it comes", func(m *dns.Msg) { m.Insert(ds(one)) }, "NOERROR", []string{one}},
		{"it is there already", func(m *dns.Msg) { m.Insert(ds(one)) }, "NOERROR", []string{one}},
		{"there should be none", func(m *dns.Msg) { m.RRsetNotUsed(ds(one)) }, "YXRRSET", []string{one}},
		{"another one comes", func(m *dns.Msg) { m.Insert(ds(two)) }, "NOERROR", []string{one, two}},
		{"one goes", func(m *dns.Msg) { m.Remove(ds(one)) }, "NOERROR", []string{two}},
		{"the set goes", func(m *dns.Msg) { m.RemoveRRset(ds(two)) }, "NOERROR", nil},
	} {
		if got := s.replay(s.signed(func(m *dns.Msg) {
			m.Question[0].Name = s.text("sub.up.example.org.")
			c.fill(m)
		})); got != c.rcode {
			t.Errorf("%s: it is answered with %s", c.sentence, got)
		}
		s.answers("sub.up.example.org. DS", slices.Clone(c.want)...)
		made := s.kubectl("get", "records.kubi.zone", "-n", s.prefix+"b", "-l", "zonefold.dev/update=true", "-o",
			"jsonpath={.items[*].metadata.name}")
		if len(strings.Fields(made)) != len(c.want) {
			t.Errorf("%s: the Records are %s", c.sentence, made)
		}
	}
}
