package scenario

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// zonefold runs the command against the cluster, as its administrator or with --as, and returns what it prints. It
// fails unless the command ends with a code.
func (s *scene) zonefold(code int, args ...string) string {
	s.t.Helper()
	var out bytes.Buffer
	for i := range args {
		args[i] = s.text(args[i])
	}
	env := cli.Env{
		Args:   append([]string{"zonefold"}, append(args, "--kubeconfig", s.cluster.Kubeconfig())...),
		Stdout: &out, Stderr: &out, Stdin: strings.NewReader(""), Now: time.Now(), Getenv: os.Getenv,
	}
	if got := cli.Run(s.ctx, env); got != code {
		s.t.Fatalf("zonefold %s ends with %d, not %d: %s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

// says fails unless a text has some others in it.
func (s *scene) says(text string, want ...string) {
	s.t.Helper()
	for _, w := range want {
		if !strings.Contains(text, s.text(w)) {
			s.t.Errorf("it says %q, without %q", text, s.text(w))
		}
	}
}

// TestAFrozenZone freezes a Zone that a BIND and the operator itself serve, and changes it.
func TestAFrozenZone(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.")
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	listen := fmt.Sprintf("--dns-bind-address=127.0.0.1:%d", number)
	own := nameserver.At(number, key)
	s.start(listen, audits)
	s.backend("b", "", s.bind)
	s.apply(`backend own: {embedded: {}}
		zone a/org: {domainName: example.org., backendRefs: [{name: ~b}, {name: ~own}], delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record a/old: {domainName: old.example.org., type: A, rdata: 192.0.2.9}
	`)
	s.ready("zone a/org", "record a/www", "record a/old")
	before := s.serial(s.bind, "example.org.")
	unchanged := func() {
		s.t.Helper()
		s.audited(4)
		for _, at := range []*nameserver.Server{s.bind, own} {
			s.answersAt(at, "www.example.org. A", "192.0.2.1")
			s.answersAt(at, "old.example.org. A", "192.0.2.9")
			s.answersAt(at, "new.example.org. A")
			if now := s.serial(at, "example.org."); now != before {
				s.t.Errorf("the serial is %d, and was %d", now, before)
			}
		}
	}

	s.step("stays as it is on all servers", func() {
		said := s.zonefold(0, "freeze", "example.org", "--reason", "moving")
		s.says(said, "Zone ~a/org is frozen at serial", "moving. What is published stays as it is, and no change waits")
		s.ready("zone a/org")
		s.remove("record a/old")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}
			record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.3}`)
		s.cond("record a/www", "Ready", "False Frozen", "Zone ~a/org is frozen")
		s.cond("zone a/org", "Ready", "False Frozen", "3 sets wait: new.example.org. A, old.example.org. A, "+
			"www.example.org. A")
		s.cond("zone a/org", "Frozen", "True Frozen", "moving")
		unchanged()
	})

	s.step("is put back where somebody edits it", func() {
		s.update(s.bind, "example.org.", "delete www.example.org. A", "add www.example.org. 60 A 192.0.2.66")
		s.answers("www.example.org. A", "192.0.2.1")
		before = s.serial(s.bind, "example.org.")
		s.eventually("one serial", func() string {
			if s.serial(own, "example.org.") != before {
				return "the servers have different serials"
			}
			return ""
		})
		s.settles("zone a/org")
	})

	for name, end := range map[string]func(){"in order": func() { s.op.Stop() }, "by a crash": func() { s.op.Kill() }} {
		s.step("is served as before by an operator that has ended "+name, func() {
			end()
			s.start(listen, audits)
			s.eventually("the operator answers", func() string {
				if _, err := s.ask(own, s.question("www.example.org. A")); err != nil {
					return err.Error()
				}
				if _, err := s.op.Metrics("zonefold_"); err != nil {
					return err.Error()
				}
				return ""
			})
			unchanged()
		})
	}

	s.step("sends everything that waits when it is thawed", func() {
		s.says(s.zonefold(0, "thaw", "~a/org"), "Zone ~a/org follows its objects again")
		for _, at := range []*nameserver.Server{s.bind, own} {
			s.answersAt(at, "www.example.org. A", "192.0.2.2")
			s.answersAt(at, "new.example.org. A", "192.0.2.3")
			s.answersAt(at, "old.example.org. A")
		}
		s.ready("zone a/org", "record a/www", "record a/new")
	})

	s.step("is withdrawn all the same when it is deleted", func() {
		s.zonefold(0, "freeze", "example.org")
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.answers("www.example.org. A")
		s.says(s.zonefold(1, "freeze", "~a/org"), "no Zone or DNSZone is called ~a/org")
	})
}
