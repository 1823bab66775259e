// Package scenario tests the whole way: objects in a real API server, the operator's
// own binary, and real name servers that answer.
package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	code := testcluster.MainWith(m, testcluster.Options{ControllerManager: true, CRDs: []string{"../../config/crd"}})
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the operator's binary, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

var key = nameserver.TSIG{Name: name("zonefold."), Algorithm: "hmac-sha256", Secret: "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"}

// world is what one test works with. Its cluster is shared, so each test begins with a
// cluster that has no objects of ours and no operator.
type world struct {
	t       *testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
	op      *testoperator.Process
	log     *bytes.Buffer
	logMu   sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "zonefold-scenario"); built.err == nil {
			built.path, built.err = testoperator.Build(context.Background(), built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, cluster: testcluster.ForTest(t), log: &bytes.Buffer{}}
	w.kubectlQuiet("create", "namespace", testoperator.Namespace)
	t.Cleanup(w.clear)
	return w
}

// Write collects the operator's log.
func (w *world) Write(p []byte) (int, error) {
	w.logMu.Lock()
	defer w.logMu.Unlock()
	return w.log.Write(p)
}

func (w *world) clear() {
	if w.op != nil {
		w.op.Kill()
	}
	if w.t.Failed() {
		w.logMu.Lock()
		text := w.log.String()
		w.logMu.Unlock()
		w.t.Logf("the operator's log ends:\n%s", text[max(0, len(text)-8000):])
	}
	w.ctx = context.Background()
	out, _ := w.cluster.RunKubectl(w.ctx, "get", "zones.kubi.zone", "-A", "-o", `jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}`)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 2 {
			w.kubectlQuiet("patch", "zones.kubi.zone", "-n", f[0], f[1], "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
	}
	w.kubectlQuiet("delete", "zones.kubi.zone,records.kubi.zone,zoneslices.zonefold.dev", "-A", "--all", "--wait=false")
	w.kubectlQuiet("delete", "backends.zonefold.dev", "--all", "--wait=false")
	w.kubectlQuiet("delete", "secrets,leases", "-n", testoperator.Namespace, "--all")
}

func (w *world) start(args ...string) {
	w.t.Helper()
	p, err := testoperator.Start(testoperator.Options{Path: built.path, Kubeconfig: w.cluster.Kubeconfig(), Args: args, Log: w, NoElection: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.op = p
}

func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	out, err := w.cluster.RunKubectl(w.ctx, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) kubectlQuiet(args ...string) { _, _ = w.cluster.RunKubectl(w.ctx, args...) }

// apply sends YAML; %-arguments are filled in.
func (w *world) apply(yaml string, args ...any) {
	w.t.Helper()
	if out, err := w.tryApply(fmt.Sprintf(yaml, args...)); err != nil {
		w.t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

func (w *world) tryApply(yaml string) (string, error) {
	return w.cluster.RunKubectlInput(w.ctx, strings.NewReader(yaml), "apply", "-f", "-")
}

// bind starts a BIND with empty zones.
func (w *world) bind(zones ...string) *nameserver.Server {
	w.t.Helper()
	opts := nameserver.Options{Dir: w.t.TempDir(), Keys: []nameserver.TSIG{key}}
	for _, z := range zones {
		opts.Zones = append(opts.Zones, nameserver.Zone{Name: name(z)})
	}
	s, err := nameserver.StartBIND(w.ctx, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.Close)
	return s
}

// backend creates a Backend for servers, with more fields of its spec.
func (w *world) backend(name string, spec string, servers ...*nameserver.Server) {
	w.t.Helper()
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, fmt.Sprintf("%q", s.Addr()))
	}
	w.apply(`
apiVersion: v1
kind: Secret
metadata: {name: tsig, namespace: %s}
stringData: {secret: %s}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: %s}
spec:
  rfc2136:
    servers: [%s]
    tsig: {keyName: zonefold., secretRef: {name: tsig}}
  %s
`, testoperator.Namespace, key.Secret, name, strings.Join(addrs, ", "), strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  "))
}

// eventually waits until check returns "", and fails with what it returned last.
func (w *world) eventually(what string, check func() string) {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		trouble := check()
		if trouble == "" {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: %s", what, trouble)
		}
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("%s: %s (%v)", what, trouble, w.ctx.Err())
		}
	}
}

// answers waits until a server answers a question with exactly the data, in any order.
func (w *world) answers(s *nameserver.Server, owner, rrtype string, want ...string) {
	w.t.Helper()
	t, err := rr.ParseType(rrtype)
	if err != nil {
		w.t.Fatal(err)
	}
	expected := rr.NewSet(rr.Key{Name: name(owner), Type: t}, 0, want...)
	w.eventually(owner+" "+rrtype, func() string {
		answer, err := s.Lookup(w.ctx, expected.Key())
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, set := range answer.Sets {
			if set.Key() == expected.Key() {
				got = set.Data
			}
		}
		if strings.Join(got, "|") != strings.Join(expected.Data, "|") {
			return fmt.Sprintf("the server says %q, not %q", got, expected.Data)
		}
		return ""
	})
}

// field waits until a field of an object, by JSONPath, has the value.
func (w *world) field(object, namespace, path, want string) {
	w.t.Helper()
	w.eventually(object+" "+path, func() string {
		got, err := w.cluster.RunKubectl(w.ctx, "get", object, "-n", namespace, "-o", "jsonpath={"+path+"}")
		if err != nil {
			return err.Error()
		}
		if got != want {
			return fmt.Sprintf("it is %q, not %q", got, want)
		}
		return ""
	})
}

func cond(kind, field string) string {
	return fmt.Sprintf(`.status.conditions[?(@.type=="%s")].%s`, kind, field)
}

func name(s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		panic(err)
	}
	return n
}

func root(parts ...string) string { return filepath.Join(append([]string{"..", ".."}, parts...)...) }
