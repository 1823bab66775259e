// Package inspect tests what tenants learn by the operator's read API, through a real API server that aggregates it,
// with the chart's rights and two replicas, of which the one that is asked does not lead.
package inspect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m, "../../config/crd")) }

const (
	dialects = "kubizone,homelab,gardener,bindy"
	values   = "inspect.enabled=true,dns.enabled=false,dialects.homelab=true,dialects.gardener=true,dialects.bindy=true"
)

// A site is a cluster with two operators, a BIND, an address where no server is, and two tenants.
type site struct {
	t        *testing.T
	ctx      context.Context
	cluster  *testcluster.Cluster
	log      testoperator.Journal
	program  string
	role     string // kubeconfig of the operators
	port     uint16 // at which they are asked
	admit    uint16
	dns      uint16
	leader   *testoperator.Process
	follower *testoperator.Process
	tenants  map[string]string // kubeconfigs by namespace
	bind     *nameserver.Server
	nobody   string // the address of no server
}

var tsig = nameserver.TSIG{Name: mustName("zonefold."), Algorithm: "hmac-sha256",
	Secret: "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"}

func mustName(text string) dnsname.Name {
	n, err := dnsname.Parse(text)
	if err != nil {
		panic(err)
	}
	return n
}

func newSite(t *testing.T) *site {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &site{t: t, ctx: ctx, cluster: testcluster.ForTest(t), tenants: map[string]string{}}
	var err error
	s.program, err = testoperator.Build(ctx, t.TempDir())
	s.must(err)
	s.role, err = testoperator.InstallRights(ctx, s.cluster, values)
	s.must(err)
	s.port, s.admit, s.dns = s.claim(), s.claim(), s.claim()
	s.nobody = fmt.Sprintf("127.0.0.1:%d", s.claim())
	s.bind, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{tsig},
		Zones: []nameserver.Zone{{Name: mustName("inspect.example.")}, {Name: mustName("shoot.example.")},
			{Name: mustName("own.example.")}}})
	s.must(err)
	t.Cleanup(s.bind.Close)
	s.apply(s.objects())
	s.register()
	s.leader = s.start("127.0.0.2")
	s.await("the first replica leads", func() error {
		_, err := s.cluster.RunKubectl(ctx, "get", "lease", "-n", testoperator.Namespace, "zonefold-operator")
		return err
	})
	s.follower = s.start("127.0.0.1")
	for _, ns := range []string{"a", "b"} {
		s.tenants[ns], err = s.cluster.KubeconfigFor(ctx, ns, "tenant")
		s.must(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			text := s.log.String()
			t.Logf("the operators' log ends:\n%s", text[max(0, len(text)-6000):])
		}
	})
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) claim() uint16 {
	s.t.Helper()
	port, release, err := nameserver.ClaimPort()
	s.must(err)
	s.t.Cleanup(release)
	return port
}

// start runs a replica that is reached at an address of the loopback.
func (s *site) start(at string) *testoperator.Process {
	s.t.Helper()
	p, err := testoperator.Start(testoperator.Options{Path: s.program, Kubeconfig: s.role, Log: &s.log, Args: []string{
		"--admission-bind-address", fmt.Sprintf("%s:%d", at, s.admit),
		"--inspect-bind-address", fmt.Sprintf("%s:%d", at, s.port),
		"--dns-bind-address", fmt.Sprintf("%s:%d", at, s.dns),
		"--dialects", dialects, "--tenant-servers-allow", "127.0.0.1",
	}})
	s.must(err)
	s.t.Cleanup(p.Kill)
	return p
}

func (s *site) apply(objects string) {
	s.t.Helper()
	_, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(objects), "apply", "-f", "-")
	s.must(err)
}

// register has the API server know the operator as the chart does. Its Service leads to where this test runs it.
func (s *site) register() {
	s.t.Helper()
	chart, err := testoperator.Template(s.ctx, values, "inspect.yaml")
	s.must(err)
	s.apply(strings.ReplaceAll(chart, "port: 9444", fmt.Sprintf("port: %d", s.port)))
	s.apply(fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: zonefold-admission, namespace: %s},
  spec: {type: ExternalName, externalName: localhost}}`, testoperator.Namespace))
}

func (s *site) objects() string {
	text := fmt.Sprintf(`
{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: %[1]s}, stringData: {value: %[2]s}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: up}
spec: {rfc2136: {servers: ["%[3]s"], tsig: {keyName: zonefold., secretRef: {name: key}}}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: down}
spec: {rfc2136: {servers: ["%[4]s"], tsig: {keyName: zonefold., secretRef: {name: key}}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: dns}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata:
  name: inspect
  namespace: dns
spec:
  domainName: inspect.example.
  backendRefs: [{name: up}, {name: down}]
  delegations: [{namespaces: [a, b], records: [{pattern: "*"}]}]
`, testoperator.Namespace, tsig.Secret, s.bind.Addr(), s.nobody)
	text += fmt.Sprintf(others, s.nobody, s.bind.Addr(), tsig.Secret) + ownZone
	for i, ns := range []string{"a", "b"} {
		text += fmt.Sprintf(`---
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant, namespace: %[1]s}}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: %[1]s}
spec: {domainName: www-%[1]s.inspect.example., type: A, rdata: 192.0.2.%[2]d}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: %[1]s}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list]}
- {apiGroups: [dns.homelab.mortenolsen.pro], resources: [dnsrecords], verbs: [get, list]}
- {apiGroups: [extensions.gardener.cloud], resources: [dnsrecords], verbs: [get, list]}
- {apiGroups: [bindy.firestoned.io], resources: [dnszones], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: ServiceAccount, name: tenant, namespace: %[1]s}]
`, ns, i+1)
	}
	return text
}

// others are DNSRecords of the other dialects, in a namespace that is made later: those called up are at a server, and
// those called down are to be at one that is none.
const others = `---
{apiVersion: v1, kind: Namespace, metadata: {name: a}}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: down}
spec: {server: "http://%[1]s"}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: down, namespace: a}
spec: {type: A, domain: class.example, subdomain: www, values: [192.0.2.1], dnsClassRef: {name: down}}
---
{apiVersion: v1, kind: Secret, metadata: {name: up, namespace: a}, stringData: {Server: "%[2]s", TSIGKeyName: zonefold., TSIGSecret: %[3]s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: down, namespace: a}, stringData: {Server: "%[1]s", TSIGKeyName: zonefold., TSIGSecret: %[3]s}}
---
apiVersion: extensions.gardener.cloud/v1alpha1
kind: DNSRecord
metadata: {name: up, namespace: a, annotations: {gardener.cloud/operation: reconcile}}
spec: {type: rfc2136, secretRef: {name: up, namespace: a}, zone: shoot.example, name: api.shoot.example, recordType: A, values: [192.0.2.1]}
---
apiVersion: extensions.gardener.cloud/v1alpha1
kind: DNSRecord
metadata: {name: down, namespace: a, annotations: {gardener.cloud/operation: reconcile}}
spec: {type: rfc2136, secretRef: {name: down, namespace: a}, zone: shoot.example, name: api2.shoot.example, recordType: A, values: [192.0.2.1]}
`

// await waits until something does not fail any more.
func (s *site) await(what string, try func() error) {
	s.t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-s.ctx.Done():
			s.t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// raw gets a path of the API as a tenant.
func (s *site) raw(tenant, path string) (string, error) {
	out, err := s.cluster.RunKubectl(s.ctx, "--kubeconfig", s.tenants[tenant], "get", "--raw", path)
	return out, err
}

// explain runs a command as a tenant.
func (s *site) explain(tenant string, args ...string) (stdout string, code int) {
	s.t.Helper()
	return s.command(tenant, append([]string{"explain"}, args...)...)
}

// command runs one as a tenant.
func (s *site) command(tenant string, args ...string) (stdout string, code int) {
	s.t.Helper()
	var out, complaints bytes.Buffer
	code = cli.Run(s.ctx, cli.Env{
		Args: append([]string{"zonefold"}, args...), Stdin: strings.NewReader(""), Stdout: &out,
		Stderr: &complaints, Now: time.Now(), Getenv: func(name string) string {
			return map[string]string{"KUBECONFIG": s.tenants[tenant], "HOME": filepath.Dir(s.program)}[name]
		},
	})
	if code != 0 {
		return out.String() + complaints.String(), code
	}
	return out.String(), code
}

func recordPath(namespace, name string) string { return api.Path(namespace, "records", name) }
