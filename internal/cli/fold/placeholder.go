package fold

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Placeholder is a record that no object asks for, without which servers and
// named-checkzone do not load a zone: a name server at the apex, and an address of
// every name server of the apex that is in the zone.
type Placeholder struct {
	Name   dnsname.Name
	Typ    rr.Type
	Data   string
	Remark string
	Alone  bool // it is for another placeholder
}

func (p Placeholder) key() rr.Key { return rr.Key{Name: p.Name, Type: p.Typ} }

// What remarks say of a placeholder.
const (
	noServers = "placeholder: the Zone has no name servers"
	NoAddress = "placeholder: the name server has no address"
	// Those are known in a cluster only.
	ServersAddress = "placeholder: the addresses of the servers stand here"
)

// Placeholders returns what the zone lacks, in canonical order of the names.
func Placeholders(s zone.Snapshot) []Placeholder {
	var out []Placeholder
	has := holds(s)
	servers := map[dnsname.Name]bool{}
	if set, ok := s.Sets.Get(rr.Key{Name: s.Name, Type: rr.TypeNS}); ok {
		for _, data := range set.Data {
			if target, err := dnsname.Parse(data); err == nil && rr.BadServer(s.Name, target, has) == "" {
				servers[target] = true
			}
		}
	}
	none := len(servers) == 0
	if none {
		target := rr.PlaceholderServer(s.Name, s.SOA.MName, has)
		out = append(out, Placeholder{s.Name, rr.TypeNS, target.String(), noServers, true})
		servers[target] = true
	}
	for target := range servers {
		if rr.LacksAddress(s.Name, target, has) {
			out = append(out, Placeholder{target, rr.TypeA, rr.PlaceholderAddress, NoAddress, none})
		}
	}
	slices.SortStableFunc(out, func(a, b Placeholder) int { return a.key().Compare(b.key()) })
	return out
}

// Unloadable returns why loaders of master files refuse one record and with it the
// whole zone, as a clause, or "".
func Unloadable(s zone.Snapshot, set rr.Set, data string) string {
	switch {
	case set.Type == rr.TypeNS && set.Name == s.Name:
		if target, err := dnsname.Parse(data); err == nil {
			return rr.BadServer(s.Name, target, holds(s))
		}
	case set.Name == s.Name && (set.Type == rr.TypeCDS || set.Type == rr.TypeCDNSKEY) &&
		!holds(s)(rr.Key{Name: s.Name, Type: rr.TypeDNSKEY}):
		return "the zone has no DNSKEY here that it could belong to (RFC 7344 §4.1)"
	}
	return ""
}

// holds returns which sets a zone has.
func holds(s zone.Snapshot) func(rr.Key) bool {
	return func(k rr.Key) bool {
		_, ok := s.Sets.Get(k)
		return ok
	}
}
