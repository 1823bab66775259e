// Package moving_test moves to zonefold from what is in the cluster before, by the commands of the documents.
package moving_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// A site is a cluster.
type site struct {
	t       *testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
}

func (s *site) kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *site) has(what ...string) bool {
	s.t.Helper()
	return s.kubectl(append([]string{"get", "--ignore-not-found", "-o", "name"}, what...)...) != ""
}

// existingKinds are those that the existing Bindy defines, by plural; it has no PTRRecord.
func existingKinds() map[string]string {
	return map[string]string{
		"clusterbind9providers": "ClusterBind9Provider", "bind9clusters": "Bind9Cluster", "bind9instances": "Bind9Instance",
		"dnszones": "DNSZone",
		"arecords": "ARecord", "aaaarecords": "AAAARecord", "cnamerecords": "CNAMERecord", "txtrecords": "TXTRecord",
		"mxrecords": "MXRecord",
		"nsrecords": "NSRecord", "srvrecords": "SRVRecord", "caarecords": "CAARecord",
	}
}

// definition is a definition of the existing Bindy, as far as names, versions and parts go.
func definition(plural, kind string) string {
	scope := "Namespaced"
	if kind == "ClusterBind9Provider" {
		scope = "Cluster"
	}
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.bindy.firestoned.io}
spec:
  group: bindy.firestoned.io
  scope: %[3]s
  names: {plural: %[1]s, kind: %[2]s, singular: %[4]s}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Theirs, type: string, jsonPath: .spec.theirs}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {theirs: {type: string}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, plural, kind, scope, strings.ToLower(kind))
}

// theirObjects are objects in forms of the existing Bindy, with what its operator leaves in them.
const theirObjects = `
apiVersion: bindy.firestoned.io/v1beta1
kind: Bind9Cluster
metadata: {name: dns, namespace: default, labels: {app: dns}}
spec: {version: "9.18", primary: {replicas: 1}, secondary: {replicas: 1}, global: {recursion: false, allowQuery: [any]}}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: example-com, namespace: default}
spec:
  zoneName: example.com
  clusterRef: dns
  soaRecord: {primaryNs: ns1.example.com., adminEmail: admin.example.com., serial: 2026010101, refresh: 3600, retry: 600, expire: 604800, negativeTtl: 86400}
  recordsFrom: [{selector: {matchLabels: {zone: example.com}}}]
---
apiVersion: bindy.firestoned.io/v1beta1
kind: ARecord
metadata: {name: www, namespace: default, labels: {zone: example.com}, finalizers: [arecord.bindy.firestoned.io/finalizer]}
spec: {name: www, ipv4Addresses: [192.0.2.1], theirs: left}
`

// TestMovingFromTheExistingBindy does what docs/bindy.md says, in a cluster that has the existing definitions and
// objects.
func TestMovingFromTheExistingBindy(t *testing.T) {
	s := &site{t, t.Context(), testcluster.ForTest(t)}
	definitions := ""
	for plural, kind := range existingKinds() {
		definitions += definition(plural, kind)
	}
	s.input(definitions, "create", "-f", "-")
	s.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	s.input(theirObjects, "create", "-f", "-")
	objects := []string{"bind9clusters/dns", "dnszones/example-com", "arecords/www"}
	uids := map[string]string{}
	for _, o := range objects {
		uids[o] = s.kubectl("get", o, "-o", "jsonpath={.metadata.uid}")
	}

	s.run(commands(t, "../../docs/bindy.md", "To move:"))

	for _, file := range files(t, "../../config/crd/*.yaml") {
		if !strings.HasPrefix(filepath.Base(file), "bindy.") {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "bindy.firestoned.io_"), ".yaml") +
			".bindy.firestoned.io"
		spec := s.kubectl("get", "crd", name, "-o", "json")
		if strings.Contains(spec, "heirs") {
			t.Errorf("of the existing definition something is left in %s", name)
		}
		if out, err := s.cluster.RunKubectl(s.ctx, "diff", "--server-side", "--force-conflicts", "-f", file); err != nil {
			t.Errorf("%s is not what the cluster has: %v\n%s", file, err, out)
		}
	}
	s.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
	for _, o := range objects {
		if uid := s.kubectl("get", o, "-o", "jsonpath={.metadata.uid}"); uid != uids[o] {
			t.Errorf("%s is another object", o)
		}
		s.kubectl("label", o, "moved=yes") // the schema takes what was there
	}
	if !s.has("deployment", "-n", "zonefold-system", "zonefold-operator") {
		t.Error("there is no operator")
	}
}

func (s *site) input(text string, args ...string) {
	s.t.Helper()
	if _, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(text), args...); err != nil {
		s.t.Fatal(err)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(found), err)
	}
	return found
}

// commands are the blocks of a shell that follow a line of a page, up to its next heading.
func commands(t *testing.T, page, line string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n"+line+"\n")
	if !ok {
		t.Fatalf("%s has no line %q", page, line)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var out []string
	for i, part := range strings.Split(section, "```") {
		if block, found := strings.CutPrefix(part, "sh\n"); found && i%2 == 1 {
			out = append(out, block)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no commands after %q", page, line)
	}
	return strings.Join(out, "\n")
}

// run has a shell execute commands in the folder of the repository, with kubectl and helm of the tests.
func (s *site) run(script string) {
	s.t.Helper()
	programs, home := s.t.TempDir(), s.t.TempDir()
	for name, text := range map[string]string{
		"kubectl": fmt.Sprintf("exec %q --cache-dir %q \"$@\"", s.cluster.Kubectl(), home),
		"helm":    `exec go tool -modfile=charts/go.mod helm "$@"`,
	} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(s.ctx, "sh", "-eux", "-c", script)
	cmd.Dir = "../.."
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+s.cluster.Kubeconfig(), "PATH="+programs+":"+os.Getenv("PATH"),
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v:\n%s", err, out)
	}
}
