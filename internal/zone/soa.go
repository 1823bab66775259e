package zone

import (
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// soaOf returns the SOA of z without its serial. The primary's name is the first
// name server of the apex, or ns.<zone>; the mailbox is hostmaster.<zone>.
func soaOf(z *zoneState) rr.SOA {
	soa := rr.SOA{
		MName: z.MName, RName: z.RName, TTL: z.TTL,
		Refresh: z.Refresh, Retry: z.Retry, Expire: z.Expire, Minimum: z.Minimum,
	}
	if z.SOATTL != nil {
		soa.TTL = *z.SOATTL
	}
	if soa.MName.IsZero() {
		soa.MName = primaryOf(z)
	}
	if soa.RName.IsZero() {
		soa.RName = labelIn("hostmaster", z.node.name)
	}
	return soa
}

func primaryOf(z *zoneState) dnsname.Name {
	var first dnsname.Name
	for _, data := range z.node.cell(z).set(rr.TypeNS).Data {
		for _, target := range rr.Targets(rr.TypeNS, data) {
			if first.IsZero() || target.Compare(first) < 0 {
				first = target
			}
		}
	}
	if first.IsZero() {
		return labelIn("ns", z.node.name)
	}
	return first
}

// labelIn returns label.<zone>, or the zone itself where that would exceed 255
// octets (RFC 1035 §2.3.4).
func labelIn(label string, zone dnsname.Name) dnsname.Name {
	rel, err := dnsname.ParseRelative(label)
	if err != nil {
		return zone
	}
	name, err := rel.In(zone)
	if err != nil {
		return zone
	}
	return name
}
