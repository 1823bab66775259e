package zone

import (
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// NextSerial returns a serial that secondaries take as newer than last (RFC 1982).
// It prefers the date form YYYYMMDD00 of now in UTC and never falls behind last+1.
// Zero, which some servers take as "no serial", is stepped over.
func NextSerial(last uint32, now time.Time) uint32 {
	year, month, day := now.UTC().Date()
	today := uint32(year*1_000_000 + int(month)*10_000 + day*100)
	if last == 0 || rr.SerialLess(last, today) {
		return today
	}
	if last++; last == 0 {
		last = 1
	}
	return last
}

// soaOf returns the SOA of z without its serial. The primary's name is the first
// name server of the apex, or ns.<zone>; the mailbox is hostmaster.<zone>.
func soaOf(z *zoneState) rr.SOA {
	soa := rr.SOA{
		MName: z.MName, RName: z.RName, TTL: z.TTL,
		Refresh: z.Refresh, Retry: z.Retry, Expire: z.Expire, Minimum: z.Minimum,
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
