// Package e2e_test runs fleets of BIND on a real node: kubelet, containerd and pods, with the operator installed from
// the chart. Cases whose names begin with H are about the hierarchy from provider to pod, those with K about keys, B
// the sidecar bindcar, Z zones, R records, S servers and operators that fail, T tenants, and A admission. Each has
// namespaces of its own, in which Pod Security is enforced at its strictest, and they run side by side.
package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
)

// atOnce is how many tests run side by side: they wait most of the time. The node has room for the pods of as many.
const atOnce = 7

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	testcluster.AtOnce(atOnce)
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	archives, err := images.Archives(context.Background(), os.Stderr, images.Command)
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "zonefold-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return 1, err
	}
	auditLog = filepath.Join(dir, "audit.log")
	return testcluster.MainWith(m, testcluster.Options{
		Node: true, Images: archives,
		// The chart brings them too, but the plugin below takes up to half a minute to learn of them, while the node starts.
		CRDs: []string{"../../config/crd"},
		APIServerFlags: []string{
			"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog,
			// Some clusters ask for the right to set finalizers before an owner may block its deletion.
			"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		},
	}), nil
}
