package e2e_test

import (
	"flag"
	"testing"
	"time"
)

// idle is how long nothing may be written: longer than the periods of kubelet and of the sidecars. docs/performance.md has a longer one.
var idle = flag.Duration("idle", 70*time.Second, "how long a fleet at rest is watched")

func TestAFleetAtRestIsNotWrittenTo(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(providerManifest, s.word, ns, "primaryReplicas: 1, secondaryReplicas: 1, primary: {rndcKey: {autoRotate: true}}")
	s.awaitReady(provider(s.word))
	before := s.quiet(2 * time.Second)
	rest := time.NewTimer(*idle)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-s.ctx.Done():
		t.Fatal(s.ctx.Err())
	}
	if after := s.writes(); len(after) != before {
		t.Errorf("the operator has written while nothing happened: %s", after[before:])
	}
	t.Logf("%d writes for a provider, a cluster and two instances; none in %s afterwards", before, *idle)
}
