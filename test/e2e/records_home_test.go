package e2e_test

import (
	"fmt"
	"time"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

func notSelected(z *zoned) {
	z.makeZone()
	unlabelled := z.selected("ARecord", "unlabelled", "name: unlabelled, ipv4: 192.0.2.1")
	unnamed := z.record("ARecord", "unnamed", "name: unnamed, ipv4: 192.0.2.2")
	dropped := z.selected("TXTRecord", "dropped", "name: dropped, text: [a]")
	stays := z.record("ARecord", "stays", "name: stays, ipv4: 192.0.2.3")
	z.published(unlabelled, "unlabelled")
	z.published(unnamed, "unnamed")
	z.published(dropped, "dropped")

	z.patch(unlabelled, `{"metadata":{"labels":{"zone":null}}}`)
	z.serves("unlabelled", dns.TypeA, noName)
	z.refused(unlabelled, v1beta1.ReasonNotSelected)
	z.patch(unnamed, `{"spec":{"zone":null}}`)
	z.serves("unnamed", dns.TypeA, noName)
	z.refused(unnamed, v1beta1.ReasonNotSelected)
	z.patch(dnsZone(z.fleet.namespace, z.word), `{"spec":{"recordsFrom":null}}`)
	z.serves("dropped", dns.TypeTXT, noName)
	z.refused(dropped, v1beta1.ReasonNotSelected)
	z.serves("stays", dns.TypeA, "120 192.0.2.3")
	z.published(stays, "stays")
	z.counts(1)

	// And back.
	z.patch(unnamed, fmt.Sprintf(`{"spec":{"zone":%q}}`, z.zone))
	z.serves("unnamed", dns.TypeA, "120 192.0.2.2")
	z.published(unnamed, "unnamed")
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
}

func selectedTwice(z *zoned) {
	z.makeZone()
	z.younger(dnsZone(z.fleet.namespace, z.word))
	o := z.selected("ARecord", "www", "name: www, ipv4: 192.0.2.1")
	z.published(o, "www")
	z.counts(1)

	// Two selectors of one zone match it: it counts once, and nothing changes.
	before := z.serial()
	z.patch(dnsZone(z.fleet.namespace, z.word),
		fmt.Sprintf(
			`{"spec":{"recordsFrom":[{"selector":{"matchLabels":{"zone":%q}}},{"selector":{"matchExpressions":[{"key":"zone","operator":"In","values":[%[1]q]}]}}]}}`, z.word))
	z.awaitZone(z.fleet.namespace, z.word)
	z.counts(1)
	z.serves("www", dns.TypeA, "120 192.0.2.1")
	if now := z.serial(); now != before {
		z.Errorf("the serial went from %d to %d with a second selector that selects the same", before, now)
	}

	// A second zone selects it: the older one has it, and all three are told.
	const younger, youngerZone = "r14b-younger", "younger.r14b.example"
	z.anotherZone(younger, youngerZone)
	z.awaitZone(z.fleet.namespace, younger)
	z.eventually("the record is told", func() string {
		z.get(o)
		if c := meta.FindStatusCondition(statusOf(o).Conditions, controller.ConditionWarning); c == nil ||
			c.Reason != v1beta1.ReasonSelectedTwice {
			return fmt.Sprintf("%+v", statusOf(o).Conditions)
		}
		return ""
	})
	z.eventually("the younger zone is told", func() string {
		if c := meta.FindStatusCondition(must(z.site, dnsZone("", ""), z.fleet.namespace, younger).Status.Conditions,
			controller.ConditionWarning); c == nil || c.Reason != v1beta1.ReasonSelectedTwice {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	z.published(o, "www")
	z.allDig(z.fleet.servers, "www."+youngerZone, dns.TypeA, noName)
	z.serves("www", dns.TypeA, "120 192.0.2.1")
	if now := z.serial(); now != before {
		z.Errorf("the serial of the older zone went from %d to %d", before, now)
	}

	// It goes over when the older one does not select it any more.
	z.patch(dnsZone(z.fleet.namespace, z.word), `{"spec":{"recordsFrom":null}}`)
	z.allDig(z.fleet.servers, "www."+youngerZone, dns.TypeA, "120 192.0.2.1")
	z.serves("www", dns.TypeA, noName)
	z.eventually("nobody complains any more", func() string {
		z.get(o)
		if c := meta.FindStatusCondition(statusOf(o).Conditions, controller.ConditionWarning); c != nil ||
			statusOf(o).Zone != youngerZone {
			return fmt.Sprintf("%+v", statusOf(o))
		}
		return z.ready(o, metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	})
	z.isIn(o, younger, youngerZone)
}

func zoneAfterRecord(z *zoned) {
	byName, byLabel := z.record("ARecord", "named", "name: named, ipv4: 192.0.2.1"), z.selected("ARecord", "chosen",
		"name: chosen, ipv4: 192.0.2.2")
	z.refused(byName, v1beta1.ReasonZoneNotFound, z.zone)
	z.refused(byLabel, v1beta1.ReasonNotSelected)
	z.allDig(z.fleet.servers, z.full("named"), dns.TypeA, noZone)
	began := time.Now()
	z.makeZone()
	z.published(byName, "named")
	z.published(byLabel, "chosen")
	z.serves("named", dns.TypeA, "120 192.0.2.1")
	z.serves("chosen", dns.TypeA, "120 192.0.2.2")
	z.Logf("zone and records are served %s after the zone was made", time.Since(began).Round(time.Millisecond))

	// The same when the zone has no servers at first.
	const later = "later.r15.example"
	z.apply(zoneManifest, z.fleet.namespace, "r15-later", later, "clusterRef: none-yet")
	z.apply(recordManifest, "ARecord", z.fleet.namespace, "r15-later", "zone: "+later+", name: www, ipv4: 192.0.2.3")
	o := aRecord(z.fleet.namespace, "r15-later")
	z.eventually("no server", func() string { return z.ready(o, metav1.ConditionFalse, v1beta1.ReasonNoInstances) })
	z.eventually("no server", func() string {
		return z.ready(dnsZone(z.fleet.namespace, "r15-later"), metav1.ConditionFalse, v1beta1.ReasonNoInstances, "none-yet")
	})
	z.patch(dnsZone(z.fleet.namespace, "r15-later"), `{"spec":{"clusterRef":"dns"}}`)
	z.allDig(z.fleet.servers, "www."+later, dns.TypeA, "60 192.0.2.3")
	z.awaitRecord(o)
}
