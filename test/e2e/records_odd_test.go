package e2e_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/zone"
)

// foreign has somebody else write into the zone at a primary.
func (z *zoned) foreign(instance string, add, remove []string) {
	z.Helper()
	z.site.foreign(z.fleet.namespace, instance, z.zone, add, remove)
}

// foreign has somebody else write into a zone at the pod of a primary, with the key of the server.
func (s *site) foreign(namespace, instance, zone string, add, remove []string) {
	s.Helper()
	m := new(dns.Msg).SetUpdate(dns.Fqdn(zone))
	parse := func(lines []string) (all []dns.RR) {
		for _, line := range lines {
			r, err := dns.NewRR(line)
			if err != nil {
				s.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	m.Remove(parse(remove))
	m.Insert(parse(add))
	k, at := s.key(namespace, instance+"-rndc-key"), netip.AddrPortFrom(s.podAddress(s.pod(namespace, instance)), podPort)
	answer, err := exchange(s.ctx, "tcp", at, m, &k)
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		s.Fatalf("somebody else cannot write into %s at %s: %v %v", zone, instance, answer, err)
	}
}

// drift has somebody else change, delete and add at one primary. A zone that we have whole holds nothing of others: it
// is put right with the next change and by an audit, and the secondaries follow.
func drift(z *zoned) {
	z.makeZone()
	z.record("ARecord", "www", "name: www, ipv4: 192.0.2.1")
	z.record("TXTRecord", "text", "name: text, text: [a]")
	z.serves("www", dns.TypeA, "120 192.0.2.1")
	z.serves("text", dns.TypeTXT, `120 "a"`)
	whole := z.agree(z.fleet.servers, z.zone, z.fleet.key)
	for _, instance := range []string{"dns-primary-0", "dns-primary-1"} {
		z.foreign(instance,
			[]string{z.full("www") + ". 5 IN A 192.0.2.99", z.full("extra") + ". 5 IN A 192.0.2.98"},
			[]string{z.full("www") + ". 120 IN A 192.0.2.1", z.full("text") + `. 120 IN TXT "a"`})
		if instance == "dns-primary-0" { // the next change finds it
			z.record("ARecord", "next", "name: next, ipv4: 192.0.2.2")
			z.serves("next", dns.TypeA, "120 192.0.2.2")
		} else { // and so does who is told to look
			z.patch(dnsZone(z.fleet.namespace, z.word),
				`{"metadata":{"annotations":{"bindy.firestoned.io/reconcile-trigger":"1"}}}`)
		}
		z.serves("www", dns.TypeA, "120 192.0.2.1")
		z.serves("text", dns.TypeTXT, `120 "a"`)
		z.serves("extra", dns.TypeA, noName)
		now := z.agree(z.fleet.servers, z.zone, z.fleet.key)
		if want := whole.records + "\n"; !strings.Contains(now.records+"\n", "192.0.2.2") ||
			now.soa.Serial <= whole.soa.Serial || len(now.records) <= len(want) {
			z.Errorf("the zone has serial %d after %d, and\n%s\nafter\n%s", now.soa.Serial, whole.soa.Serial, now.records,
				whole.records)
		}
		z.awaitZone(z.fleet.namespace, z.word)
		z.eventually("somebody is told", func() string {
			return z.toldOf("ForeignChange", z.full("extra")+". A", "/"+instance)
		})
	}
}

// toldOf complains unless an event of a reason about the zone holds the texts.
func (z *zoned) toldOf(reason string, texts ...string) string {
	z.Helper()
	var events eventsv1.EventList
	if err := z.client.List(z.ctx, &events, client.InNamespace(z.fleet.namespace)); err != nil {
		z.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Reason == reason && e.Regarding.Kind == "DNSZone" && e.Regarding.Name == z.word &&
			!slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(e.Note, text) }) {
			return ""
		}
	}
	return "no event tells of it"
}

// invalid has records that are refused by the API server and such that are not, and one that is right between them.
func invalid(z *zoned) {
	z.makeZone()
	for _, r := range []struct{ sentence, kind, spec string }{
		{"an address that is none", "ARecord", "name: a, ipv4: 192.0.2.256"},
		{"an address of the other family", "AAAARecord", "name: a, ipv6: 192.0.2.1"},
		{"a label that is too long", "ARecord", "name: " + strings.Repeat("a", 64) + ", ipv4: 192.0.2.1"},
		{"a control character in a name", "ARecord", `name: "a\u0007", ipv4: 192.0.2.1`},
		{"a control character in a text", "TXTRecord", `name: a, text: ["a\nb"]`},
		{"a target without a dot", "CNAMERecord", "name: a, target: www.example.org"},
		{"a mail server without a dot", "MXRecord", "name: a, priority: 1, mailServer: mx"},
	} {
		if err := z.tries(r.kind, r.spec); !apierrors.IsInvalid(err) {
			z.Errorf("%s: %v", r.sentence, err)
		}
	}
	var all []string
	for n := range 100 {
		all = append(all, fmt.Sprintf("192.0.2.%d", n))
	}
	full := z.record("ARecord", "full", "name: full, ipv4Addresses: [%s]", strings.Join(all, ", "))
	z.published(full, "full")
	z.younger(full)
	labels := strings.Repeat(strings.Repeat("a", 60)+".", 4)
	for n, r := range []struct{ sentence, kind, spec, reason string }{
		{"a name that is too long in the zone", "ARecord", "name: " + strings.TrimSuffix(labels, ".") + ", ipv4: 192.0.2.1",
			string(zone.InvalidName)},
		{"a name outside of the zone", "ARecord", "name: www.example.org., ipv4: 192.0.2.1", string(zone.OutOfZone)},
		{"a text that is too long", "TXTRecord", "name: a, text: ['" + strings.Repeat("a", 65535) + "']",
			string(zone.InvalidData)},
		{"one address too many", "ARecord", "name: full, ipv4: 192.0.2.200", string(zone.SetFull)},
	} {
		before := z.serial()
		o := z.record(r.kind, fmt.Sprintf("bad-%d", n), "%s", r.spec)
		good := z.record("ARecord", fmt.Sprintf("good-%d", n), "name: good-%d, ipv4: 192.0.2.1", n)
		z.serves(fmt.Sprintf("good-%d", n), dns.TypeA, "120 192.0.2.1")
		z.published(good, fmt.Sprintf("good-%d", n))
		z.refused(o, r.reason, o.GetName())
		if now := z.serial(); now != before+1 {
			z.Errorf("%s: the serial went from %d to %d with one record", r.sentence, before, now)
		}
	}
	z.awaitZone(z.fleet.namespace, z.word)
	z.counts(5)
}

// tries is what comes of making a record.
func (z *zoned) tries(kind, spec string) error {
	z.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(fmt.Appendf(nil, recordManifest, kind, z.fleet.namespace, z.word+"-none",
		"zone: "+z.zone+", "+spec), &object.Object); err != nil {
		z.Fatal(err)
	}
	return z.client.Apply(z.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"))
}
