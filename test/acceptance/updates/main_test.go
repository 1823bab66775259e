package updates

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// secret is the key of all clients, under a name for each.
const secret = "b25lIHNlY3JldCBvZiBhIERIQ1Agc2VydmVyIQ=="

// page is where people read how clients are set up. The tests do it with what stands there.
const page = "updates.md"

// objects are there besides those of the page. %s is the address of the name server.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: acme}
---
apiVersion: v1
kind: Namespace
metadata: {name: dhcp}
---
apiVersion: v1
kind: Namespace
metadata: {name: dns}
---
apiVersion: v1
kind: Secret
metadata: {name: clients, namespace: ` + testoperator.Namespace + `}
stringData: {key: ` + secret + `}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns, namespace: dns}
spec: {domainName: example.org., type: NS, rdata: ns.example.org.}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns-address, namespace: dns}
spec: {domainName: ns.example.org., type: A, rdata: %s}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: dns}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.80}
---
`

// A site is what runs for all tests.
type site struct {
	*testoperator.Site
	host string // the address of the name server, which listens on port 53 as clients expect
}

// here is the site of all tests. It is a package variable because TestMain can hand nothing to the tests that it runs.
var here site

func TestMain(m *testing.M) {
	code, err := run(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M) (code int, err error) {
	if here.host, err = freeHost(); err != nil {
		return 1, err
	}
	settings, err := testoperator.Example(ctx, page, "## Clients", "yaml")
	if err != nil {
		return 1, err
	}
	here.Site, err = testoperator.StartSite(ctx, testoperator.SiteOptions{Values: "updates=true",
		Objects: fmt.Sprintf(objects, here.host) + settings, Args: []string{"--dns-bind-address", here.address()}})
	if err != nil {
		return 1, err
	}
	if err = here.served(ctx); err == nil {
		code = m.Run()
	}
	err = errors.Join(err, here.Close())
	if text := here.Log.String(); err != nil || code != 0 {
		fmt.Fprintln(os.Stderr, "the operator's log ends:\n"+text[max(0, len(text)-6000):])
	}
	return code, err
}

// freeHost finds an address of loopback with nobody at port 53: clients ask the servers of a zone there, and no option
// of theirs changes that. Only root may have the port.
func freeHost() (string, error) {
	var err error
	for i := range 200 {
		host := fmt.Sprintf("127.53.%d.%d", os.Getpid()>>8&255, (os.Getpid()+i)&255)
		var taken net.Listener
		if taken, err = net.Listen("tcp", host+":53"); err == nil {
			return host, taken.Close()
		}
	}
	return "", fmt.Errorf("no address of loopback has port 53 free; this needs root: %w", err)
}

// address is where the name server listens.
func (s site) address() string { return s.host + ":53" }

// served waits until the name server answers.
func (s site) served(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		got, err := s.ask(ctx, "www.example.org.", dns.TypeA)
		if err == nil && slices.Equal(got, []string{"192.0.2.80"}) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the operator answers %q: %w", got, errors.Join(err, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// patience is how long something may take that takes a moment on an idle machine.
const patience = 60 * time.Second

// ask returns the data that the name server answers for a name, sorted.
func (s site) ask(ctx context.Context, name string, kind uint16) ([]string, error) {
	client := dns.Client{Timeout: 2 * time.Second}
	answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, kind), s.address())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range answer.Answer {
		out = append(out, strings.TrimPrefix(r.String(), r.Header().String()))
	}
	slices.Sort(out)
	return out, nil
}

// eventually waits until check has nothing to complain of.
func eventually(t *testing.T, what string, check func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	testcluster.Eventually(ctx, t, what, check)
}

// answers waits until the name server answers a question, such as "www.example.org. A", with some data.
func answers(t *testing.T, question string, want ...string) {
	t.Helper()
	name, kind, _ := strings.Cut(question, " ")
	eventually(t, question, func() string {
		got, err := here.ask(t.Context(), name, dns.StringToType[kind])
		if err != nil || !slices.Equal(got, want) {
			return fmt.Sprintf("the answer is %q (%v), want %q", got, err, want)
		}
		return ""
	})
}

// nothingIsLeft fails if there are Records that clients have made in a namespace.
func nothingIsLeft(t *testing.T, namespace, said string) {
	t.Helper()
	left, err := here.Cluster.RunKubectl(t.Context(), "get", "records.kubi.zone", "-n", namespace, "-o",
		`jsonpath={range .items[*]}{.spec.domainName} {.spec.type} {.spec.rdata}{"\n"}{end}`)
	if err != nil || left != "" {
		t.Errorf("these Records are left:\n%s%v\n%s", left, err, said)
	}
}

// example returns what the page says below the heading of a client, with the address of our name server.
func example(t *testing.T, heading, language string) string {
	t.Helper()
	text, err := testoperator.Example(t.Context(), page, "### "+heading, language)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(text, "192.0.2.53", here.host)
}

// shell has lines of the shell do something, in a folder and with mounts of their own, and returns what they say.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "sh", "-euc", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}
