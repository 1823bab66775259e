package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// manyRecords makes a zone with so many records, r0 and so on.
func (s *site) manyRecords(namespace, zone string, n int) {
	s.Helper()
	s.apply(zoneManifest, namespace, "example", zone, "clusterRef: dns")
	for i := range n {
		s.apply(aManifest, namespace, fmt.Sprintf("r%d", i), zone, fmt.Sprintf("r%d", i), fmt.Sprintf("192.0.2.%d", i))
	}
}

// TestS1AndS2ServersThatAreKilled ends pods without warning while clients ask all the time and records change.
func TestS1AndS2ServersThatAreKilled(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	const zone, many = "s1.example", 60
	s.manyRecords(ns, zone, many)
	s.apply(aManifest, ns, "moving", zone, "moving", "198.51.100.0")
	moving := []string{"30 198.51.100.0", "30 198.51.100.1", "30 198.51.100.2", "30 198.51.100.3"}
	w := s.watchAnswers(ns, asked{"r0." + zone, dns.TypeA, []string{"30 192.0.2.0"}},
		asked{fmt.Sprintf("r%d.%s", many-1, zone), dns.TypeA, []string{fmt.Sprintf("30 192.0.2.%d", many-1)}},
		asked{"moving." + zone, dns.TypeA, moving}, asked{"none." + zone, dns.TypeA, []string{noName}})
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2, secondaryReplicas: 1")
	s.awaitReady(cluster(ns, "dns"))
	s.awaitZone(ns, "example")
	instances := s.instances(ns)
	w.service(ns, instances...)
	key := s.transferKey(ns, "dns")
	before := s.agree(s.servers(ns), zone, key)

	for n, c := range []struct {
		sentence string
		killed   []string
	}{
		{"S1 a primary", instances[:1]},
		{"S2 a secondary", instances[2:]},
		{"S1 all primaries at once, and the secondary", instances},
	} {
		s.run(c.sentence, func(s *site) {
			var killed []*corev1.Pod
			for _, name := range c.killed {
				killed = append(killed, s.pod(ns, name))
			}
			for _, p := range killed {
				if err := s.client.Delete(s.ctx, p, client.GracePeriodSeconds(0)); err != nil {
					s.Fatal(err)
				}
			}
			s.apply(aManifest, ns, "moving", zone, "moving", fmt.Sprintf("198.51.100.%d", n+1))
			for i, name := range c.killed {
				s.comesBack(ns, name, killed[i], asked{"r0." + zone, dns.TypeA, []string{"30 192.0.2.0"}})
			}
			s.allDig(s.servers(ns), "moving."+zone, dns.TypeA, moving[n+1])
			after := s.agree(s.servers(ns), zone, key)
			if after.soa.Serial <= before.soa.Serial {
				s.Errorf("the serial went from %d to %d", before.soa.Serial, after.soa.Serial)
			}
			before = after
			s.awaitZone(ns, "example")
			s.awaitRecord(aRecord(ns, "moving"))
			s.awaitReady(cluster(ns, "dns"))
			w.sawNothingWrong(s, "Service "+instances[0], "Service "+instances[1], "Service "+instances[2])
		})
	}
}

// comesBack waits until an instance has another pod that is ready; then it has the zone.
func (s *site) comesBack(namespace, instance string, former *corev1.Pod, q asked) {
	s.Helper()
	var now corev1.Pod
	s.eventually("a pod in place of "+former.Name, func() string {
		for _, p := range s.pods(namespace, instance) {
			if p.UID != former.UID && isReady(&p) {
				now = p
				return ""
			}
		}
		return "there is none that is ready"
	})
	for _, v := range s.servers(namespace, instance) {
		if got, err := dig(s.ctx, v.at, q.name, q.rrtype); v.uid == now.UID && (err != nil || got != q.right[0]) {
			s.Errorf("%s is ready and answers %q, %v", v, got, err)
		}
	}
}

// TestR18OneOfTwoPrimariesDown has a primary without a pod while records change.
func TestR18OneOfTwoPrimariesDown(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	const zone = "r18.example"
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2, secondaryReplicas: 1")
	s.apply(zoneManifest, ns, "example", zone, "clusterRef: dns")
	s.apply(aManifest, ns, "www", zone, "www", "192.0.2.1")
	s.apply(aManifest, ns, "gone", zone, "gone", "192.0.2.2")
	s.awaitZone(ns, "example")
	s.awaitReady(cluster(ns, "dns"))
	key := s.transferKey(ns, "dns")
	before := s.agree(s.servers(ns), zone, key)

	s.apply(quotaManifest, ns)
	s.eventually("the quota is known", func() string {
		if q := must(s, &corev1.ResourceQuota{}, ns, "no-pods"); len(q.Status.Hard) == 0 {
			return "it has no status"
		}
		return ""
	})
	old := s.pod(ns, "dns-primary-1")
	s.remove(old)
	s.apply(aManifest, ns, "www", zone, "www", "192.0.2.10")
	s.apply(aManifest, ns, "new", zone, "new", "192.0.2.3")
	s.remove(aRecord(ns, "gone"))
	rest := s.servers(ns, "dns-primary-0", "dns-secondary-0")
	s.allDig(rest, "www."+zone, dns.TypeA, "30 192.0.2.10")
	s.allDig(rest, "new."+zone, dns.TypeA, "30 192.0.2.3")
	s.allDig(rest, "gone."+zone, dns.TypeA, noName)
	s.eventually("the zone says so", func() string {
		o := dnsZone(ns, "example")
		if complaint := s.ready(o, metav1.ConditionFalse, v1beta1.ReasonPrimaryFailed, "dns-primary-1"); complaint != "" {
			return complaint
		}
		for _, b := range o.Status.Bind9Instances {
			if (b.State == v1beta1.StateFailed) != (b.Name == "dns-primary-1") {
				return fmt.Sprintf("%s is %s: %s", b.Name, b.State, b.Message)
			}
		}
		return ""
	})
	for _, name := range []string{"www", "new"} {
		s.eventually("the record says so", func() string {
			if o := aRecord(ns, name); s.ready(o, metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded) == "" {
				return fmt.Sprintf("%+v", o.Status.Conditions)
			}
			return ""
		})
	}

	s.remove(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "no-pods"}})
	s.retryPods(ns)
	s.another(ns, "dns-primary-1", old)
	all := s.servers(ns)
	s.allDig(all, "www."+zone, dns.TypeA, "30 192.0.2.10")
	s.allDig(all, "gone."+zone, dns.TypeA, noName)
	if after := s.agree(all, zone, key); len(all) != 3 || after.soa.Serial <= before.soa.Serial {
		t.Errorf("%d servers have serial %d after %d", len(all), after.soa.Serial, before.soa.Serial)
	}
	s.awaitZone(ns, "example")
	s.awaitRecord(aRecord(ns, "www"))
	s.awaitRecord(aRecord(ns, "new"))
}

// TestS2ASecondaryWithoutAPrimary starts a secondary while its primary cannot start: it is not ready, and answers
// nothing, before it has transferred the zone.
func TestS2ASecondaryWithoutAPrimary(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	const zone = "s2.example"
	s.manyRecords(ns, zone, 3)
	w := s.watchAnswers(ns, asked{"r1." + zone, dns.TypeA, []string{"30 192.0.2.1"}},
		asked{"none." + zone, dns.TypeA, []string{noName}})
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 0, secondaryReplicas: 0")
	s.eventually("the cluster is known", func() string { // else its servers start without it, and once more with it
		return s.ready(cluster(ns, "dns"), metav1.ConditionFalse, v1beta1.ReasonNoChildren)
	})
	s.apply(instanceManifest, ns, "first",
		"clusterRef: dns, role: Primary, image: {image: 'zonefold/none:1', imagePullPolicy: Never}")
	s.apply(instanceManifest, ns, "second", "clusterRef: dns, role: Secondary")
	s.eventually("the secondary runs, and the primary does not", func() string {
		if len(s.servers(ns, "second")) == 1 {
			return s.ready(dnsZone(ns, "example"), metav1.ConditionFalse, v1beta1.ReasonPrimaryFailed, "first")
		}
		return "it has no pod"
	})
	s.quiet(2 * time.Second) // longer than it takes to get ready
	if p := s.pod(ns, "second"); isReady(p) {
		t.Error("a secondary is ready that has not transferred its zone")
	}
	s.eventually("it answers", func() string {
		at := s.servers(ns, "second")[0].at
		got, err := dig(s.ctx, at, "r1."+zone, dns.TypeA)
		if err == nil && got != noZone && got != "SERVFAIL" { // it has no zone, or has the zone and not its content
			t.Errorf("%s answers %q", at, got)
		}
		return text(err)
	})
	s.patch(instance(ns, "first"), `{"spec":{"image":null}}`)
	s.awaitReady(instance(ns, "first"))
	s.awaitReady(instance(ns, "second"))
	s.allDig(s.servers(ns), "r1."+zone, dns.TypeA, "30 192.0.2.1")
	s.agree(s.servers(ns), zone, s.transferKey(ns, "dns"))
	s.awaitZone(ns, "example")
	w.sawNothingWrong(s)
}
