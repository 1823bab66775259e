package install_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
	"github.com/zonefold/zonefold/internal/version"
)

// asZonefold is the variable that has the program of this test be the command zonefold.
const asZonefold = "INSTALL_TEST_AS_ZONEFOLD"

// beZonefold runs the command in the place of the tests.
func beZonefold() int {
	return cli.Run(context.Background(), cli.Env{Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now(), Getenv: os.Getenv, Version: version.Info{Version: "v0.0.0-test"}})
}

// A lesson is a block of commands, and what the page says that it prints; "" where it says nothing.
type lesson struct{ commands, prints string }

// lessons are the blocks of commands of a page, each with the block that comes right after it.
func lessons(t *testing.T, page string) []lesson {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pair := regexp.MustCompile("(?ms)^```sh\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?")
	var all []lesson
	for _, m := range pair.FindAllStringSubmatch(string(text), -1) {
		all = append(all, lesson{m[1], m[2]})
	}
	if fences := strings.Count(string(text), "```\n"); fences < 2*len(all) || len(all) < 5 {
		t.Fatalf("%s has %d blocks of commands, which cannot be all", page, len(all))
	}
	return all
}

// TestTheFirstHour takes the steps of docs/first-hour.md and compares what they print. The operator is a process beside
// the cluster, so no port has to be forwarded: dig asks it where it listens.
func TestTheFirstHour(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	port, release, err := nameserver.ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	s := newClassroom(ctx, t, port)
	for i, lesson := range lessons(t, "../../docs/first-hour.md") {
		cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", lesson.commands)
		cmd.Dir = s.home
		cmd.Env = append(cmd.Environ(), "HOME="+s.home, "KUBECONFIG="+s.cluster.Kubeconfig(),
			"PATH="+s.tools+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("block %d: %v\n%s\n%s", i+1, err, lesson.commands, out)
		}
		if got := settled(string(out)); got != settled(lesson.prints) {
			t.Errorf("block %d:\n%s\nprints\n%s\nand the page shows\n%s", i+1, lesson.commands, got, lesson.prints)
		}
	}
}

// settled is an output without what differs from run to run: serials.
func settled(text string) string {
	return regexp.MustCompile(`\b20\d{8}\b`).ReplaceAllString(strings.TrimSpace(text), "SERIAL")
}

// A classroom is a cluster with an operator that is a name server, and the programs that the page uses.
type classroom struct {
	cluster     *testcluster.Cluster
	home, tools string
}

func newClassroom(ctx context.Context, t *testing.T, port uint16) *classroom {
	t.Helper()
	s := &classroom{cluster: testcluster.ForTest(t), home: t.TempDir(), tools: t.TempDir()}
	release := []string{"-n", testoperator.Namespace, "--kubeconfig", s.cluster.Kubeconfig()}
	install := append([]string{"install", "zonefold", "charts/zonefold", "--create-namespace",
		"--set", "admission.enabled=false"}, release...) // no Service leads anywhere here
	if _, err := testoperator.Helm(ctx, install...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		uninstall := append([]string{"uninstall", "zonefold"}, release...)
		if _, err := testoperator.Helm(context.WithoutCancel(ctx), uninstall...); err != nil {
			t.Error(err)
		}
	})
	path, err := testoperator.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := s.cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
	if err != nil {
		t.Fatal(err)
	}
	var log testoperator.Journal
	operator, err := testoperator.Start(testoperator.Options{Path: path, Kubeconfig: kubeconfig, NoElection: true,
		Log: &log, Args: []string{"--dns-bind-address", fmt.Sprintf("127.0.0.1:%d", port)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		operator.Stop()
		if t.Failed() {
			t.Logf("the operator's log:\n%s", log.String())
		}
	})
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dig, err := exec.LookPath("dig")
	if err != nil {
		t.Fatal("dig is not installed; run: go run ./hack/prerequisites")
	}
	s.script(t, "zonefold", fmt.Sprintf("%s=1 exec %q \"$@\"", asZonefold, test))
	s.script(t, "kubectl", fmt.Sprintf("case \" $* \" in *' port-forward '*) exit 0;; esac\nexec %q \"$@\"",
		s.cluster.Kubectl()))
	s.script(t, "dig", fmt.Sprintf("[ \"$1 $2 $3\" = '@127.0.0.1 -p 5353' ] || exit 9\nshift 3\n"+
		"exec %q @127.0.0.1 -p %d \"$@\"", dig, port))
	return s
}

func (s *classroom) script(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.tools, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
