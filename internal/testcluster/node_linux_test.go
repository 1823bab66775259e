package testcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startNode starts a cluster with a node for one test.
func startNode(t *testing.T) namespaced {
	t.Helper()
	missing, err := missingNames(true)
	if err != nil || len(missing) > 0 {
		t.Fatalf("run this once, it takes about ten minutes: go run ./hack/cluster build (missing %v, %v)", missing, err)
	}
	c, err := Start(t.Context(), Options{Node: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	return namespaced{Cluster: c, t: t, name: "default"}
}

// answerImage makes an archive with the image that the tests' pods run.
func answerImage(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "answer")
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/answer")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive := program + ".tar"
	if err := writeImage(archive, "zonefold/answer:test", program); err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestNodeRunsPodsAndLeavesNothing(t *testing.T) {
	c := startNode(t)
	again, err := Open(c.Dir()) // as another program would
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Alive(), again.Node().Import(t.Context(), answerImage(t))); err != nil {
		t.Fatal(err)
	}
	if err := c.Node().Import(t.Context(), "testdata/answer.yaml"); err == nil || !strings.Contains(err.Error(),
		"testdata/answer.yaml") {
		t.Errorf("importing what is not an image: %v, want an error naming it", err)
	}
	c.kubectl("apply", "-f", "testdata/answer.yaml")
	c.kubectl("wait", "--for=condition=Ready", "pod/answer", "--timeout=60s")
	pod := c.kubectl("get", "pod", "answer", "-o", "jsonpath={.status.podIP}:7070")
	service := c.kubectl("get", "service", "answer", "-o", "jsonpath={.spec.clusterIP}:80")
	for _, address := range []string{pod, service} {
		c.awaitAnswer(address, "", "before")
	}
	c.awaitAnswer(pod, service, "connected") // through the Service to itself
	c.awaitAnswer(pod, c.Node().net.api().String()+":443", "connected")
	host, err := net.Listen("tcp", net.JoinHostPort(c.Node().HostAddress().String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	c.awaitAnswer(pod, host.Addr().String(), "connected")
	c.reachesServices()
	c.kubectl("patch", "secret", "text", "-p", `{"stringData": {"text": "after"}}`)
	c.awaitAnswer(service, "", "after")
	if out := c.kubectl("exec", "answer", "--", "/answer", "said"); out != "said\n" {
		t.Errorf("a program run in the pod says %q", out)
	}

	left := tracesOf(t, c.Cluster)
	left.check(t, true)
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}
	left.check(t, false)
}

// reachesServices asks for a Service whose pod is ready while kube-proxy stands still, as it does on a busy machine.
func (n namespaced) reachesServices() {
	n.t.Helper()
	outside := n.process(kubeProxyName).Pid // nsenter, which stops with its child but does not go on with it
	pids, err := children(outside)
	if err != nil || len(pids) == 0 {
		n.t.Fatalf("kube-proxy is the processes %v: %v", pids, err)
	}
	pids = append(pids, outside)
	send := func(s syscall.Signal) {
		for _, pid := range pids {
			if err := syscall.Kill(pid, s); err != nil {
				n.t.Fatal(err)
			}
		}
	}
	send(syscall.SIGSTOP)
	defer send(syscall.SIGCONT)
	n.kubectl("create", "service", "clusterip", "answer-late", "--tcp=80:7070")
	n.kubectl("patch", "service", "answer-late", "-p", `{"spec": {"selector": {"app": "answer"}}}`)
	n.kubectl("wait", "--for=jsonpath={.endpoints[0].conditions.ready}=true", "endpointslices", "-l",
		"kubernetes.io/service-name=answer-late", "--timeout=60s")
	early, cancel := context.WithTimeout(n.t.Context(), 2*answerWithin)
	defer cancel()
	if at, err := n.Service(early, "default", "answer-late"); err == nil {
		n.t.Errorf("the Service is said to answer at %s, which kube-proxy has not heard of", at)
	}
	send(syscall.SIGCONT)
	at, err := n.Service(n.t.Context(), "default", "answer-late")
	if err != nil {
		n.t.Fatal(err)
	}
	if got := ask(at.At(80).String(), ""); got != "before" {
		n.t.Errorf("at once, the Service answers %q", got)
	}
}

// awaitAnswer asks the program in the pod until it answers as wanted.
func (n namespaced) awaitAnswer(address, question, want string) {
	n.t.Helper()
	var last string
	for deadline := time.Now().Add(readyWithin); last != want; {
		if last = ask(address, question); last != want && time.Now().After(deadline) {
			n.t.Fatalf("%s answers %q, want %q", address, last, want)
		}
	}
}

func ask(address, question string) string {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	fmt.Fprintln(conn, question)
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

func TestTwoNodesDoNotMeet(t *testing.T) {
	var nodes []*Node
	for range 2 {
		c := Cluster{log: t.Output()}
		if err := c.prepare(t.Context(), Options{Node: true}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
		}()
		nodes = append(nodes, c.node)
	}
	if a, b := nodes[0].net.block(), nodes[1].net.block(); a.Overlaps(b) {
		t.Errorf("both nodes took %s", a)
	}
	for _, n := range nodes {
		if out, err := n.Command(t.Context(), "ip", "-brief", "address", "show", "eth0").Output(); err != nil ||
			!strings.Contains(string(out), n.Address().String()) {
			t.Errorf("inside the node %s there is %q (%v)", n.Address(), out, err)
		}
	}
}

func TestWhatANodeLacksIsNamed(t *testing.T) {
	if err := nodeNeeds(os.Geteuid()); err != nil {
		t.Errorf("on a machine with everything: %v", err)
	}
	if err := nodeNeeds(1000); err == nil || !strings.Contains(err.Error(), "needs root") {
		t.Errorf("for a user who is not root: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	for _, word := range []string{"containerd (Debian package containerd)", "crun", "go run ./hack/prerequisites"} {
		if err := nodeNeeds(0); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("on a machine without programs: %v, want it to name %s", err, word)
		}
	}
	if _, err := Start(t.Context(), Options{Images: []string{"image.tar"}}); err == nil || !strings.Contains(err.Error(),
		"image.tar") {
		t.Errorf("images without a node: %v, want an error naming them", err)
	}
}

func TestImagesAreNamedAsKubeletAsks(t *testing.T) {
	for name, want := range map[string]string{
		"pause:1":                      "docker.io/library/pause:1",
		"zonefold/bind9:9.18":          "docker.io/zonefold/bind9:9.18",
		"docker.io/zonefold/bind9:1":   "docker.io/zonefold/bind9:1",
		"localhost/bind9:1":            "localhost/bind9:1",
		"registry.example:5000/bind:1": "registry.example:5000/bind:1",
	} {
		if got := fullName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	printed := "unpacking docker.io/zonefold/a:1 (sha256:00)...done\nunpacking import-2026@sha256:00 " +
		"(sha256:00)...done\nunpacking b:2 (sha256:01)...done\n"
	if got := importedNames(printed); strings.Join(got, " ") != "docker.io/zonefold/a:1 b:2" {
		t.Errorf("%q", got)
	}
}
