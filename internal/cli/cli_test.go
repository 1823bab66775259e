package cli_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/testcluster"
)

var update = flag.Bool("update", false, "rewrite what the scripts in testdata expect")

// suite runs the package's tests with a cluster for those that ask for one.
type suite struct{ m *testing.M }

func (s suite) Run() int { return testcluster.Main(s.m, "../../config/crd") }

func TestMain(m *testing.M) {
	command := func() {
		os.Exit(cli.Run(context.Background(), cli.Env{
			Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Now: time.Now(), Getenv: os.Getenv, Version: "v0.0.0-test",
		}))
	}
	testscript.Main(suite{m}, map[string]func(){"zonefold": command, "kubectl-zonefold": command})
}

// TestScripts runs every script; each is about one thing and can be read as a manual.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			return nil
		},
	})
}

// TestClusterScripts runs the scripts that need a cluster.
func TestClusterScripts(t *testing.T) {
	cluster := testcluster.ForTest(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "cluster"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KUBECONFIG", cluster.Kubeconfig())
			env.Setenv("KUBECTL", cluster.Kubectl())
			return nil
		},
	})
}
