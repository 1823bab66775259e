package e2e_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// asking keeps asking a server for an address, which may have one of several answers or none, but no other.
func (s *site) asking(of server, name string, answers ...string) *busy {
	return s.keep("asking "+of.instance+" for "+name, func(ctx context.Context, _ int) error {
		got, err := dig(ctx, of.at, name, dns.TypeA)
		if err != nil || slices.Contains(answers, got) { // there may be nobody
			return nil //nolint:nilerr // that is no answer
		}
		return fmt.Errorf("%s answers %s", of, got)
	})
}

// another waits until an instance has another pod than before, which is ready.
func (s *site) another(namespace, instance string, before *corev1.Pod) server {
	s.Helper()
	s.eventually("another pod of "+instance, func() string {
		for _, p := range s.pods(namespace, instance) {
			if p.UID != before.UID && isReady(&p) {
				return ""
			}
		}
		return "there is none that is ready"
	})
	return s.servers(namespace, instance)[0]
}

// TestZ5cZ7APrimaryMadeAnewAndSecondariesThatComeAndGo has a primary lose all that it had, and a fleet get a secondary
// more and lose it.
func TestZ5cZ7APrimaryMadeAnewAndSecondariesThatComeAndGo(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 1, secondaryReplicas: 1")
	s.apply(zoneManifest, ns, "z7", "z7.example",
		"clusterRef: dns, nameServers: [{hostname: ns1.z7.example, ipv4Address: 192.0.2.53}]")
	s.apply(aManifest, ns, "www", "z7.example", "www", "192.0.2.1")
	s.isOn(zoneKey(ns, "z7"), keysOf(ns, "dns-primary-0", "dns-secondary-0")...)
	key := s.transferKey(ns, "dns")
	both := s.servers(ns)
	s.allDig(both, "www.z7.example", dns.TypeA, "30 192.0.2.1")
	before := s.agree(both, "z7.example", key)

	s.run("Z5c a primary is rebuilt from nothing", func(s *site) {
		service := server{ns, "the Service of the primary", "", s.service(ns, "dns-primary-0").At(servicePort)}
		clients := []*busy{s.asking(both[1], "www.z7.example", "30 192.0.2.1", "30 192.0.2.2"), s.asking(service,
			"www.z7.example", "30 192.0.2.1", "30 192.0.2.2")}
		old := s.pod(ns, "dns-primary-0")
		s.remove(old)
		s.apply(aManifest, ns, "www", "z7.example", "www", "192.0.2.2")
		primary := s.another(ns, "dns-primary-0", old)
		if got, err := dig(s.ctx, primary.at, "www.z7.example", dns.TypeA); err != nil ||
			got != "30 192.0.2.2" && got != "30 192.0.2.1" {
			s.Errorf("as soon as it is ready, the new pod answers %s: %v", got, err)
		}
		both[0] = primary
		s.allDig(both, "www.z7.example", dns.TypeA, "30 192.0.2.2")
		now := s.agree(both, "z7.example", key)
		if int32(now.soa.Serial-before.soa.Serial) <= 0 {
			s.Errorf("the serial went from %d to %d", before.soa.Serial, now.soa.Serial)
		}
		before = now
		s.isOn(zoneKey(ns, "z7"), keysOf(ns, "dns-primary-0", "dns-secondary-0")...)
		for _, c := range clients {
			s.wasNeverFailed(c)
		}
	})
	s.run("Z7 a secondary comes", func(s *site) {
		client := s.asking(both[0], "www.z7.example", "30 192.0.2.2", "30 192.0.2.3")
		s.patch(cluster(ns, "dns"), `{"spec":{"secondaryReplicas":2}}`)
		s.isOn(zoneKey(ns, "z7"), keysOf(ns, "dns-primary-0", "dns-secondary-0", "dns-secondary-1")...)
		all := s.servers(ns)
		if now := s.agree(all, "z7.example", key); now.soa.Serial != before.soa.Serial {
			s.Errorf("the serial went from %d to %d, although nothing of the content has changed", before.soa.Serial,
				now.soa.Serial)
		}
		s.apply(aManifest, ns, "www", "z7.example", "www", "192.0.2.3")
		s.allDig(all, "www.z7.example", dns.TypeA, "30 192.0.2.3")
		if all[0].uid != both[0].uid || all[1].uid != both[1].uid {
			s.Error("pods were replaced")
		}
		s.wasNeverFailed(client)
		for _, v := range all {
			if n, err := transfer(v.at, "z7.example", nil); err == nil || n > 0 {
				s.Errorf("%s gives %d records to somebody without a key: %v", v, n, err)
			}
		}
	})
	s.run("Z7 a secondary goes", func(s *site) {
		s.patch(cluster(ns, "dns"), `{"spec":{"secondaryReplicas":1}}`)
		s.isOn(zoneKey(ns, "z7"), keysOf(ns, "dns-primary-0", "dns-secondary-0")...)
		s.apply(aManifest, ns, "www", "z7.example", "www", "192.0.2.4")
		s.allDig(both, "www.z7.example", dns.TypeA, "30 192.0.2.4")
		s.agree(both, "z7.example", key)
		primary := s.sidecar(ns, "dns-primary-0")
		s.eventually("the primary notifies one server", func() string { // its pods go after it is out of the zone
			settings, err := primary.Settings(s.ctx, "z7.example")
			if err != nil || len(settings.AlsoNotify) != 1 {
				return fmt.Sprintf("it notifies %q: %v", settings.AlsoNotify, err)
			}
			return ""
		})
	})
}

// quotaManifest lets a namespace have no new pods: an instance that loses its pod stays down.
const quotaManifest = `{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: %s, name: no-pods}, spec: {hard: {pods: "0"}}}`

// TestZ8DeletionWithAnInstanceDown deletes a zone while one of its servers, which has the zone on a volume, has no pod.
func TestZ8DeletionWithAnInstanceDown(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	dir := t.TempDir()
	if err := os.Chown(dir, 101, 101); err != nil { // fsGroup does not reach a hostPath
		t.Fatal(err)
	}
	s.apply(volume, s.word, s.word, dir)
	s.apply(instanceManifest, ns, "down", fmt.Sprintf("role: Primary, storage: {storageType: persistentVolumeClaim, "+
		"persistentVolumeClaim: {size: 1Gi, storageClassName: %s}}", s.word))
	s.apply(instanceManifest, ns, "up", "role: Primary")
	for _, name := range []string{"deleted", "kept"} {
		s.apply(zoneManifest, ns, name, name+".example", "bind9InstancesFrom: [{selector: {}}]")
		s.apply(aManifest, ns, name, name+".example", "www", "192.0.2.1")
		s.isOn(zoneKey(ns, name), keysOf(ns, "down", "up")...)
	}
	s.awaitRecord(aRecord(ns, "deleted"))
	s.awaitRecord(aRecord(ns, "kept"))

	s.apply(quotaManifest, ns)
	s.eventually("the quota is known", func() string {
		if q := must(s, &corev1.ResourceQuota{}, ns, "no-pods"); len(q.Status.Hard) == 0 {
			return "it has no status"
		}
		return ""
	})
	old := s.pod(ns, "down")
	s.remove(old)
	s.eventually("the instance is down", func() string {
		if n := len(s.pods(ns, "down")); n > 0 {
			return fmt.Sprintf("it has %d pods", n)
		}
		return s.ready(dnsZone(ns, "kept"), metav1.ConditionFalse, v1beta1.ReasonPrimaryFailed)
	})
	began := time.Now()
	s.remove(dnsZone(ns, "deleted"))
	up := s.servers(ns, "up")
	s.allDig(up, "www.deleted.example", dns.TypeA, noZone)
	s.eventually("the zone is gone", func() string {
		if s.get(dnsZone(ns, "deleted")) {
			return "it is still there"
		}
		return ""
	})
	if took := time.Since(began); took > 75*time.Second {
		t.Errorf("the deletion took %s", took)
	}
	s.allDig(up, "www.kept.example", dns.TypeA, "30 192.0.2.1")

	s.remove(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "no-pods"}})
	s.retryPods(ns)
	down := s.another(ns, "down", old)
	s.allDig([]server{down, up[0]}, "www.kept.example", dns.TypeA, "30 192.0.2.1")
	s.allDig([]server{down, up[0]}, "www.deleted.example", dns.TypeA, noZone)
	s.isOn(zoneKey(ns, "kept"), keysOf(ns, "down", "up")...)
}

// retryPods has ReplicaSets try again, which they do less and less often by themselves.
func (s *site) retryPods(namespace string) {
	s.Helper()
	var all appsv1.ReplicaSetList
	if err := s.client.List(s.ctx, &all, client.InNamespace(namespace)); err != nil {
		s.Fatal(err)
	}
	for i := range all.Items {
		s.patch(&all.Items[i], `{"metadata":{"annotations":{"again":"now"}}}`)
	}
}
