package testcluster

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// shared is the one cluster of a test process. It is a package variable because TestMain can hand nothing to the tests that
// it runs.
var shared struct {
	once    sync.Once
	opts    Options
	cluster *Cluster
	err     error
}

// Main runs a package's tests; call it from TestMain and exit with what it returns. Tests that call [ForTest] share one
// cluster with these CRDs, which is started by the first of them and ended here. Paths count from the package's folder.
func Main(m *testing.M, crds ...string) int {
	return MainWith(m, Options{CRDs: crds})
}

// MainWith is [Main] for a cluster with options.
func MainWith(m *testing.M, opts Options) int {
	shared.opts = opts
	code := m.Run()
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "testcluster: ending the shared cluster:", err)
		return max(code, 1)
	}
	return code
}

// ForTest returns the cluster that all tests of the process share. Each test needs its own namespace in it.
// It does not compile the control plane: go test would show no progress and kill the compile after ten minutes.
func ForTest(tb testing.TB) *Cluster {
	tb.Helper()
	shared.once.Do(func() {
		missing, err := missingNames(shared.opts.Node)
		if err != nil {
			shared.err = err
		} else if len(missing) > 0 {
			shared.err = fmt.Errorf("%s is not built yet; run this once, it takes about ten minutes: go run ./hack/cluster build", strings.Join(missing, ", "))
		} else {
			shared.cluster, shared.err = Start(context.WithoutCancel(tb.Context()), shared.opts)
		}
	})
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.cluster
}
