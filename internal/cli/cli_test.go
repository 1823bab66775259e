package cli_test

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/version"
)

var update = flag.Bool("update", false, "rewrite what the scripts in testdata expect")

// suite runs the package's tests with a cluster for those that ask for one.
type suite struct{ m *testing.M }

func (s suite) Run() int { return testcluster.Main(s.m, "../../config/crd") }

func TestMain(m *testing.M) {
	command := func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Run(ctx, cli.Env{
			Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Now: time.Now(), Getenv: os.Getenv,
			Version: version.Info{Version: "v0.0.0-test", Commit: "c0c3dfb", Platform: "linux/amd64"},
		})
		stop()
		os.Exit(code)
	}
	testscript.Main(suite{m}, map[string]func(){"zonefold": command, "kubectl-zonefold": command,
		"dnshook-server": serveHook})
}

// serveHook is a server for DNSClasses that holds records in memory. Its argument is a file with the secret; without,
// nothing is signed.
func serveHook() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	cfg := dnshook.HandlerConfig{Provider: &dnshook.Memory{}, Now: time.Now, Unsigned: len(os.Args) < 2}
	if !cfg.Unsigned {
		secret, err := os.ReadFile(os.Args[1])
		fail(err)
		cfg.Keys = func() ([]dnshook.Key, error) { return []dnshook.Key{{Secret: secret}}, nil }
	}
	h, err := dnshook.NewHandler(cfg)
	fail(err)
	server := httptest.NewServer(h)
	fmt.Fprintln(os.Stdout, "listening on", server.URL)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	<-ctx.Done()
	stop()
	server.Close()
	os.Exit(0)
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
	})
}

// await waits until a file that a program writes matches a pattern, and sets the variables that the pattern's groups
// name.
//
//	await FILE PATTERN
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var text []byte
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for late := time.After(20 * time.Second); ; {
		text, err = os.ReadFile(ts.MkAbs(args[0]))
		if found := pattern.FindSubmatch(text); err == nil && found != nil {
			for i, name := range pattern.SubexpNames()[1:] {
				ts.Setenv(name, string(found[i+1]))
			}
			return
		}
		select {
		case <-again.C:
		case <-late:
			ts.Fatalf("%s does not match %q:\n%s", args[0], args[1], text)
		}
	}
}

// TestClusterScripts runs the scripts that need a cluster.
func TestClusterScripts(t *testing.T) {
	cluster := testcluster.ForTest(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "cluster"),
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"await": await},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KUBECONFIG", cluster.Kubeconfig())
			env.Setenv("KUBECTL", cluster.Kubectl())
			env.Setenv("OWNPATH", filepath.SplitList(env.Getenv("PATH"))[0]) // where zonefold is, and nothing else
			return nil
		},
	})
}
