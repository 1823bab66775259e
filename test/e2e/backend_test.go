package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

const (
	fleetBackend = `{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: %s}, spec: {bind9: {clusterRef: {namespace: %s, name: %s}}}}`
	kubiZone     = `{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: %s, name: zone}, spec: {domainName: %s., backendRefs: [{name: %s}],
  delegations: [{namespace: %[1]s, records: [{pattern: "*"}, {pattern: "@"}]}]}}`
	kubiRecord = `{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {namespace: %s, name: www}, spec: {domainName: www.%s., type: A, rdata: %s, ttl: 30}}`
)

// condition says what is wrong with a condition of one of several.
func condition(all []metav1.Condition, kind string, status metav1.ConditionStatus, reason string) string {
	for _, c := range all {
		if c.Type == kind {
			if c.Status == status && c.Reason == reason {
				return ""
			}
			return fmt.Sprintf("%s is %s, %s: %s", kind, c.Status, c.Reason, c.Message)
		}
	}
	return "there is no condition " + kind
}

// TestAZoneOfAnotherDialectOnAFleet has a Zone of kubi.zone on a Bind9Cluster, which a Backend names, and takes its
// pods away.
func TestAZoneOfAnotherDialectOnAFleet(t *testing.T) {
	s := newSite(t)
	fleet, team, domain := s.namespace("fleet"), s.namespace("team"), s.word+".kubi.example"
	s.Cleanup(func() {
		_ = s.client.Delete(context.WithoutCancel(s.ctx), &zonefold.Backend{ObjectMeta: metav1.ObjectMeta{Name: s.word}})
	})
	backend, zone := &zonefold.Backend{ObjectMeta: metav1.ObjectMeta{Name: s.word}},
		&kubizone.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "zone"}}
	is := func(what string, object client.Object, conditions func() []metav1.Condition, want ...string) {
		s.eventually(what, func() string {
			if !s.get(object) {
				return "it is not there"
			}
			return condition(conditions(), want[0], metav1.ConditionStatus(want[1]), want[2])
		})
	}
	ofZone, ofBackend := func() []metav1.Condition { return zone.Status.Conditions }, func() []metav1.Condition {
		return backend.Status.Conditions
	}

	s.apply(fleetBackend, s.word, fleet, "dns")
	s.apply(kubiZone, team, domain, s.word)
	s.apply(kubiRecord, team, domain, "192.0.2.1")
	is("a Backend of a cluster that is to come", backend, ofBackend, "Ready", "False", "BackendNotReady")
	s.apply(clusterManifest, fleet, "dns", "primaryReplicas: 1, secondaryReplicas: 1")
	is("its Zone", zone, ofZone, "Served", "True", "Served")
	is("the Backend", backend, ofBackend, "Ready", "True", "Ready")
	all := []string{"dns-primary-0", "dns-secondary-0"}
	s.allDig(s.servers(fleet, all...), "www."+domain, dns.TypeA, "30 192.0.2.1")
	k := s.transferKey(fleet, "dns")

	for i, name := range all {
		p := s.pod(fleet, name)
		s.remove(p)
		s.another(fleet, name, p)
		s.allDig(s.servers(fleet, all...), "www."+domain, dns.TypeA, fmt.Sprintf("30 192.0.2.%d", i+1))
		s.apply(kubiRecord, team, domain, fmt.Sprintf("192.0.2.%d", i+2))
		s.allDig(s.servers(fleet, all...), "www."+domain, dns.TypeA, fmt.Sprintf("30 192.0.2.%d", i+2))
		s.agree(s.servers(fleet, all...), domain, k)
	}
	is("its Zone", zone, ofZone, "Served", "True", "Served")
	s.driftsOfAnotherDialect(fleet, team, domain, all)
	is("its Zone", zone, ofZone, "Served", "True", "Served")
	s.awaitReady(cluster(fleet, "dns"))
	for _, name := range all {
		i := must(s, instance("", ""), fleet, name)
		if !slices.ContainsFunc(i.Status.Zones, func(z v1beta1.InstanceZone) bool {
			return z.Kind == "Zone" && z.APIVersion == "kubi.zone/v1alpha1" && z.Namespace == team && z.ZoneName == domain
		}) {
			t.Errorf("%s has the zones %+v", name, i.Status.Zones)
		}
	}
	s.remove(zone)
	s.allDig(s.servers(fleet, all...), "www."+domain, dns.TypeA, noZone)
	s.eventually("the Zone is gone", func() string {
		if s.get(zone) {
			return strings.Join(zone.Finalizers, " ")
		}
		return ""
	})
}

// driftsOfAnotherDialect has somebody change, delete and add at the primary. The next change finds it, every server has
// what is wanted and nothing else.
func (s *site) driftsOfAnotherDialect(fleet, team, domain string, all []string) {
	s.Helper()
	servers, k := s.servers(fleet, all...), s.transferKey(fleet, "dns")
	before := s.agree(servers, domain, k)
	s.foreign(fleet, all[0], domain,
		[]string{"www." + domain + ". 5 IN A 192.0.2.99", "extra." + domain + ". 5 IN A 192.0.2.98"},
		[]string{"www." + domain + ". 30 IN A 192.0.2.3"})
	s.eventually("what somebody else has written", func() string {
		if s.digs(servers[:1], "extra."+domain, dns.TypeA, noName) == "" {
			return "" // the operator was still reading after its last change, and has undone it
		}
		return s.digs(servers, "extra."+domain, dns.TypeA, "5 192.0.2.98") // secondaries follow whoever wrote it
	})
	s.apply(kubiRecord, team, domain, "192.0.2.4")
	s.allDig(servers, "www."+domain, dns.TypeA, "30 192.0.2.4")
	s.allDig(servers, "extra."+domain, dns.TypeA, noName)
	after := s.agree(servers, domain, k)
	if want := strings.ReplaceAll(before.records, "192.0.2.3", "192.0.2.4"); after.records != want ||
		after.soa.Serial <= before.soa.Serial {
		s.Errorf("the zone has serial %d after %d, and\n%s\nwant\n%s", after.soa.Serial, before.soa.Serial, after.records,
			want)
	}
}
