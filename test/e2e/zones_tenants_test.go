package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// An attempt is what a tenant makes to reach what belongs to another, and what becomes of it.
type attempt struct {
	sentence, manifest string
	object             client.Object
	reason             string
}

// TestT1TenantsCannotReachEachOther has one tenant with a zone on a fleet, and another who tries to reach zone,
// records, servers and keys from a namespace of their own, where they may make whatever they like.
func TestT1TenantsCannotReachEachOther(t *testing.T) {
	s := newSite(t)
	f, theirs := s.commonFleet(), s.namespace("b")
	zone := s.word + ".example"
	s.apply(
		`{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s, name: own, labels: {own: "yes"}}, spec: {role: Primary}}`, theirs)
	// not all of the namespace, which others have records in
	s.apply(zoneManifest, f.namespace, s.word, zone, fmt.Sprintf(
		"clusterRef: dns, recordsFrom: [{selector: {matchLabels: {of: %s}}}]", s.word))
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.1")
	s.isOn(zoneKey(f.namespace, s.word), keysOf(f.namespace, "dns-primary-0", "dns-primary-1", "dns-secondary-0")...)
	s.allDig(f.servers, "www."+zone, dns.TypeA, "30 192.0.2.1")
	before := s.agree(f.servers, zone, f.key)

	for _, a := range attempts(f, theirs, s.word) {
		s.run(a.sentence, func(s *site) {
			s.apply("%s", a.manifest)
			s.eventually("it is told", func() string { return s.ready(a.object, metav1.ConditionFalse, a.reason) })
			o := must(s, a.object, theirs, a.object.GetName())
			if text := fmt.Sprint(o); strings.Contains(text, "dns-primary-1") || strings.Contains(text, "dns-secondary") ||
				strings.Contains(text, f.namespace+"/") {
				s.Errorf("it tells of what others have: %s", text)
			}
		})
	}
	s.run("zones of the same name, above and below, on servers of their own", func(s *site) {
		s.awaitReady(instance(theirs, "own"))
		for i, name := range []string{zone, "example", "www." + zone} {
			s.apply(zoneManifest, theirs, fmt.Sprintf("twin-%d", i), name,
				`bind9InstancesFrom: [{selector: {matchLabels: {own: "yes"}}}]`)
			s.apply(recordManifest, "ARecord", theirs, fmt.Sprintf("twin-%d", i), fmt.Sprintf(
				"zoneRef: twin-%d, name: taken, ipv4: 192.0.2.66, ttl: 30", i))
			s.isOn(zoneKey(theirs, fmt.Sprintf("twin-%d", i)), client.ObjectKey{Namespace: theirs, Name: "own"})
			s.allDig(s.servers(theirs, "own"), "taken."+name, dns.TypeA, "30 192.0.2.66")
		}
	})
	s.run("keys of one tenant at servers of the other", func(s *site) {
		k := s.key(theirs, "own-rndc-key")
		if k.name != s.key(f.namespace, "dns-primary-0-rndc-key").name {
			s.Errorf("their key is called %s, so that nothing of the secret is tried", k.name)
		}
		for _, v := range f.servers {
			if err := update(s.ctx, v.at, k, addition{zone, "taken." + zone, "192.0.2.66"}); err == nil {
				s.Errorf("%s takes an update with a key of another tenant", v)
			}
			wrong := s.key(theirs, "own-transfer-key")
			if _, err := axfr(v.at, zone, key{f.key.name, f.key.algorithm, wrong.secret}); err == nil {
				s.Errorf("%s gives the zone to another tenant", v)
			}
		}
	})
	if now := s.agree(f.servers, zone, f.key); now.soa.String() != before.soa.String() || now.records != before.records {
		t.Errorf("the zone is no longer\n%s\n%s\nbut\n%s\n%s", &before.soa, before.records, &now.soa, now.records)
	}
	s.awaitZone(f.namespace, s.word)
}

// attempts name what another tenant has, who calls their zone and their record word.
func attempts(f fleet, theirs, word string) []attempt {
	zone := word + ".example"
	record := func(name, spec string) string {
		return fmt.Sprintf(recordManifest, "ARecord", theirs, name, spec+", name: taken, ipv4: 192.0.2.66")
	}
	lone := func(name, spec string) string { return fmt.Sprintf(instanceManifest, theirs, name, spec) }
	return []attempt{
		{"a zone on a cluster of the other's", fmt.Sprintf(zoneManifest, theirs, "by-ref", "by-ref."+zone, "clusterRef: dns"),
			dnsZone(theirs, "by-ref"), v1beta1.ReasonNoInstances},
		{"a zone on a cluster of the other's, with its namespace",
			fmt.Sprintf(zoneManifest, theirs, "by-path", "by-path."+zone, "clusterRef: "+f.namespace+".dns"),
			dnsZone(theirs, "by-path"), v1beta1.ReasonNoInstances},
		{"a zone on servers that have labels of the other's", fmt.Sprintf(zoneManifest, theirs, "by-label", "by-label."+zone,
			"bind9InstancesFrom: [{selector: {matchLabels: {bindy.firestoned.io/cluster: dns}}}]"), dnsZone(theirs, "by-label"),
			v1beta1.ReasonNoInstances},
		{"the same name as the other's on the other's servers", fmt.Sprintf(zoneManifest, theirs, "hijack", zone,
			"clusterRef: dns"), dnsZone(theirs, "hijack"), v1beta1.ReasonNoInstances},
		{"a record in a zone of the other's, by name", record("by-zone", "zone: "+zone), aRecord(theirs, "by-zone"),
			v1beta1.ReasonNoInstances},
		{"a record in a zone of the other's, by its object", record("by-object", "zoneRef: "+word), aRecord(theirs,
			"by-object"), v1beta1.ReasonZoneNotFound},
		{"a record that the other's zone would select",
			fmt.Sprintf(
				`{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {namespace: %s, name: selected, labels: {of: %s}}, spec: {name: taken, ipv4: 192.0.2.66}}`, theirs, word),
			aRecord(theirs, "selected"), v1beta1.ReasonNotSelected},
		{"a server of the other's cluster", lone("joins", "role: Secondary, clusterRef: dns"), instance(theirs, "joins"),
			v1beta1.ReasonClusterNotFound},
		{"a server with the other's key",
			lone("steals", "role: Primary, rndcKey: {secretRef: {name: dns-primary-0-rndc-key}}"), instance(theirs, "steals"),
			v1beta1.ReasonSecretNotFound},
	}
}
