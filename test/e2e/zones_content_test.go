package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// An edit is a change of a zone's spec, and what every server then answers.
type edit struct {
	sentence, patch string
	answers         []wanted
}

type wanted struct {
	name   string
	rrtype uint16
	answer string
}

// edits does one edit after another. Each has all servers agree, on a later serial than before.
func (s *site) edits(f fleet, zone string, edits []edit) {
	s.Helper()
	s.awaitZone(f.namespace, s.word)
	before := s.agree(f.servers, zone, f.key)
	for _, e := range edits {
		s.run(e.sentence, func(s *site) {
			s.patch(dnsZone(f.namespace, s.word), e.patch)
			for _, w := range e.answers {
				s.allDig(f.servers, w.name, w.rrtype, w.answer)
			}
			s.awaitZone(f.namespace, s.word)
			now := s.agree(f.servers, zone, f.key)
			if int32(now.soa.Serial-before.soa.Serial) <= 0 { // RFC 1982
				s.Errorf("the serial went from %d to %d", before.soa.Serial, now.soa.Serial)
			}
			before = now
		})
	}
}

// soaIs waits until every server has this SOA, in which ? stands for the server's own serial.
func (s *site) soaIs(servers []server, zone, want string) {
	s.Helper()
	s.eventually("the SOA", func() string {
		for _, v := range servers {
			n, err := serial(s.ctx, v.at, zone)
			if err != nil {
				return err.Error()
			}
			if complaint := s.digs([]server{v}, zone, dns.TypeSOA,
				strings.ReplaceAll(want, "?", fmt.Sprint(n))); complaint != "" {
				return complaint
			}
		}
		return ""
	})
}

func TestZ5EditsOfEveryOption(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	s.apply(zoneManifest, f.namespace, s.word, zone, "clusterRef: dns, nameServers: [{hostname: ns1."+zone+
		", ipv4Address: 192.0.2.51}]")
	s.apply(recordManifest, "ARecord", f.namespace, s.word, fmt.Sprintf("zone: %s, name: www, ipv4: 192.0.2.1", zone))
	s.awaitRecord(aRecord(f.namespace, s.word))
	dot := "." + zone + "."
	s.edits(f, zone, []edit{
		{"the default TTL", `{"spec":{"ttl":90}}`, []wanted{{"www" + dot, dns.TypeA, "90 192.0.2.1"}, {zone, dns.TypeNS,
			"90 ns1" + dot}, {"ns1" + dot, dns.TypeA, "90 192.0.2.51"}}},
		{"the timers of the SOA",
			`{"spec":{"soa":{"refresh":7200,"retry":1200,"expire":1209600,"negativeTtl":120,"ttl":120}}}`, nil},
		{"the mailbox", `{"spec":{"soa":{"adminEmail":"other@example.net"}}}`, nil},
		{"another name server with both kinds of addresses",
			fmt.Sprintf(
				`{"spec":{"nameServers":[{"hostname":"ns1.%[1]s","ipv4Address":"192.0.2.51"},{"hostname":"ns2.%[1]s","ipv4Address":"192.0.2.52","ipv6Address":"2001:db8::52"}]}}`, zone),
			[]wanted{{zone, dns.TypeNS, "90 ns1" + dot + ", 90 ns2" + dot}, {"ns2" + dot, dns.TypeA, "90 192.0.2.52"},
				{"ns2" + dot, dns.TypeAAAA, "90 2001:db8::52"}}},
		{"another address of it",
			fmt.Sprintf(
				`{"spec":{"nameServers":[{"hostname":"ns1.%[1]s","ipv4Address":"192.0.2.51"},{"hostname":"ns2.%[1]s","ipv4Address":"192.0.2.62"}]}}`, zone),
			[]wanted{{"ns2" + dot, dns.TypeA, "90 192.0.2.62"}, {"ns2" + dot, dns.TypeAAAA, noData}}},
		{"another primary name server, in no zone of ours", `{"spec":{"soa":{"primaryNameServer":"ns.example.net"}}}`,
			[]wanted{{zone, dns.TypeNS, "90 ns.example.net., 90 ns1" + dot + ", 90 ns2" + dot}}},
	})
	s.soaIs(f.servers, zone, "120 ns.example.net. other.example.net. ? 7200 1200 1209600 120")
}

// TestZ5EditsOfThePolicy has a zone signed and then not any more; the content stays what it is.
func TestZ5EditsOfThePolicy(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	s.apply(zoneManifest, f.namespace, s.word, zone, "clusterRef: dns, nameServers: [{hostname: ns1."+zone+
		", ipv4Address: 192.0.2.51}]")
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.1")
	s.awaitZone(f.namespace, s.word)
	// The servers have no volumes, so keys would go with their pods: the zone is served as it was, and says so.
	s.patch(dnsZone(f.namespace, s.word), `{"spec":{"dnssecPolicy":"default"}}`)
	refused := func() string {
		return s.ready(dnsZone(f.namespace, s.word), metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	}
	s.eventually("that it is not signed is told", refused)
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.2")
	s.allDig(f.servers, "www."+zone, dns.TypeA, "30 192.0.2.2")
	s.allDig(f.servers, zone, dns.TypeDNSKEY, noData)
	if complaint := refused(); complaint != "" {
		t.Error(complaint)
	}
	s.patch(dnsZone(f.namespace, s.word), `{"spec":{"dnssecPolicy":"none"}}`)
	s.awaitZone(f.namespace, s.word)
	s.allDig(f.servers, "www."+zone, dns.TypeA, "30 192.0.2.2")
}

func TestZ5bNameServersWithoutAddresses(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	var services []string
	for _, name := range []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0"} {
		services = append(services, "60 "+s.service(f.namespace, name).String())
	}
	slices.Sort(services)
	for i, tt := range []struct {
		sentence, server, spec string
		ns, a, aaaa            string // %s is the zone
	}{
		{"a server in the zone without an address has those of the instances", "ns1.%s", "", "60 ns1.%s.",
			strings.Join(services, ", "), noData},
		{"a server with an IPv6 address alone", "ns1.%s", `, nameServers: [{hostname: ns1.%s, ipv6Address: "2001:db8::53"}]`,
			"60 ns1.%s.", noData, "60 2001:db8::53"},
		{"no name servers but one outside", "ns.example.net", "", "60 ns.example.net.", noName, noName},
		{"the zone's own name is its server", "%s", "", "60 %s.", noName, noName},
	} {
		s.run(tt.sentence, func(s *site) {
			zone, object := fmt.Sprintf("z5b-%d.%s.example", i, s.word), fmt.Sprintf("%s-%d", s.word, i)
			in := func(text string) string { return strings.ReplaceAll(text, "%s", zone) }
			s.apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: %s}, spec: {zoneName: %s, clusterRef: dns, ttl: 60,
				soa: {primaryNameServer: %s, adminEmail: admin.example.net}%s}}`, f.namespace, object, zone, in(tt.server), in(tt.spec))
			s.isOn(zoneKey(f.namespace, object), keysOf(f.namespace, "dns-primary-0", "dns-primary-1", "dns-secondary-0")...)
			s.allDig(f.servers, zone, dns.TypeNS, in(tt.ns))
			s.allDig(f.servers, "ns1."+zone, dns.TypeA, tt.a)
			s.allDig(f.servers, "ns1."+zone, dns.TypeAAAA, tt.aaaa)
			if tt.server == "%s" {
				s.allDig(f.servers, zone, dns.TypeA, strings.Join(services, ", "))
			}
			s.agree(f.servers, zone, f.key)
		})
	}
}

func TestZ6ANameServerThatIsRemoved(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	s.apply(zoneManifest, f.namespace, s.word, zone, fmt.Sprintf(`clusterRef: dns, nameServers: [{hostname: ns1.%[1]s, ipv4Address: 192.0.2.51},
		{hostname: ns2.%[1]s, ipv4Address: 192.0.2.52, ipv6Address: "2001:db8::52"}, {hostname: ns.example.net}]`, zone))
	s.awaitZone(f.namespace, s.word)
	all := fmt.Sprintf("60 ns.example.net., 60 ns1.%[1]s., 60 ns2.%[1]s.", zone)
	s.allDig(f.servers, zone, dns.TypeNS, all)
	apex := s.keep("asking for the name servers", func(ctx context.Context, n int) error {
		got, err := dig(ctx, f.servers[n%len(f.servers)].at, zone, dns.TypeNS)
		if err == nil && !strings.Contains(got, "60 ns") {
			err = fmt.Errorf("%s answers %s", f.servers[n%len(f.servers)], got)
		}
		return err
	})
	s.edits(f, zone, []edit{
		{"one with addresses", fmt.Sprintf(
			`{"spec":{"nameServers":[{"hostname":"ns1.%s","ipv4Address":"192.0.2.51"},{"hostname":"ns.example.net"}]}}`, zone),
			[]wanted{{zone, dns.TypeNS, "60 ns.example.net., 60 ns1." + zone + "."}, {"ns2." + zone, dns.TypeA, noName},
				{"ns2." + zone, dns.TypeAAAA, noName}}},
		{"all but the one in the SOA", `{"spec":{"soa":{"primaryNameServer":"ns.example.org"},"nameServers":null}}`,
			[]wanted{{zone, dns.TypeNS, "60 ns.example.org."}, {"ns1." + zone, dns.TypeA, noName}}},
	})
	s.wasNeverFailed(apex)
}

// TestZ10AZoneThatBINDHasAlready has a server with a zone that no DNSZone made. It keeps serving it, and then what the
// DNSZone says.
func TestZ10AZoneThatBINDHasAlready(t *testing.T) {
	s := newSite(t)
	f := s.commonFleet()
	zone := s.word + ".example"
	s.makeZone(f.namespace, "dns-primary-0", zone)
	was, err := serial(s.ctx, f.servers[0].at, zone)
	if err != nil {
		t.Fatal(err)
	}
	asking := s.keep("asking for what both have", func(ctx context.Context, _ int) error {
		got, err := lookup(ctx, "tcp", f.servers[0].at, "www."+zone)
		if err == nil && got != "192.0.2.1" {
			err = fmt.Errorf("the answer is %q", got)
		}
		return err
	})
	s.apply(aManifest, f.namespace, s.word, zone, "www", "192.0.2.1")
	s.eventually("the record waits", func() string {
		return s.ready(aRecord(f.namespace, s.word), metav1.ConditionFalse, v1beta1.ReasonZoneNotFound)
	})
	s.apply(zoneManifest, f.namespace, s.word, zone, "clusterRef: dns, nameServers: [{hostname: ns1."+zone+
		", ipv4Address: 192.0.2.51}]")
	s.isOn(zoneKey(f.namespace, s.word), keysOf(f.namespace, "dns-primary-0", "dns-primary-1", "dns-secondary-0")...)
	s.awaitRecord(aRecord(f.namespace, s.word))
	s.allDig(f.servers, "www."+zone, dns.TypeA, "30 192.0.2.1")
	s.allDig(f.servers, zone, dns.TypeNS, "60 ns1."+zone+".")
	s.allDig(f.servers, "ns."+zone, dns.TypeA, noName) // the zone is all ours now
	now := s.agree(f.servers, zone, f.key)
	if int32(now.soa.Serial-was) <= 0 {
		t.Errorf("the serial went from %d to %d", was, now.soa.Serial)
	}
	s.wasNeverFailed(asking)
}
