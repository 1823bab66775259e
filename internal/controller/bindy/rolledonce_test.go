package bindy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPodsAreReplacedOnceForAChange has changes of a cluster that its instances repeat in their specs, a moment later.
func TestPodsAreReplacedOnceForAChange(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, func(*corev1.Pod) bool { return true })
	s.apply(clusterManifest, a, "dns", `version: "9.18", primaryReplicas: 2, secondaryReplicas: 2`)
	names := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1"}
	allReady := func() {
		s.Helper()
		s.eventually("all ready", func() string {
			return ready(s.bindCluster(a, "dns").Status.Conditions, "True", "AllReady", "4 of 4")
		})
	}
	allReady()
	watched := s.watchRollOuts(a)
	s.writes.reset()
	var want []string
	for _, version := range []string{"9.19", "9.20", "9.21"} {
		s.patch(s.bindCluster(a, "dns"), `{"spec":{"version":"`+version+`"}}`)
		s.eventually("the version "+version, func() string { return s.images(a, "zonefold/bind9:"+version, names...) })
		allReady()
		want = append(want, names...)
		s.eventually("each once for "+version, func() string {
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
		if n := s.writes.count(what); n > 0 {
			t.Errorf("%d times %s: %s", n, what, s.writes)
		}
	}
}
