// Package chart_test installs the chart with Helm into a real API server, upgrades it and removes it. What is rendered
// is tested in charts/; here is what Helm and kubectl do with what is in the cluster already.
package chart_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "zonefold-system"
	fleet     = "bind9clusters.bindy.firestoned.io"
	subjects  = `{"subjects":[{"kind":"ServiceAccount","name":"bind9","namespace":"dns-system"}]}`
	fleetOn   = "dialects.bindy=true"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// A site is a cluster, with Helm to work on it.
type site struct {
	t       *testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
}

func newSite(t *testing.T) *site {
	t.Helper()
	return &site{t, t.Context(), testcluster.ForTest(t)}
}

func (s *site) helm(args ...string) string {
	s.t.Helper()
	out, err := testoperator.Helm(s.ctx, append(args, "--kubeconfig", s.cluster.Kubeconfig())...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *site) kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// upgrade installs the chart, or upgrades it, with these values.
func (s *site) upgrade(sets ...string) {
	s.t.Helper()
	args := []string{"upgrade", "--install", "zonefold", "charts/zonefold", "-n", namespace, "--create-namespace"}
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	s.helm(args...)
}

func (s *site) has(what ...string) bool {
	s.t.Helper()
	return s.kubectl(append([]string{"get", "--ignore-not-found", "-o", "name"}, what...)...) != ""
}

// bound are the ServiceAccounts that the sidecars' binding names.
func (s *site) bound() string {
	s.t.Helper()
	return s.kubectl("get", "clusterrolebinding", "zonefold-bindcar", "-o", "jsonpath={.subjects[*].name}")
}

func TestARelease(t *testing.T) {
	s := newSite(t)
	s.upgrade(fleetOn)
	if !s.has("crd", fleet) || !s.has("clusterrole", "zonefold-bindcar") || !s.has("deployment", "-n", namespace,
		"zonefold-operator") {
		t.Fatal("the release does not have the dialect's parts")
	}
	if names := s.bound(); names != "" {
		t.Errorf("at first the sidecars' binding is of %q", names)
	}

	// What the operator writes.
	s.kubectl("patch", "clusterrolebinding", "zonefold-bindcar", "--type=merge", "--field-manager=zonefold", "-p",
		subjects)
	s.kubectl("apply", "-f", "../../examples/quickstart/00-namespaces.yaml", "-f",
		"../../examples/quickstart/10-example-org.yaml")
	s.upgrade(fleetOn, "replicas=3")
	// as Helm 3 does
	s.helm("upgrade", "zonefold", "charts/zonefold", "-n", namespace, "--reuse-values", "--server-side=false")
	if replicas := s.kubectl("get", "deployment", "-n", namespace, "zonefold-operator", "-o",
		"jsonpath={.spec.replicas}"); replicas != "3" {
		t.Errorf("after the upgrade there are %s replicas", replicas)
	}
	if names := s.bound(); names != "bind9" {
		t.Errorf("an upgrade makes the sidecars' binding one of %q", names)
	}

	s.upgrade("dialects.bindy=false")
	if s.has("clusterrole", "zonefold-bindcar") {
		t.Error("a dialect that was turned off has its rights")
	}
	if rules := s.kubectl("get", "clusterrole", "zonefold-operator", "-o", "yaml"); strings.Contains(rules, "bindy") {
		t.Errorf("a dialect that was turned off is in the operator's rights:\n%s", rules)
	}
	if !s.has("crd", fleet) {
		t.Error("turning a dialect off has removed its objects")
	}

	s.helm("uninstall", "zonefold", "-n", namespace)
	for _, gone := range [][]string{{"deployment", "-n", namespace, "zonefold-operator"}, {"clusterrole",
		"zonefold-operator"}} {
		if s.has(gone...) {
			t.Errorf("after uninstalling there is %v", gone)
		}
	}
	if !s.has("zones.kubi.zone", "-A") {
		t.Error("uninstalling has removed Zones")
	}
	s.kubectl("delete", "zones.kubi.zone,records.kubi.zone", "-A", "--all") // of which no operator has heard
	s.upgrade()                                                             // finds schemas that it has kept
	s.helm("uninstall", "zonefold", "-n", namespace)
}

// TestApplyingARenderingTwice is for those without Helm in their cluster.
func TestApplyingARenderingTwice(t *testing.T) {
	s := newSite(t)
	manifest := s.helm("template", "zonefold", "charts/zonefold", "-n", namespace, "--set", fleetOn)
	for _, flags := range [][]string{{"apply"}, {"apply", "--server-side", "--force-conflicts"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			s := &site{t, t.Context(), s.cluster}
			if !s.has("namespace", namespace) {
				s.kubectl("create", "namespace", namespace)
			}
			apply := func() {
				if _, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(manifest),
					append(flags, "-f", "-")...); err != nil {
					t.Fatal(err)
				}
			}
			apply()
			s.kubectl("patch", "clusterrolebinding", "zonefold-bindcar", "--type=merge", "--field-manager=zonefold", "-p",
				subjects)
			apply()
			if names := s.bound(); names != "bind9" {
				t.Errorf("applying it again makes the sidecars' binding one of %q", names)
			}
			s.kubectl("delete", "clusterrolebinding", "zonefold-bindcar")
		})
	}
}

func TestTheInstallManifestIsApplied(t *testing.T) {
	s := newSite(t)
	s.kubectl("apply", "-f", "../../config/install/zonefold.yaml")
	defer s.kubectl("delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", "--all")
	for _, here := range [][]string{{"deployment", "-n", namespace, "zonefold-operator"}, {"crd", "zones.kubi.zone"}} {
		if !s.has(here...) {
			t.Errorf("there is no %v", here)
		}
	}
}
