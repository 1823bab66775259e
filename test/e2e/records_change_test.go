package e2e_test

import (
	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"

	"k8s.io/apimachinery/pkg/api/meta"
)

func sameInAnotherOrder(z *zoned) {
	z.makeZone()
	o := z.record("ARecord", "www", "name: www, ipv4Addresses: [192.0.2.1, 192.0.2.2, 192.0.2.3]")
	z.published(o, "www")
	before := z.serial()
	z.record("ARecord", "www", "name: www, ipv4Addresses: [192.0.2.3, 192.0.2.1, 192.0.2.2, 192.0.2.1]")
	z.published(o, "www") // also of the new generation
	z.serves("www", dns.TypeA, "120 192.0.2.1, 120 192.0.2.2, 120 192.0.2.3")
	if now := z.serial(); now != before {
		z.Errorf("the serial went from %d to %d when values changed places", before, now)
	}
	// A change that follows is the next one.
	z.record("TXTRecord", "next", "name: next, text: [a]")
	z.serves("next", dns.TypeTXT, `120 "a"`)
	if now := z.serial(); now != before+1 {
		z.Errorf("the serial went from %d to %d with one change", before, now)
	}
}

func ttlAndSpelling(z *zoned) {
	z.makeZone()
	o := z.record("AAAARecord", "www", "name: www, ipv6: '2001:db8::1', ttl: 60")
	z.published(o, "www")
	before := z.serial()
	z.record("AAAARecord", "www", "name: www, ipv6: '2001:db8::1', ttl: 61")
	z.serves("www", dns.TypeAAAA, "61 2001:db8::1")
	z.published(o, "www")
	if now := z.serial(); now != before+1 {
		z.Errorf("the serial went from %d to %d when a TTL changed", before, now)
	}
	z.record("AAAARecord", "www", "name: WWW, ipv6Addresses: ['2001:0DB8:0::0001'], ttl: 61")
	z.published(o, "www")
	if now := z.serial(); now != before+1 {
		z.Errorf("the serial went from %d to %d when an address was written in another way", before+1, now)
	}
	z.serves("www", dns.TypeAAAA, "61 2001:db8::1")
}

func twoObjects(z *zoned) {
	z.makeZone()
	a := z.record("ARecord", "a", "name: www, ipv4Addresses: [192.0.2.1, 192.0.2.2], ttl: 300")
	z.published(a, "www")
	z.younger(a)
	b := z.selected("ARecord", "b", "name: www, ipv4Addresses: [192.0.2.2, 192.0.2.3], ttl: 60")
	z.serves("www", dns.TypeA, "300 192.0.2.1, 300 192.0.2.2, 300 192.0.2.3")
	z.published(b, "www")
	if c := meta.FindStatusCondition(statusOf(b).Conditions, controller.ConditionWarning); c == nil ||
		c.Reason != string(zone.TTLDiffers) {
		z.Errorf("the younger record has another TTL, which its conditions do not tell: %+v", statusOf(b).Conditions)
	}
	z.published(a, "www")
	z.counts(2)
	z.remove(a)
	z.serves("www", dns.TypeA, "60 192.0.2.2, 60 192.0.2.3")
	z.remove(b)
	z.serves("www", dns.TypeA, noName)
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
}

func besideCNAME(z *zoned) {
	z.makeZone()
	a := z.record("ARecord", "address", "name: www, ipv4: 192.0.2.1")
	text := z.selected("TXTRecord", "text", "name: www, text: [a]")
	z.published(a, "www")
	z.published(text, "www")
	z.younger(text)
	before := z.serial()
	alias := z.record("CNAMERecord", "alias", "name: www, target: a.example.org.")
	z.refused(alias, string(zone.Conflict), "ARecord", a.GetName())
	z.serves("www", dns.TypeA, "120 192.0.2.1")
	z.serves("www", dns.TypeCNAME, noData)
	if now := z.serial(); now != before {
		z.Errorf("the serial went from %d to %d for what is refused", before, now)
	}
	// It comes when nothing else is there, and then it was there first.
	z.remove(a)
	z.remove(text)
	z.serves("www", dns.TypeCNAME, "120 a.example.org.")
	z.published(alias, "www")
	z.younger(alias)
	a = z.selected("ARecord", "address", "name: www, ipv4: 192.0.2.2")
	z.refused(a, string(zone.Conflict), "CNAMERecord", alias.GetName())
	second := z.record("CNAMERecord", "second", "name: www, target: b.example.org.")
	z.refused(second, string(zone.Conflict), alias.GetName())
	z.serves("www", dns.TypeCNAME, "120 a.example.org.")
	z.published(alias, "www")
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
}

func renamedAndMoved(z *zoned) {
	z.makeZone()
	z.anotherZone("r13-other", "other.r13.example")
	o := z.record("ARecord", "www", "name: old, ipv4: 192.0.2.1")
	z.published(o, "old")
	z.serves("old", dns.TypeA, "120 192.0.2.1")
	before := z.serial()
	z.record("ARecord", "www", "name: new, ipv4: 192.0.2.1")
	z.serves("new", dns.TypeA, "120 192.0.2.1")
	z.serves("old", dns.TypeA, noName)
	z.published(o, "new")
	if now := z.serial(); now != before+1 {
		z.Errorf("the serial went from %d to %d with a rename", before, now)
	}

	z.apply(recordManifest, "ARecord", z.fleet.namespace, o.GetName(),
		"zone: other.r13.example, name: new, ipv4: 192.0.2.1")
	z.allDig(z.fleet.servers, "new.other.r13.example", dns.TypeA, "120 192.0.2.1")
	z.serves("new", dns.TypeA, noName)
	z.awaitRecord(o)
	z.isIn(o, "r13-other", "other.r13.example")
	if name := statusOf(o).PublishedName; name != "new.other.r13.example." {
		z.Errorf("it was published as %s", name)
	}
	z.counts(0)
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
	z.agree(z.fleet.servers, "other.r13.example", z.fleet.key)
}
