package hook

import (
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// fresh is the SOA of a zone that nobody has written to.
func fresh(zone dnsname.Name) (rr.SOA, error) {
	ns, err := within("ns", zone)
	if err != nil {
		return rr.SOA{}, err
	}
	master, err := within("hostmaster", zone)
	if err != nil {
		return rr.SOA{}, err
	}
	return rr.SOA{MName: ns, RName: master, Refresh: 3600, Retry: 600, Expire: 604800, Minimum: 300, TTL: 3600}, nil
}

func apexNS(zone dnsname.Name) rr.Key { return rr.Key{Name: zone, Type: rr.TypeNS} }

// served are changes that leave a zone a name server (RFC 1034 §4.2.1): in the place of none it has ns, which needs an
// address. Otherwise it would answer with one of which nobody who reads it is told.
func served(zone dnsname.Name, changes []plan.Change) ([]plan.Change, error) {
	key := apexNS(zone)
	i := slices.IndexFunc(changes, func(c plan.Change) bool { return c.Key == key && len(c.Want.Data) == 0 })
	if i < 0 {
		return changes, nil
	}
	ns, err := within("ns", zone)
	if err != nil {
		return nil, err
	}
	changes = slices.Clone(changes)
	changes[i].Want = rr.NewSet(key, 3600, ns.String())
	return changes, nil
}

func within(label string, zone dnsname.Name) (dnsname.Name, error) {
	return dnsname.Parse(label + "." + strings.TrimPrefix(zone.String(), "."))
}
