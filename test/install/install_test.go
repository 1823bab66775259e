// Package install_test installs zonefold by the commands of docs/install.md.
package install_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	if os.Getenv(asZonefold) != "" {
		os.Exit(beZonefold())
	}
	os.Exit(testcluster.Main(m))
}

const image = "registry.example.org/you/zonefold-operator:1"

// steps are the blocks of commands in docs/install.md, in their order. Images are neither built nor pushed: there is no
// registry, and building takes minutes; what the programs are told is compared instead. Pods do not start without a
// kubelet, so nobody waits for them.
func steps() []step {
	return []step{
		{begins: "make image VERSION=1", told: []string{"go env GOFLAGS", "go run ./hack/image -version 1"}},
		{begins: "IMAGE=registry.example.org/", told: []string{
			"skopeo copy --all oci-archive:dist/operator.tar docker://" + image}},
		{begins: "docker build", told: []string{
			"docker build --target operator --build-arg VERSION=1 -t " + image + " .", "docker push " + image}},
		{begins: "helm install", after: (*site).chartIsInstalled},
		{begins: "--set dialects.bindy=true", before: (*site).asMoreOfHelmInstall, after: (*site).fleetsAreOn},
		{begins: "kubectl label namespace", after: (*site).namespaceIsRestricted},
		{begins: "sed ", before: (*site).withoutHelm, after: (*site).manifestIsApplied},
		{begins: "make build", before: (*site).withoutOperator, runs: true, told: []string{
			"go env GOFLAGS", "go build -v -o bin/ ./cmd/..."}},
	}
}

// A step is a block of commands, and what comes of it.
type step struct {
	begins string
	before func(*site, string) string // what has to be so, and what the block is then
	told   []string                   // what programs are told that are not there
	after  func(*site)
	runs   bool // the last command is the operator, which does not end
}

func TestInstalling(t *testing.T) {
	blocks, steps := blocksOf(t, "../../docs/install.md"), steps()
	if len(blocks) != len(steps) {
		t.Fatalf("docs/install.md has %d blocks of commands, and this test knows %d", len(blocks), len(steps))
	}
	s := newSite(t, blocks)
	for i, step := range steps {
		block := blocks[i]
		if !strings.HasPrefix(strings.TrimSpace(block), step.begins) {
			t.Fatalf("block %d of docs/install.md does not begin with %q:\n%s", i+1, step.begins, block)
		}
		if step.before != nil {
			block = step.before(s, block)
		}
		if step.runs {
			s.operate(block)
		} else if out, err := s.shell(s.ctx, block).CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s\n%s", err, block, out)
		}
		if told := s.told(); !slices.Equal(told, step.told) {
			t.Errorf("the block that begins with %q says\n%q, not\n%q", step.begins, told, step.told)
		}
		if step.after != nil {
			step.after(s)
		}
	}
}

// blocksOf returns the blocks of commands of a page.
func blocksOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, part := range strings.Split(string(text), "```") {
		language, block, _ := strings.Cut(part, "\n")
		if i%2 == 0 {
			continue
		}
		if language != "sh" {
			t.Errorf("%s has a block of %q", page, language)
		}
		out = append(out, block)
	}
	return out
}

// A site is a cluster, and a folder that looks like a clone of the repository.
type site struct {
	t       *testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
	blocks  []string
	clone   string
	home    string
	tools   string
}

func newSite(t *testing.T, blocks []string) *site {
	t.Helper()
	s := &site{t: t, ctx: t.Context(), cluster: testcluster.ForTest(t), blocks: blocks,
		clone: t.TempDir(), home: t.TempDir(), tools: t.TempDir()}
	root, err := testoperator.ModuleRoot(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := testoperator.Build(s.ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Makefile", "charts", "config"} {
		s.must(os.Symlink(filepath.Join(root, name), filepath.Join(s.clone, name)))
	}
	s.must(os.Mkdir(filepath.Join(s.clone, "bin"), 0o755))
	s.must(os.Mkdir(filepath.Join(s.home, ".kube"), 0o755))
	s.must(os.Symlink(s.cluster.Kubeconfig(), filepath.Join(s.home, ".kube", "config")))
	s.script(filepath.Join(s.clone, "bin", "operator"),
		fmt.Sprintf("exec %q \"$@\" --metrics-bind-address 0 --health-probe-bind-address 0", operator))
	for _, name := range []string{"skopeo", "docker", "go"} {
		s.script(filepath.Join(s.tools, name), fmt.Sprintf("echo \"${0##*/} $*\" >>%q", filepath.Join(s.home, "told")))
	}
	s.script(filepath.Join(s.tools, "helm"), fmt.Sprintf(
		"cd %q\nHOME=%q PATH=%q exec go tool -modfile=charts/go.mod helm \"$@\"", root, os.Getenv("HOME"), os.Getenv("PATH")))
	s.script(filepath.Join(s.tools, "kubectl"), fmt.Sprintf(
		"[ \"$1\" != rollout ] || set -- \"$@\" --watch=false\nexec %q \"$@\"", s.cluster.Kubectl()))
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) script(path, text string) {
	s.t.Helper()
	s.must(os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

// shell executes commands in the folder of the clone, as one who has said which image it is.
func (s *site) shell(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", script)
	cmd.Dir = s.clone
	cmd.Env = append(cmd.Environ(), "HOME="+s.home, "KUBECONFIG="+s.cluster.Kubeconfig(),
		"PATH="+s.tools+":"+os.Getenv("PATH"), "IMAGE="+image,
		"HELM_CACHE_HOME="+s.home, "HELM_CONFIG_HOME="+s.home, "HELM_DATA_HOME="+s.home)
	return cmd
}

// told are the commands that were written down since it was asked last.
func (s *site) told() []string {
	s.t.Helper()
	path := filepath.Join(s.home, "told")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	s.must(err)
	s.must(os.Remove(path))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func (s *site) kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	s.must(err)
	return out
}

// holds complains if a part of an object is not what it should be.
func (s *site) holds(want, object, path string) {
	s.t.Helper()
	if is := s.kubectl("get", "-n", testoperator.Namespace, object, "-o", "jsonpath="+path); !strings.Contains(is, want) {
		s.t.Errorf("%s has as %s %q, not %q", object, path, is, want)
	}
}

const (
	deployment = "deployment/zonefold-operator"
	container  = "{.spec.template.spec.containers[0]}"
)

func (s *site) chartIsInstalled() {
	s.holds(`"image":"`+image+`"`, deployment, container)
	s.holds("Established", "crd/zones.kubi.zone", "{.status.conditions[*].type}")
}

// asMoreOfHelmInstall makes flags that stand alone more flags of helm install.
func (s *site) asMoreOfHelmInstall(block string) string {
	s.uninstall()
	install, _, _ := strings.Cut(s.blocks[3], "\nkubectl ")
	return install + " \\\n" + block
}

func (s *site) fleetsAreOn() {
	const yours = "registry.example.org/you/"
	for _, flag := range []string{"bindy", yours + "zonefold-bindcar:1", yours + "zonefold-bind9"} {
		s.holds(flag, deployment, container)
	}
}

func (s *site) namespaceIsRestricted() {
	s.holds("restricted", "namespace/"+testoperator.Namespace, "{.metadata.labels}")
}

func (s *site) uninstall() {
	s.t.Helper()
	_, err := testoperator.Helm(s.ctx, "uninstall", "zonefold", "-n", testoperator.Namespace,
		"--kubeconfig", s.cluster.Kubeconfig())
	s.must(err)
}

func (s *site) withoutHelm(block string) string {
	s.t.Helper()
	s.uninstall()
	return block
}

func (s *site) manifestIsApplied() { s.holds(`"image":"`+image+`"`, deployment, container) }

// withoutOperator leaves what an operator outside of the cluster needs: the definitions and the namespace.
func (s *site) withoutOperator(block string) string {
	s.t.Helper()
	s.kubectl("delete", "-n", testoperator.Namespace, deployment)
	return block
}

// operate executes commands the last of which is the operator, and waits until that acts.
func (s *site) operate(script string) {
	s.t.Helper()
	var said bytes.Buffer
	cmd := s.shell(s.ctx, script)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // the shell, and the operator
	s.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	testcluster.Eventually(s.ctx, s.t, "the operator leads", func() string {
		select {
		case err := <-ended:
			s.t.Fatalf("it has ended: %v\n%s", err, &said)
		default:
		}
		return s.leader()
	})
	s.must(cmd.Cancel())
	<-ended
}

// leader returns "" if an operator leads.
func (s *site) leader() string {
	out, err := s.cluster.RunKubectl(s.ctx, "get", "lease", "-n", testoperator.Namespace, "zonefold-operator",
		"-o", "jsonpath={.spec.holderIdentity}")
	if err != nil {
		return err.Error()
	}
	if out == "" {
		return "nobody leads"
	}
	return ""
}
