package embedded

import (
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// complete is With for a zone that is given to other servers: while it has no name server they do not take it (RFC 1034
// §4.2.1), so it gets the one that its SOA names, with an address that answers nothing if it is in the zone and has
// none.
func (z *Zone) complete(soa rr.SOA, changes []plan.Change) (*Zone, []backend.Rejection, error) {
	if len(z.filled) > 0 {
		var all []plan.Change
		for _, k := range z.filled {
			all = append(all, plan.Change{Key: k})
		}
		changes = append(all, changes...)
	}
	next, refused, err := z.With(&soa, changes)
	if err != nil || len(refused) > 0 {
		return nil, refused, err
	}
	next.filled = nil
	if next.apex.find(rr.TypeNS) != nil {
		return next, nil, nil
	}
	fill := next.lacks()
	filled, refused, err := next.With(nil, fill)
	if err != nil || len(refused) > 0 {
		return nil, refused, err
	}
	for _, c := range fill {
		filled.filled = append(filled.filled, c.Key)
	}
	return filled, nil, nil
}

// lacks returns what a zone without name servers gets.
func (z *Zone) lacks() []plan.Change {
	has := func(k rr.Key) bool { return z.find(k) != nil }
	server := rr.PlaceholderServer(z.name, z.soa.MName, has)
	fill := []plan.Change{z.extra(z.name, rr.TypeNS, server.String())}
	if rr.LacksAddress(z.name, server, has) {
		fill = append(fill, z.extra(server, rr.TypeA, rr.PlaceholderAddress))
	}
	return fill
}

func (z *Zone) extra(name dnsname.Name, t rr.Type, data string) plan.Change {
	k := rr.Key{Name: name, Type: t}
	return plan.Change{Key: k, Want: rr.NewSet(k, z.soa.TTL, data)}
}
