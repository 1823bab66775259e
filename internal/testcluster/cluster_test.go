package testcluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(childRole) != "" {
		holdAChild()
	}
	if os.Getenv(childNode) != "" {
		holdANode()
	}
	os.Exit(MainWith(m, Options{ControllerManager: true, CRDs: []string{"testdata/crds"}}))
}

func TestClusterServes(t *testing.T) {
	c := inNamespace(t)
	c.kubectl("create", "configmap", "served", "--from-literal=x=y")
	if got := c.kubectl("get", "configmap", "served", "-o", "jsonpath={.data.x}"); got != "y" {
		t.Errorf("the ConfigMap holds %q, want y", got)
	}
	c.kubectlInput("{apiVersion: testcluster.example/v1, kind: Probe, metadata: {name: first}}", "apply", "-f", "-")
	if got := c.kubectl("version"); strings.Count(got, KubernetesVersion) != 2 {
		t.Errorf("kubectl and server are not both %s:\n%s", KubernetesVersion, got)
	}
}

func TestControllerManagerCollectsGarbage(t *testing.T) {
	c := inNamespace(t)
	c.kubectl("create", "configmap", "owner")
	uid := c.kubectl("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}")
	c.kubectlInput(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: [
		{apiVersion: v1, kind: ConfigMap, name: owner, uid: `+uid+`}]}}`, "apply", "-f", "-")
	c.kubectl("delete", "configmap", "owner")
	c.kubectl("wait", "--for=delete", "configmap/owned", "--timeout=60s")
}

func TestRestartAPIServer(t *testing.T) {
	c := inNamespace(t)
	c.kubectl("create", "configmap", "survivor")
	before, server := c.process(apiServerName).Pid, c.Server()
	if err := c.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := c.process(apiServerName).Pid; after == before {
		t.Errorf("process %d still serves", before)
	}
	if c.Server() != server {
		t.Errorf("the address changed from %s to %s", server, c.Server())
	}
	c.kubectl("get", "configmap", "survivor")
}

func TestKubeconfigForHasTheRightsOfTheServiceAccount(t *testing.T) {
	c := inNamespace(t)
	c.kubectl("create", "serviceaccount", "reader")
	c.kubectl("create", "role", "reader", "--verb=list", "--resource=configmaps")
	c.kubectl("create", "rolebinding", "reader", "--role=reader", "--serviceaccount="+c.name+":reader")
	path, err := c.KubeconfigFor(t.Context(), c.name, "reader")
	if err != nil {
		t.Fatal(err)
	}
	for resource, allowed := range map[string]bool{"configmaps": true, "secrets": false} {
		out, err := exec.CommandContext(t.Context(), c.Kubectl(), "--kubeconfig", path, "--namespace", c.name, "get",
			resource).CombinedOutput()
		if (err == nil) != allowed {
			t.Errorf("listing %s: %v, want allowed %v\n%s", resource, err, allowed, out)
		}
	}
	if _, err := c.KubeconfigFor(t.Context(), "default", "nobody"); err == nil || !strings.Contains(err.Error(),
		"default/nobody") {
		t.Errorf("a ServiceAccount that does not exist: %v, want an error naming it", err)
	}
}

func TestDetachedClusterIsFoundAndEnded(t *testing.T) {
	dir, link := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "link")
	c, err := Start(t.Context(), Options{Dir: dir, Detach: true, Mark: link})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	if _, err := Start(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second cluster in the folder: %v, want an error naming it", err)
	}
	found, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Alive(); err != nil {
		t.Error(err)
	}
	processes := found.running
	if err := found.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if now, err := processStart(p.Pid); err == nil && now == p.Started {
			t.Errorf("%s still runs as process %d", p.Name, p.Pid)
		}
	}
	if err := found.Alive(); err != nil {
		t.Errorf("nothing is left to have ended: %v", err)
	}
}

func TestFailedStartShowsTheLogAndLeavesNothing(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	_, err := Start(t.Context(), Options{APIServerFlags: []string{"--no-such-flag"}, Mark: link})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("the error is %v, want the last lines of kube-apiserver's log", err)
	}
	dir, err := os.Readlink(link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is still there: %v", dir, err)
	}
}

func TestInterruptedStartSaysSoBriefly(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("somebody pressed Ctrl-C"))
	_, err := Start(ctx, Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "somebody pressed Ctrl-C") {
		t.Errorf("the error is %v, want the cause of the interruption and no log", err)
	}
}

func TestOpenWithoutACluster(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open says %v, want os.ErrNotExist", err)
	}
}

func TestPinsAgreeWithTheToolModules(t *testing.T) {
	for file, pin := range map[string]string{
		"../../hack/cluster/k8s/go.mod":  "k8s.io/kubernetes " + KubernetesVersion + " ",
		"../../hack/cluster/etcd/go.mod": "go.etcd.io/etcd/server/v3 " + EtcdVersion + " ",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(pin)) {
			t.Errorf("%s does not require %q", file, pin)
		}
	}
}

func TestSecondBuilderWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := waitForLock(t.Context(), path, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	if _, err := waitForLock(impatient, path, func(path string) { said.WriteString("waiting for " + path) }); !errors.Is(
		err, context.DeadlineExceeded) || !strings.Contains(said.String(), "waiting") {
		t.Errorf("the second builder got %v and said %q", err, said.String())
	}
	unlock()
	again, err := waitForLock(t.Context(), path, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestSweepRemovesOnlyFoldersThatNobodyHolds(t *testing.T) {
	base, old := t.TempDir(), time.Now().Add(-time.Hour)
	for name, hold := range map[string]bool{"held": true, "left": false} {
		dir := filepath.Join(base, folderPrefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if hold {
			lock, err := lockFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(base, folderPrefix+"young"), 0o700); err != nil {
		t.Fatal(err)
	}
	sweep(base)
	for name, want := range map[string]bool{"held": true, "left": false, "young": true} {
		if _, err := os.Stat(filepath.Join(base, folderPrefix+name)); (err == nil) != want {
			t.Errorf("folder %s: %v, want it there: %v", name, err, want)
		}
	}
}

// A namespaced runs kubectl in a namespace of one test.
type namespaced struct {
	*Cluster
	t    *testing.T
	name string
}

func inNamespace(t *testing.T) namespaced {
	t.Helper()
	n := namespaced{Cluster: ForTest(t), t: t}
	n.name = n.kubectlInput("{apiVersion: v1, kind: Namespace, metadata: {generateName: test-}}", "create", "-o",
		"jsonpath={.metadata.name}", "-f", "-")
	return n
}

func (n namespaced) kubectl(args ...string) string {
	n.t.Helper()
	return n.kubectlInput("", args...)
}

func (n namespaced) kubectlInput(input string, args ...string) string {
	n.t.Helper()
	if n.name != "" {
		args = append([]string{"--namespace", n.name}, args...)
	}
	out, err := n.RunKubectlInput(n.t.Context(), strings.NewReader(input), args...)
	if err != nil {
		n.t.Fatal(err)
	}
	return out
}
