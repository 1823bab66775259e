package support_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/version"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m, "../../config/crd")) }

// Secrets that are in the cluster, and data that --redact hides.
const (
	secretOfSecret = "c2VjcmV0LW9mLWEtU2VjcmV0LW9ubHk="
	secretOfField  = "plain-secret-of-a-DNSClass"
	secretOfURL    = "password-in-a-url"
	recordData     = "a text that only we know"
	recordAddress  = "192.0.2.77"
	serverAddress  = "192.0.2.78"
	frozenData     = "a text of a frozen zone"
)

// objects are what a bundle is about, and two people: one who may read all that is asked for but Secrets, and a tenant.
// The kubelet is at a port of this test.
const objects = `
{apiVersion: v1, kind: Namespace, metadata: {name: zonefold-system}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: zonefold-system}, stringData: {value: "%[1]s"}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: zonefold-operator, namespace: zonefold-system}}
---
apiVersion: v1
kind: Node
metadata: {name: support}
---
apiVersion: v1
kind: Pod
metadata:
  name: operator
  namespace: zonefold-system
  labels: {app.kubernetes.io/name: zonefold-operator}
spec:
  nodeName: support
  serviceAccountName: zonefold-operator
  automountServiceAccountToken: false
  containers:
  - name: operator
    image: zonefold/operator
    env: [{name: TOKEN, value: "%[1]s"}]
    ports: [{name: metrics, containerPort: 8080}]
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata:
  name: support
  annotations: {example.org/note: "http://someone:%[3]s@kept.example/"}
spec: {powerdns: {url: "http://127.0.0.1:9/", secretRef: {name: key}}}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: support}
spec: {server: "http://127.0.0.1:9/", hmacAuth: {secret: "%[2]s"}}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: text, namespace: team}
spec: {domainName: text.example.org., type: TXT, rdata: "\"%[4]s\""}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: team}
spec: {domainName: www.example.org., type: A, rdata: "%[5]s"}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: frozen, namespace: team}
spec:
  zoneName: frozen.example
  soaRecord: {primaryNs: ns.frozen.example., adminEmail: noc.frozen.example.}
  nameServerIps: {ns.frozen.example.: "%[6]s"}
---
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: about-www, namespace: team}
eventTime: "2026-11-26T07:00:00.000000Z"
reason: Conflict
action: Look
type: Warning
note: "www.example.org. has %[5]s already"
regarding: {apiVersion: kubi.zone/v1alpha1, kind: Record, namespace: team, name: www}
reportingController: zonefold
reportingInstance: zonefold
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: support}
rules:
- {apiGroups: [""], resources: [pods, pods/log], verbs: [get, list]}
- {apiGroups: [zonefold.dev, kubi.zone, dns.homelab.mortenolsen.pro, bindy.firestoned.io, extensions.gardener.cloud,
  externaldns.k8s.io, events.k8s.io, apiextensions.k8s.io, apps, coordination.k8s.io], resources: ["*"], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: support}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: support}
subjects: [{kind: User, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: team}
rules: [{apiGroups: [kubi.zone], resources: [records], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: User, name: tenant}]
`

// kubelet is what the API server asks for logs.
func kubelet(t *testing.T) (port int) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/containerLogs/zonefold-system/operator/operator" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"msg":"it failed","server":"http://someone:%s@127.0.0.1:9/","data":"%s"}`+"\n", secretOfURL,
			recordAddress)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

// support runs the command and returns the files of its bundle, and what it says.
func support(t *testing.T, kubeconfig string, args ...string) (files map[string]string, said string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "bundle.tar.gz")
	var out bytes.Buffer
	args = append([]string{"zonefold", "support", "--kubeconfig", kubeconfig, "--to", to}, args...)
	code := cli.Run(t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Now: time.Now(), Version: version.Info{Version: "v0"}, Getenv: func(string) string { return "" }})
	if code != 0 {
		t.Fatalf("support ends with %d: %s", code, out.String())
	}
	file, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the bundle: %v, %v", info.Mode(), err)
	}
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for archive := tar.NewReader(packed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{secretOfSecret, "secret-of-a-Secret", secretOfField, secretOfURL} {
			if bytes.Contains(text, []byte(secret)) || strings.Contains(out.String(), secret) {
				t.Errorf("%s has the secret %s:\n%s", header.Name, secret, text)
			}
		}
		name, found := strings.CutPrefix(header.Name, "zonefold-support/")
		if !found || path.Clean(name) != name || strings.HasPrefix(name, ".") {
			t.Errorf("the bundle has a file %q", header.Name)
		}
		files[name] = string(text)
	}
	return files, out.String()
}

// holds requires texts in a file of a bundle.
func holds(t *testing.T, files map[string]string, name string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(files[name], text) {
			t.Errorf("%s does not have %q:\n%s", name, text, files[name])
		}
	}
}

func TestABundleHasWhatOneMayReadAndNoSecret(t *testing.T) {
	cluster := testcluster.ForTest(t)
	text := fmt.Sprintf(objects, secretOfSecret, secretOfField, secretOfURL, recordData, recordAddress,
		serverAddress)
	if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(text), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	status := fmt.Sprintf(`{"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
		"daemonEndpoints": {"kubeletEndpoint": {"Port": %d}}}}`, kubelet(t))
	if said, err := cluster.RunKubectl(t.Context(), "patch", "node", "support", "--subresource=status", "--type=merge",
		"-p", status); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	status = fmt.Sprintf(`{"status": {"published": "+ www.frozen.example. 60 IN TXT \"%s\"\n"}}`, frozenData)
	if said, err := cluster.RunKubectl(t.Context(), "patch", "dnszone.bindy.firestoned.io", "frozen", "-n", "team",
		"--subresource=status", "--type=merge", "-p", status); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Run("who may read all but Secrets has all but what needs more", func(t *testing.T) {
		files, said := support(t, cluster.Kubeconfig(), "--as", "reader")
		holds(t, files, "versions.json", `"command": "v0"`, `"gitVersion"`, `"name": "zones.kubi.zone"`, `"v1alpha1"`)
		holds(t, files, "doctor.json", `"findings"`, "Lease zonefold-system/zonefold-operator")
		holds(t, files, "operator/operator/pod.json", `"name": "operator"`)
		holds(t, files, "operator/operator/operator.log", "it failed", recordAddress)
		holds(t, files, "objects/kubi.zone/records.jsonl", `"name":"www"`, recordAddress, recordData)
		holds(t, files, "objects/zonefold.dev/backends.jsonl", `"name":"support"`, "kept")
		holds(t, files, "objects/dns.homelab.mortenolsen.pro/dnsclasses.jsonl", "(left out)", `"name":"support"`)
		holds(t, files, "events.jsonl", "about-www", recordAddress)
		holds(t, files, "contents.json", "operator/operator/metrics.txt: you may not read it", "the Lease of the operator: ")
		if !strings.Contains(said, "missing: operator/operator/metrics.txt: you may not read it") {
			t.Errorf("it does not say what is missing:\n%s", said)
		}
		if strings.Contains(files["objects/kubi.zone/records.jsonl"], "managedFields") {
			t.Error("managers of fields are in the bundle")
		}
	})
	t.Run("with --redact no data of a record is anywhere", func(t *testing.T) {
		files, _ := support(t, cluster.Kubeconfig(), "--as", "reader", "--redact")
		for name, text := range files {
			for _, data := range []string{recordAddress, recordData, serverAddress, frozenData} {
				if strings.Contains(text, data) {
					t.Errorf("%s has the data %s:\n%s", name, data, text)
				}
			}
		}
		var record struct {
			Spec struct{ RData string }
		}
		for line := range strings.Lines(files["objects/kubi.zone/records.jsonl"]) {
			if strings.Contains(line, `"name":"www"`) {
				if err := json.Unmarshal([]byte(line), &record); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !strings.HasPrefix(record.Spec.RData, "data-") {
			t.Fatalf("in the place of data is %q", record.Spec.RData)
		}
		holds(t, files, "events.jsonl", record.Spec.RData)
		holds(t, files, "operator/operator/operator.log", record.Spec.RData)
	})
	t.Run("a tenant has its own, and a list of what it may not read", func(t *testing.T) {
		files, _ := support(t, cluster.Kubeconfig(), "--as", "tenant", "-n", "team")
		holds(t, files, "objects/kubi.zone/records.jsonl", `"name":"www"`)
		holds(t, files, "contents.json", "records.kubi.zone in namespaces other than team: you may not list them",
			"backends.zonefold.dev: you may not read it", "CustomResourceDefinitions: you may not read it",
			"Pods of the operator in namespace zonefold-system, their logs and metrics: you may not read it")
		if len(files) > 5 {
			t.Errorf("it has %d files", len(files))
		}
	})
	t.Run("a bundle that is full says what has no room", func(t *testing.T) {
		for i := range 6 {
			record := fmt.Sprintf(`{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: large-%d, namespace: team},
				spec: {domainName: large.example.org., type: TXT, rdata: "%s"}}`, i, strings.Repeat("x", 200_000))
			if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(record), "create", "-f", "-"); err != nil {
				t.Fatalf("%v: %.300s", err, said)
			}
		}
		files, _ := support(t, cluster.Kubeconfig(), "--as", "reader", "--max-size", "1")
		holds(t, files, "contents.json", "records.kubi.zone: the bundle has no room for more; there are those of the first ")
	})
}
