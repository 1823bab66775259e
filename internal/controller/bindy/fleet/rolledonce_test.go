package fleet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestPodsAreReplacedOnceForAChange has changes of a cluster that its instances repeat in their specs, a moment later.
func TestPodsAreReplacedOnceForAChange(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, func(*corev1.Pod) bool { return true })
	s.Apply(bindytest.ClusterManifest, a, "dns", `version: "9.18", primaryReplicas: 2, secondaryReplicas: 2`)
	names := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1"}
	allReady := func() {
		s.Helper()
		s.Eventually("all ready", func() string {
			return bindytest.Ready(s.BindCluster(a, "dns").Status.Conditions, "True", "AllReady", "4 of 4")
		})
	}
	allReady()
	watched := s.watchRollOuts(a)
	s.Writes.Reset()
	var want []string
	for _, version := range []string{"9.19", "9.20", "9.21"} {
		s.Patch(s.BindCluster(a, "dns"), `{"spec":{"version":"`+version+`"}}`)
		s.Eventually("the version "+version, func() string { return s.images(a, "zonefold/bind9:"+version, names...) })
		allReady()
		want = append(want, names...)
		s.Eventually("each once for "+version, func() string {
			got := watched()
			if len(got) > len(strings.Join(want, " ")) {
				t.Fatalf("for %s, pods were replaced of %s", version, got)
			}
			if got != strings.Join(want, " ") {
				return got
			}
			return ""
		})
	}
	// An instance whose version is not the cluster's has configuration of its own; none of these had one for a moment.
	for _, what := range []string{"PATCH configmaps", "DELETE configmaps"} {
		if n := s.Writes.Count(what); n > 0 {
			t.Errorf("%d times %s: %s", n, what, s.Writes)
		}
	}
}
