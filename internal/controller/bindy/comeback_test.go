package bindy

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// setAway takes the node from the pods of an instance, or brings it back. The pod that there is goes.
func (n *bindNode) setAway(instance string, away bool) {
	n.Helper()
	n.mu.Lock()
	n.away[instance] = away
	n.mu.Unlock()
	if away {
		n.Remove(n.onePod(instance))
	}
}

// revive starts the BIND of an instance again, in the same pod.
func (n *bindNode) revive(instance string) {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			named, err := p.again()
			if err != nil {
				n.Fatal(err)
			}
			p.named = named
			p.restarts++
		}
	}
}

// suspend stops the BIND of an instance so that it hangs, or lets it go on.
func (n *bindNode) suspend(instance string, stop bool) {
	n.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			if err := p.named.Suspend(stop); err != nil {
				n.Fatal(err)
			}
			p.hangs = stop
		}
	}
}

// uidAt is the UID of the pod of an instance that runs, "" if none does.
func (n *bindNode) uidAt(instance string) types.UID {
	n.mu.Lock()
	defer n.mu.Unlock()
	for uid, p := range n.pods {
		if p.instance == instance {
			return uid
		}
	}
	return ""
}

// isReady reports whether the server of an instance is, by what its sidecar says now.
func (n *bindNode) isReady(instance string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.instance == instance {
			return p.isReady(n.Ctx)
		}
	}
	return false
}

// neverReadyWith complains of a server of an instance that is ready and answers what is wrong, until the returned
// function is called.
func (n *bindNode) neverReadyWith(instance, name, wrong string) (end func()) {
	ctx, cancel := context.WithCancel(n.Ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			at, ready := n.at(instance), n.isReady(instance)
			if got := ask(at, name, dns.TypeA); ready && got == wrong {
				n.Errorf("%s is ready and answers %q for %s", instance, got, name)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// TestServersComeBackWithTheirVolumes has pods that are made anew on the volume of the former, with an operator and
// without one: none is ready before it has what is wanted now.
func TestServersComeBackWithTheirVolumes(t *testing.T) {
	s, n := zoneStage(t, "volume")
	n.keepVolumes()
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })

	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
		s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
		s.Stop()
		n.replace(instance)
		s.Eventually("the volume in another pod", func() string {
			return n.answersAt(instance, "www.example.com.", dns.TypeA, "192.0.2.1")
		})
		end := n.neverReadyWith(instance, "www.example.com.", "192.0.2.1")
		s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
		s.start()
		s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
		end()
	}
	s.Eventually("the same serial", func() string { return n.sameSerial(2) })
}

// TestBINDStartsAgainInItsPod has records changed while a server is down: it is ready when it has the change.
func TestBINDStartsAgainInItsPod(t *testing.T) {
	s, n := zoneStage(t, "again")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	for _, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
		s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
		s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
		n.killNamed(instance)
		s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
		s.Eventually("a server that is not ready", func() string {
			if n.isReady(instance) {
				return "it is"
			}
			return ""
		})
		end := n.neverReadyWith(instance, "www.example.com.", "192.0.2.1")
		n.revive(instance)
		s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
		end()
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("the same serial", func() string { return n.sameSerial(2) })
}

// TestAZoneThatIsDeletedWhileItsServersAreAway has pods with volumes come back after the zone has gone.
func TestAZoneThatIsDeletedWhileItsServersAreAway(t *testing.T) {
	s, n := zoneStage(t, "away")
	n.keepVolumes()
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Eventually("both servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	instances := []string{"dns-primary-0", "dns-secondary-0"}
	s.Eventually("what the instances note", func() string { return n.noted(instances, "example.com") })
	for _, instance := range instances {
		n.setAway(instance, true)
	}
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Remove(example)
	s.Eventually("a zone that is deleted", func() string { return s.IsGone(example) })
	if complaint := n.noted(instances, "example.com"); complaint != "" {
		t.Error(complaint)
	}
	for _, instance := range instances {
		end := n.neverReadyWith(instance, "www.example.com.", "192.0.2.1")
		n.setAway(instance, false)
		s.Eventually(instance+" without the zone", func() string {
			if !n.isReady(instance) {
				return "it is not ready"
			}
			return n.answersAt(instance, "www.example.com.", dns.TypeA, "REFUSED")
		})
		end()
	}
	s.Eventually("what the instances note", func() string { return n.noted(instances) })
}

// noted complains if instances do not say that they have these zones, or are still to lose them.
func (n *bindNode) noted(instances []string, zones ...string) string {
	for _, name := range instances {
		i := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, name)}
		n.Get(i)
		var have []string
		for _, z := range i.Status.Zones {
			have = append(have, z.ZoneName)
		}
		if !slices.Equal(have, zones) {
			return name + " says that it has " + dialect.List(have)
		}
	}
	return ""
}

// keepVolumes has what a pod has stay for the next pod of its instance.
func (n *bindNode) keepVolumes() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.volumes = map[string]string{}
}
