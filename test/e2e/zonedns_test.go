package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// Manifests of zones and records; the last argument is the rest of the spec.
const (
	zoneManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: %s}, spec: {zoneName: %s,
  soa: {primaryNameServer: ns1.%[3]s, adminEmail: admin@%[3]s, ttl: 60}, %[4]s}}`
	aManifest      = `{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {namespace: %s, name: %s}, spec: {zone: %s, name: %s, ipv4: %s, ttl: 30}}`
	recordManifest = `{apiVersion: bindy.firestoned.io/v1beta1, kind: %s, metadata: {namespace: %s, name: %s}, spec: {%s}}`
)

// How a server answers that does not have what it is asked for.
const (
	noName = "NXDOMAIN" // the zone has no such name
	noData = "NODATA"   // the name has nothing of this type
	noZone = "REFUSED"  // the server does not have the zone
)

func dnsZone(namespace, name string) *v1beta1.DNSZone {
	return &v1beta1.DNSZone{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func aRecord(namespace, name string) *v1beta1.ARecord {
	return &v1beta1.ARecord{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// awaitZone waits until a zone says that every server has it.
func (s *site) awaitZone(namespace, name string) {
	s.Helper()
	s.eventually("every server has "+name, func() string {
		return s.ready(dnsZone(namespace, name), metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
}

// awaitRecord waits until a record of any kind says that the primary servers have it.
func (s *site) awaitRecord(record client.Object) {
	s.Helper()
	s.eventually("every primary has "+record.GetName(), func() string {
		return s.ready(record, metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	})
}

// A server is a pod that answers, ready or not.
type server struct {
	namespace, instance string
	uid                 types.UID
	at                  netip.AddrPort
}

func (v server) String() string { return v.instance + " at " + v.at.String() }

// servers are the pods of a namespace by instance; of some instances, if any are named.
func (s *site) servers(namespace string, instances ...string) []server {
	s.Helper()
	var out []server
	for _, p := range s.pods(namespace, "") {
		instance := p.Labels[v1beta1.InstanceLabel]
		if p.Status.PodIP != "" && (len(instances) == 0 || slices.Contains(instances, instance)) {
			out = append(out, server{namespace, instance, p.UID, netip.AddrPortFrom(s.podAddress(&p), podPort)})
		}
	}
	slices.SortFunc(out, func(a, b server) int { return strings.Compare(a.instance, b.instance) })
	return out
}

// dig is what a server answers with authority to a question of any type: TTL and data of each record in order, as in
// "30 192.0.2.1, 30 192.0.2.2", or why there is none.
func dig(ctx context.Context, at netip.AddrPort, name string, rrtype uint16) (string, error) {
	answer, err := exchange(ctx, "tcp", at, question(name, rrtype), nil)
	switch {
	case err != nil:
		return "", err
	case answer.Rcode != dns.RcodeSuccess:
		return dns.RcodeToString[answer.Rcode], nil
	}
	var out []string
	for _, r := range answer.Answer {
		if r.Header().Rrtype == rrtype {
			out = append(out, fmt.Sprint(r.Header().Ttl, " ", strings.TrimPrefix(r.String(), r.Header().String())))
		}
	}
	switch {
	case len(out) > 0 && !answer.Authoritative:
		return "", fmt.Errorf("%s answers %s without authority", at, name)
	case len(out) == 0 && !answer.Authoritative:
		return "REFERRAL", nil
	case len(out) == 0:
		return noData, nil
	}
	slices.Sort(out)
	return strings.Join(out, ", "), nil
}

// digs says which of the servers answers otherwise than wanted.
func (s *site) digs(servers []server, name string, rrtype uint16, want string) string {
	if len(servers) == 0 {
		return "there are no servers to ask"
	}
	for _, v := range servers {
		got, err := dig(s.ctx, v.at, name, rrtype)
		if err != nil {
			return fmt.Sprintf("%s: %v", v, err)
		}
		if got != want {
			return fmt.Sprintf("%s answers %q, want %q", v, got, want)
		}
	}
	return ""
}

// allDig waits until every server answers as wanted.
func (s *site) allDig(servers []server, name string, rrtype uint16, want string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s %s", name, dns.TypeToString[rrtype]), func() string {
		return s.digs(servers, name, rrtype, want)
	})
}

// A zoneText is a whole zone at a server.
type zoneText struct {
	soa     dns.SOA
	records string // all but the SOA, a line each, in order
}

// axfr transfers a zone, signed with a key.
func axfr(at netip.AddrPort, zone string, k key) (zoneText, error) {
	t := &dns.Transfer{DialTimeout: lost, ReadTimeout: lost, TsigSecret: map[string]string{dns.Fqdn(k.name): k.secret}}
	m := new(dns.Msg).SetAxfr(dns.Fqdn(zone))
	m.SetTsig(dns.Fqdn(k.name), dns.Fqdn(k.algorithm), 300, time.Now().Unix())
	envelopes, err := t.In(m, at.String())
	if err != nil {
		return zoneText{}, fmt.Errorf("transferring %s from %s: %w", zone, at, err)
	}
	var out zoneText
	var lines []string
	for e := range envelopes {
		err = errors.Join(err, e.Error)
		for _, r := range e.RR {
			if soa, ok := r.(*dns.SOA); ok {
				out.soa = *soa
			} else {
				lines = append(lines, r.String())
			}
		}
	}
	if err != nil {
		return zoneText{}, fmt.Errorf("transferring %s from %s: %w", zone, at, err)
	}
	slices.Sort(lines)
	out.records = strings.Join(lines, "\n")
	return out, nil
}

// serial is the one of a zone at a server.
func serial(ctx context.Context, at netip.AddrPort, zone string) (uint32, error) {
	answer, err := exchange(ctx, "tcp", at, question(zone, dns.TypeSOA), nil)
	if err != nil {
		return 0, err
	}
	for _, r := range answer.Answer {
		if soa, ok := r.(*dns.SOA); ok {
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s has no SOA of %s: %s", at, zone, dns.RcodeToString[answer.Rcode])
}

// agree waits until all servers hold the same content of a zone under the same serial, and returns it. The key is the
// cluster's.
func (s *site) agree(servers []server, zone string, k key) zoneText {
	s.Helper()
	var first zoneText
	s.eventually("the same "+zone+" everywhere", func() string {
		for i, v := range servers {
			c, err := axfr(v.at, zone, k)
			if err != nil {
				return err.Error()
			}
			if i == 0 {
				first = c
			}
			if c.soa.String() != first.soa.String() || c.records != first.records {
				return fmt.Sprintf("%s has serial %d and\n%s\nwhereas %s has serial %d and\n%s", v, c.soa.Serial, c.records,
					servers[0], first.soa.Serial, first.records)
			}
		}
		if len(servers) == 0 {
			return "there are no servers"
		}
		return ""
	})
	return first
}

// transferKey is the one of a cluster.
func (s *site) transferKey(namespace, cluster string) key {
	s.Helper()
	return s.key(namespace, cluster+"-transfer-key")
}
