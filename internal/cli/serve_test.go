package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// TestServeFollowsFiles changes the files of a running server in the ways that people and programs do, and asks it
// after each.
func TestServeFollowsFiles(t *testing.T) {
	s := startServer(t, `
		mkdir zones mounted mounted/..1; ln -s ..1 mounted/..data; ln -s ..data/m.yaml mounted/m.yaml
		zone org example.org. > zones/org.yaml; record www www.example.org. 192.0.2.1 > zones/www.yaml
		zone net example.net. > zones/net.yaml; record w w.example.net. 192.0.2.1 > zones/w.yaml
		record m m.example.org. 192.0.2.1 > mounted/..1/m.yaml
		record same same.example.org. 192.0.2.7 > zones/same.yaml`, "zones", "mounted")
	stop := s.askAllTheTime("same.example.org.", "192.0.2.7")
	for _, c := range []struct {
		name, change string
		org, net     int    // what the last digits of their serials become; -1: refused
		answers      string // to www.example.org., m.example.org., w.example.net., n.example.net.
	}{
		{"nothing", "", 0, 0, "192.0.2.1 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"other data", "record www www.example.org. 192.0.2.2 > zones/www.yaml", 1, 0,
			"192.0.2.2 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a file that is only touched", "touch zones/www.yaml", 1, 0, "192.0.2.2 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a file of another name", "mv zones/www.yaml zones/x.yaml", 1, 0, "192.0.2.2 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"an editor that renames",
			"record www www.example.org. 192.0.2.3 > zones/.x; mv --backup=simple --suffix='~' zones/.x zones/x.yaml", 2, 0,
			"192.0.2.3 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a document that ends in the middle", "echo 'kind: Record, apiVersion: [kubi.zone/v1al' > zones/x.yaml", 2, 0,
			"192.0.2.3 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a file that is emptied", ": > zones/x.yaml", 2, 0, "192.0.2.3 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"the data of long ago again", "record www www.example.org. 192.0.2.1 > zones/x.yaml", 3, 0,
			"192.0.2.1 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"an object that is refused", "record n n.example.com. 192.0.2.4 > zones/n.yaml", 3, 0,
			"192.0.2.1 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a folder in a folder that appears",
			"mkdir -p zones/a/b; record n n.example.net. 192.0.2.4 > zones/a/b/n.yaml; rm zones/n.yaml", 3, 1,
			"192.0.2.1 192.0.2.1 192.0.2.1 192.0.2.4"},
		{"and changes", "record n n.example.net. 192.0.2.5 > zones/a/b/n.yaml", 3, 2,
			"192.0.2.1 192.0.2.1 192.0.2.1 192.0.2.5"},
		{"gets another name", "mv zones/a zones/c", 3, 2, "192.0.2.1 192.0.2.1 192.0.2.1 192.0.2.5"},
		{"changes there", "record n n.example.net. 192.0.2.6 > zones/c/b/n.yaml", 3, 3,
			"192.0.2.1 192.0.2.1 192.0.2.1 192.0.2.6"},
		{"and goes", "rm -r zones/c", 3, 4, "192.0.2.1 192.0.2.1 192.0.2.1 NXDOMAIN"},
		{"a ConfigMap that is mounted anew", `mkdir mounted/..2; record m m.example.org. 192.0.2.2 > mounted/..2/m.yaml
			ln -s ..2 mounted/..new; mv -T mounted/..new mounted/..data; rm -r mounted/..1`, 4, 4, "192.0.2.1 192.0.2.2 192.0.2.1 NXDOMAIN"},
		{"and once more", `mkdir mounted/..3; record m m.example.org. 192.0.2.3 > mounted/..3/m.yaml
			ln -s ..3 mounted/..new; mv -T mounted/..new mounted/..data; rm -r mounted/..2`, 5, 4, "192.0.2.1 192.0.2.3 192.0.2.1 NXDOMAIN"},
		{"a Zone that goes", "mv zones/net.yaml net", 5, -1, "192.0.2.1 192.0.2.3 REFUSED REFUSED"},
		{"and comes back as it was", "mv net zones/net.yaml", 5, 4, "192.0.2.1 192.0.2.3 192.0.2.1 NXDOMAIN"},
		{"goes again", "mv zones/net.yaml net", 5, -1, "192.0.2.1 192.0.2.3 REFUSED REFUSED"},
		{"and comes back with another record", "mv net zones/net.yaml; record n n.example.net. 192.0.2.1 > zones/n.yaml", 5,
			5, "192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"a slip of the pen in a Zone", "sed -i 's/example.net.,/example.net., refresh: soon,/' zones/net.yaml", 5, 5,
			"192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"a Zone that becomes another object", "zone net2 example.net. > zones/net.yaml", 5, 5,
			"192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"two Zones that swap their names", "zone net2 example.org. > zones/net.yaml; zone org example.net. > zones/org.yaml",
			5, 5, "192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"rdata that no A record has", "sed -i s/192.0.2.1/192.0.2.800/ zones/w.yaml", 5, 5,
			"192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"the same name with other data", "record n n.example.net. 192.0.2.9 > zones/another.yaml", 5, 5,
			"192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"a Zone whose rule nobody can read", "sed -i \"s/'\\*'/a..b/\" zones/net.yaml", 5, 5,
			"192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"all of that put right",
			"record w w.example.net. 192.0.2.1 > zones/w.yaml; rm zones/another.yaml; zone net2 example.org. > zones/net.yaml",
			5, 5, "192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
		{"a burst", "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do record b$i$j b$i$j.example.net. " +
			"192.0.2.$i > zones/b$i$j.yaml; done; done", -2, -2, "192.0.2.1 192.0.2.3 192.0.2.1 192.0.2.1"},
	} {
		s.shell(c.change)
		s.caughtUp(c.name)
		var answers []string
		for _, name := range []string{"www.example.org.", "m.example.org.", "w.example.net.", "n.example.net."} {
			answers = append(answers, s.ask(name, dns.TypeA))
		}
		if got := strings.Join(answers, " "); got != c.answers {
			t.Errorf("%s: the answers are %s, want %s", c.name, got, c.answers)
		}
		for name, want := range map[string]int{"example.org.": c.org, "example.net.": c.net} {
			serial := "REFUSED"
			if want >= 0 {
				serial = fmt.Sprintf(" 20260801%02d ", want)
			}
			if got := s.ask(name, dns.TypeSOA); want != -2 && !strings.Contains(got, serial) {
				t.Errorf("%s: the SOA of %s is %s, want %q", c.name, name, got, serial)
			}
		}
	}
	stop()
	s.wait(s.out,
		`\n(kept as it was: Zone default/net): SchemaViolation: the API server would refuse what it is now at \S+/net.yaml:1: spec.refresh: .*\.\n`)
	s.wait(s.out, `\n(no longer kept as it was: Zone default/net)\n`)
	s.wait(s.out,
		`\n(kept as it was: Record default/w): InvalidData: what it is now at \S+/w.yaml:1 does not count: Record default/w has rdata that cannot be read: .*\n`)
	s.wait(s.out, `\n(no longer kept as it was: Record default/w)\n`)
	s.wait(s.out, `\n(kept as it was: Record default/n): DuplicateObject: .*\n`)
	s.wait(s.out, `\n(kept as it was: Zone default/net2): InvalidRule: .*\n`)
	if got := s.ask("b99.example.net.", dns.TypeA); got != "192.0.2.9" {
		t.Errorf("the last of a burst is %s", got)
	}
	if got := s.ask("example.org.", dns.TypeAXFR); got != "REFUSED" {
		t.Errorf("a zone is transferred: %s", got)
	}
}

// A testServer is a running serve in a folder.
type testServer struct {
	t           *testing.T
	dir, addr   string
	out, errors *said
	marks       int
}

// functions are what the shell commands of tests may use.
const functions = `
zone() { echo "{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {name: \"$1\"}, spec: {domainName: $2, delegations: [{records: [{pattern: '*'}]}]}}"; }
record() { echo "{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: \"$1\"}, spec: {domainName: $2, type: A, rdata: $3}}"; }
`

// startServer runs commands in a folder, and then serve with some of its paths.
func startServer(t *testing.T, commands string, paths ...string) *testServer {
	t.Helper()
	s := &testServer{t: t, dir: t.TempDir(), out: newSaid(), errors: newSaid()}
	s.shell("zone mark mark.example. > mark.yaml; " + commands)
	args := []string{"zonefold", "serve", "--listen", "127.0.0.1:0", "-f", filepath.Join(s.dir, "mark.yaml")}
	for _, path := range paths {
		args = append(args, "-f", filepath.Join(s.dir, path))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: s.out, Stderr: s.errors,
			Now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), Getenv: func(string) string { return "" },
		})
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != command.ExitDone {
			t.Errorf("serve ends with %d, after it has said:\n%s%s", code, s.out, s.errors)
		}
	})
	s.addr = s.wait(s.out, `listening on (\S+) `)
	s.wait(s.out, `serving mark\.example\.: (serial 2026080100)`)
	return s
}

func (s *testServer) shell(commands string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "sh", "-e", "-c", functions+commands)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", commands, err, out)
	}
}

// caughtUp waits until all changes made so far are served. They are when one made after them is.
func (s *testServer) caughtUp(when string) {
	s.t.Helper()
	s.marks++
	s.shell(fmt.Sprintf(
		"(zone mark mark.example.; echo ---; record mark m.mark.example. 192.0.2.%d) > mark; mv mark mark.yaml", s.marks))
	s.t.Log(when)
	s.wait(s.out, fmt.Sprintf(`serving mark\.example\.: (serial 20260801%02d), `, s.marks))
}

// wait waits until the server has said something, and returns the first group of the pattern.
func (s *testServer) wait(out *said, pattern string) string {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		text, more := out.read()
		if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
			return found[1]
		}
		select {
		case <-more:
		case <-late:
			s.t.Fatalf("serve has not said %q, but\n%s%s", pattern, s.out, s.errors)
		}
	}
}

// ask returns the data of the first record of an answer, else its code.
func (s *testServer) ask(name string, t uint16) string {
	question := new(dns.Msg)
	question.SetQuestion(name, t)
	answer, _, err := (&dns.Client{Net: "tcp", Timeout: 10 * time.Second}).Exchange(question, s.addr)
	switch {
	case err != nil:
		return err.Error()
	case len(answer.Answer) == 0:
		return dns.RcodeToString[answer.Rcode]
	}
	_, data, _ := strings.Cut(answer.Answer[0].String(), "\t"+dns.TypeToString[t]+"\t")
	return data
}

// askAllTheTime asks one question again and again until the function that it returns is called: the answer is the same
// every time, whatever happens meanwhile.
func (s *testServer) askAllTheTime(name, want string) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		next := time.NewTicker(5 * time.Millisecond) // or connections use up all ports
		defer next.Stop()
		for {
			select {
			case <-end:
				return
			case <-next.C:
			}
			if got := s.ask(name, dns.TypeA); got != want {
				s.t.Errorf("the answer that has to stay is %s, want %s", got, want)
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// said is what a program prints.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed with the next text
}

func newSaid() *said { return &said{more: make(chan struct{})} }

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.text.Write(p)
}

func (s *said) read() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.more
}

func (s *said) String() string {
	text, _ := s.read()
	return text
}
