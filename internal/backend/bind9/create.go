package bind9

import (
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// nobody is the name server of a zone that has none yet: a name that no host can have (RFC 6761 §6.4).
const nobody = "invalid."

// request is the call that makes a zone as it is wanted, and what is to be known of it afterwards.
func request(zone dnsname.Name, batch backend.Batch, want bindcar.ZoneSettings) (bindcar.CreateZone, site) {
	soa := *batch.SOA
	request := bindcar.CreateZone{
		ZoneName: text(zone), ZoneType: bindcar.Primary, Held: !batch.Last,
		ZoneConfig: bindcar.ZoneConfig{
			TTL: soa.TTL,
			SOA: bindcar.SOA{
				PrimaryNS: soa.MName.String(), AdminEmail: soa.RName.String(), Serial: &soa.Serial,
				Refresh: &soa.Refresh, Retry: &soa.Retry, Expire: &soa.Expire, NegativeTTL: &soa.Minimum,
			},
		},
	}
	at := site{held: !batch.Last, standing: true}
	for _, change := range batch.Changes {
		if isApexNS(zone, change.Key) && !change.Deletes() {
			at.standing = false
		}
		request.ZoneConfig.Records = append(request.ZoneConfig.Records, records(change.Want)...)
	}
	if at.standing {
		at.stand = rr.NewSet(rr.Key{Name: zone, Type: rr.TypeNS}, soa.TTL, standIn(zone, soa))
		request.ZoneConfig.Records = append(request.ZoneConfig.Records, records(at.stand)...)
	}
	if want.DNSSECPolicy != "" {
		request.ZoneConfig.DNSSECPolicy = &want.DNSSECPolicy
	}
	if batch.Last {
		request.ZoneConfig.AlsoNotify, request.ZoneConfig.AllowTransfer = &want.AlsoNotify, &want.AllowTransfer
	}
	return request, at
}

// standIn is the name server of a zone that BIND would not load without one: the SOA's, unless it is in the zone and so
// would want an address.
func standIn(zone dnsname.Name, soa rr.SOA) string {
	if soa.MName.Under(zone) {
		return nobody
	}
	return soa.MName.String()
}

// records are those of a set, with absolute names.
func records(set rr.Set) []bindcar.Record {
	all := make([]bindcar.Record, len(set.Data))
	ttl := set.TTL
	for i, data := range set.Data {
		all[i] = bindcar.Record{Name: set.Name.String(), Type: set.Type.String(), Value: strings.Clone(data), TTL: &ttl}
	}
	return all
}
