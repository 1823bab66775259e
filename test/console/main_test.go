// Package console tests the pages of zonefold console in a browser, against a real API server, a real operator and a
// real BIND, for people with different rights.
package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	flags, end, err := login.start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting an issuer of tokens:", err)
		os.Exit(1)
	}
	code := testcluster.MainWith(m, testcluster.Options{CRDs: []string{"../../config/crd"}, APIServerFlags: flags})
	end()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the operator's binary, made once for all tests.
var built struct {
	once      sync.Once
	dir, path string
	err       error
}

func (s *site) program() string {
	s.t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "zonefold-console"); built.err == nil {
			built.path, built.err = testoperator.Build(s.ctx, built.dir)
		}
	})
	s.must(built.err)
	return built.path
}

// hostile is what a tenant may write into a TXT record that wants others to run something.
const hostile = `<script>alert(1)</script>'><img src=x onerror=alert(2)>&amp;`

// A site is a cluster with an operator, a BIND, and two tenants.
type site struct {
	t       *testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
	log     testoperator.Journal
	bind    *nameserver.Server
	people  map[string]string // kubeconfigs
}

func newSite(t *testing.T) *site {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	s := &site{t: t, ctx: ctx, cluster: testcluster.ForTest(t), people: map[string]string{}}
	s.people["admin"] = s.cluster.Kubeconfig()
	key := nameserver.TSIG{Name: name(t, "zonefold."), Algorithm: "hmac-sha256", Secret: "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"}
	var err error
	s.bind, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{key},
		Zones: []nameserver.Zone{{Name: name(t, "a.example.")}, {Name: name(t, "b.example.")}}})
	s.must(err)
	t.Cleanup(s.bind.Close)
	s.apply(objects(s.bind.Addr(), key.Secret))
	admission, inspect := s.claim(), s.claim()
	s.register(admission, inspect)
	operator, err := testoperator.Start(testoperator.Options{Path: s.program(), Kubeconfig: s.cluster.Kubeconfig(),
		Log: &s.log, NoElection: true, Args: []string{"--history=20",
			fmt.Sprintf("--admission-bind-address=127.0.0.1:%d", admission),
			fmt.Sprintf("--inspect-bind-address=127.0.0.1:%d", inspect)}})
	s.must(err)
	t.Cleanup(operator.Kill)
	for _, ns := range []string{"a", "b"} {
		s.people[ns], err = s.cluster.KubeconfigFor(ctx, ns, "tenant")
		s.must(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			text := s.log.String()
			t.Logf("the operator's log ends:\n%s", text[max(0, len(text)-3000):])
		}
	})
	return s
}

func (s *site) claim() uint16 {
	s.t.Helper()
	port, release, err := nameserver.ClaimPort()
	s.must(err)
	s.t.Cleanup(release)
	return port
}

// register has the API server know the operator as the chart does. Its Service leads to where this test runs it.
func (s *site) register(admission, inspect uint16) {
	s.t.Helper()
	chart, err := testoperator.Template(s.ctx, "inspect.enabled=true", "webhook.yaml", "inspect.yaml")
	s.must(err)
	chart = strings.ReplaceAll(chart, "port: 9444", fmt.Sprintf("port: %d", inspect))
	s.apply(strings.ReplaceAll(chart, "path: /validate", fmt.Sprintf("path: /validate\n        port: %d", admission)))
	s.apply(fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: zonefold-admission, namespace: %s},
  spec: {type: ExternalName, externalName: localhost}}`, testoperator.Namespace))
}

func name(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) apply(objects string) {
	s.t.Helper()
	_, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(objects), "apply", "-f", "-")
	s.must(err)
}

func (s *site) kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	s.must(err)
	return out
}

// objects are two tenants with a zone each. That of a is served; b's is observed, and hostile. The console of a may
// watch and patch; that of b may only list.
func objects(server, secret string) string {
	text := fmt.Sprintf(`
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: %[1]s}, stringData: {value: %[2]s}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: served}
spec:
  protection: {maxDeletedPercent: 1, minDeleted: 1}
  rfc2136: {servers: ["%[3]s"], tsig: {keyName: zonefold., secretRef: {name: key}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: observed}
spec:
  mode: Observe
  rfc2136: {servers: ["%[3]s"], tsig: {keyName: zonefold., secretRef: {name: key}}}
`, testoperator.Namespace, secret, server)
	for i, ns := range []string{"a", "b"} {
		verbs := []string{"get, list, watch, patch", "get, list"}[i]
		text += fmt.Sprintf(`---
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant, namespace: %[1]s}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: %[1]s}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [%[2]s]}
- {apiGroups: [zonefold.dev], resources: [zonerevisions, zoneslices], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: ServiceAccount, name: tenant, namespace: %[1]s}]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: zone-of-%[1]s, namespace: %[1]s}
spec:
  domainName: %[1]s.example.
  backendRefs: [{name: %[3]s}]
  delegations: [{namespaces: [%[1]s], records: [{pattern: "*"}]}, {namespaces: [guests-of-%[1]s], records: [{pattern: "*.guests", types: [A, TXT]}]}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www-of-%[1]s, namespace: %[1]s}
spec: {domainName: www.%[1]s.example., type: A, rdata: 192.0.2.%[4]d}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: refused-of-%[1]s, namespace: %[1]s}
spec: {domainName: www.elsewhere.example., type: A, rdata: 192.0.2.1}
`, ns, verbs, []string{"served", "observed"}[i], i+1)
	}
	for i := range 4 {
		text += fmt.Sprintf(`---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: old-%[1]d, namespace: a}
spec: {domainName: old-%[1]d.a.example., type: A, rdata: 192.0.2.9}
`, i)
	}
	long := strings.Repeat(` "`+hostile+strings.Repeat("x", 255-len(hostile))+`"`, 200) // of 255 octets, the most of one
	return text + fmt.Sprintf(`---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: hostile, namespace: b}
spec: {domainName: hostile.b.example., type: TXT, rdata: %q}
`, long[1:])
}

// A console is a run of the command.
type console struct {
	link string
	out  *bufio.Reader
	end  func()
}

// console starts the command with the kubeconfig of a person.
func (s *site) console(person string, args ...string) *console {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	read, write := io.Pipe()
	var complaints testoperator.Journal
	done := make(chan int, 1)
	go func() {
		code := cli.Run(ctx, cli.Env{Args: append([]string{"kubectl-zonefold", "console"}, args...),
			Stdin: strings.NewReader(""), Stdout: write, Stderr: &complaints, Now: time.Now(),
			Getenv: func(variable string) string {
				return map[string]string{"KUBECONFIG": s.people[person], "HOME": filepath.Dir(s.people[person])}[variable]
			}})
		_ = write.Close()
		done <- code
	}()
	c := &console{out: bufio.NewReader(read)}
	c.end = func() {
		cancel()
		if code := <-done; code != 0 {
			s.t.Errorf("the console of %s ends with %d: %s", person, code, complaints.String())
		}
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("the console of %s ends: %d: %s", person, <-done, complaints.String())
	}
	s.t.Cleanup(c.end)
	if _, c.link, _ = strings.Cut(strings.TrimSpace(line), "once: "); c.link == "" {
		s.t.Fatalf("the console says %q, without a link", line)
	}
	return c
}
