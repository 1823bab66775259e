package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestUpEnvDown(t *testing.T) {
	if missing, err := testcluster.Missing(); err != nil || len(missing) > 0 {
		t.Fatalf("run this once, it takes about ten minutes: go run ./hack/cluster build (missing %v, %v)", missing, err)
	}
	link := filepath.Join(t.TempDir(), "cluster")
	if err := up(t.Context(), link, nil, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = down(link, io.Discard) })
	var script, said bytes.Buffer
	if err := env(link, &script); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", script.String()+
		"kubectl create configmap a && kubectl get configmap a -o name")
	if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(out), "configmap/a\n") {
		t.Errorf("kubectl with what env prints: %v\n%s", err, out)
	}
	if err := up(t.Context(), link, nil, &said); err != nil || !strings.Contains(said.String(), "runs already") {
		t.Errorf("a second up: %v, %q", err, said.String())
	}
	if err := up(t.Context(), link, []string{"-node"}, io.Discard); err == nil || !strings.Contains(err.Error(),
		"go run ./hack/cluster down") {
		t.Errorf("asking a control plane for a node: %v, want the way to one", err)
	}
	dir, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := down(link, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data in %s is still there: %v", dir, err)
	}
	if err := env(link, io.Discard); err == nil || !strings.Contains(err.Error(), "go run ./hack/cluster up") {
		t.Errorf("env without a cluster: %v, want the command that starts one", err)
	}
	if err := down(link, io.Discard); err != nil {
		t.Errorf("down without a cluster: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"start"}, {"down", "now"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "usage: ") {
			t.Errorf("%q: %v, want the usage", args, err)
		}
	}
}
