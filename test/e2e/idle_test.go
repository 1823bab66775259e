package e2e_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// idle is how long nothing may be written: longer than the periods of kubelet and of the sidecars. docs/performance.md
// has a longer one.
var idle = flag.Duration("idle", 70*time.Second, "how long a fleet at rest is watched")

func TestS4AFleetAtRestIsNotWrittenTo(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(providerManifest, s.word, ns,
		"primaryReplicas: 1, secondaryReplicas: 1, primary: {rndcKey: {autoRotate: true}}")
	zones := []string{"a.s4.example", "b.s4.example", "c.s4.example"}
	for _, zone := range zones {
		object, _, _ := strings.Cut(zone, ".")
		s.apply(zoneManifest, ns, object, zone, "clusterRef: "+s.word)
		for n := range 5 {
			s.apply(aManifest, ns, fmt.Sprintf("%s-%d", object, n), zone, fmt.Sprintf("r%d", n), fmt.Sprintf("192.0.2.%d", n))
		}
	}
	s.awaitReady(provider(s.word))
	servers, key := s.servers(ns), s.transferKey(ns, s.word)
	before := map[string]uint32{}
	for _, zone := range zones {
		object, _, _ := strings.Cut(zone, ".")
		s.awaitZone(ns, object)
		s.awaitRecord(aRecord(ns, object+"-4"))
		before[zone] = s.agree(servers, zone, key).soa.Serial
	}
	s.apply(aManifest, ns, "a-0", zones[0], "r0", "192.0.2.100") // so that there is something to count
	s.allDig(servers, "r0."+zones[0], dns.TypeA, "30 192.0.2.100")
	s.awaitRecord(aRecord(ns, "a-0"))
	s.awaitZone(ns, "a")
	before[zones[0]]++
	written := s.quiet(15 * time.Second) // on a machine at a load of 30 a transfer takes eight
	changes := s.changes(ns)
	rest := time.NewTimer(*idle)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-s.ctx.Done():
		t.Fatal(s.ctx.Err())
	}
	if after := s.writes(); len(after) != written {
		t.Errorf("the operator has written while nothing happened: %s", after[written:])
	}
	if after := s.changes(ns); len(changes) == 0 || len(after) != len(changes) {
		t.Errorf("servers were changed while nothing happened: there were %d lines, and then came %q", len(changes),
			after[len(changes):])
	}
	for zone, serial := range before {
		for _, v := range servers {
			if now, err := s.serialAt(v, zone); err != nil || now != serial {
				t.Errorf("%s has %s under serial %d after %d: %v", v, zone, now, serial, err)
			}
		}
	}
	t.Logf("%d writes for a provider, a cluster, two instances and three zones; none in %s afterwards", written, *idle)
}

func (s *site) serialAt(v server, zone string) (uint32, error) { return serial(s.ctx, v.at, zone) }

// changes are what the servers of a namespace say of updates and transfers, in no order.
func (s *site) changes(namespace string) (lines []string) {
	s.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, "logs", "-n", namespace, "-l", v1beta1.AppLabel+"="+v1beta1.AppValue, "-c",
		"bind9", "--tail=-1", "--max-log-requests=50")
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "updating zone") || strings.Contains(line, "transfer of") {
			lines = append(lines, line)
		}
	}
	return lines
}
