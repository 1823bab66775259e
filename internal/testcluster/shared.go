package testcluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// shared is the one cluster of a test process. It is a package variable because TestMain can hand nothing to the tests
// that it runs.
var shared struct {
	once    sync.Once
	opts    Options
	cluster *Cluster
	err     error
}

// gcPercent is GOGC of the tests and of their cluster: heaps are small and garbage is much, so that with more memory
// they need a fifth less of the processor.
const gcPercent = 400

// Main runs a package's tests; call it from TestMain and exit with what it returns. Tests that call [ForTest] share one
// cluster with these CRDs, which is started by the first of them and ended here. Paths count from the package's folder.
func Main(m *testing.M, crds ...string) int {
	return MainWith(m, Options{CRDs: crds})
}

// AtOnce has so many tests of a package run side by side of those that are parallel, instead of as many as there are
// processors: they wait most of the time. Call it from TestMain, before the flags are parsed: -parallel overrides it.
func AtOnce(tests int) {
	_ = flag.Set("test.parallel", strconv.Itoa(tests)) // every test has this flag
}

// MainWith is [Main] for a cluster with options.
func MainWith(m *testing.M, opts Options) int {
	shared.opts = opts
	shared.opts.GCPercent = gcPercent
	debug.SetGCPercent(gcPercent)
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
			shared.err =
				fmt.Errorf("%s is not built yet; run this once, it takes about ten minutes: go run ./hack/cluster build",
					strings.Join(missing, ", "))
		} else {
			shared.cluster, shared.err = Start(context.WithoutCancel(tb.Context()), shared.opts)
		}
	})
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.cluster
}

// Patience is how long a test of one controller may take. On a machine under load it takes many times as long as on an
// idle one: what a test expects of time has a bound of its own.
const Patience = 5 * time.Minute

// Eventually waits until check has nothing to complain of, and fails with what it complained of last when ctx ends.
func Eventually(ctx context.Context, tb testing.TB, what string, check func() string) {
	tb.Helper()
	for {
		began := time.Now()
		complaint := check()
		if complaint == "" {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("%s: %s (%v)", what, complaint, context.Cause(ctx))
		case <-time.After(Pace(time.Since(began))):
		}
	}
}

// Pace is how long to wait before looking again whether something has come true, after a look that took so long:
// whoever lists hundreds of objects all the time takes the processor from what it waits for.
func Pace(took time.Duration) time.Duration {
	return min(max(20*time.Millisecond, 3*took), 200*time.Millisecond)
}
