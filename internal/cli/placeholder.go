package cli

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A placeholder is a record that no object asks for, without which servers and
// named-checkzone do not load a zone: a name server at the apex, and an address of
// every name server of the apex that is in the zone.
type placeholder struct {
	name   dnsname.Name
	typ    rr.Type
	data   string
	remark string
	alone  bool // it is for another placeholder
}

func (p placeholder) key() rr.Key { return rr.Key{Name: p.name, Type: p.typ} }

const (
	noServers = "placeholder: the Zone has no name servers"
	noAddress = "placeholder: the name server has no address"
	// placeholderAddress is of TEST-NET-1 (RFC 5737), where nothing ever answers.
	placeholderAddress = "192.0.2.1"
	// placeholderServer is a name that never exists (RFC 6761 §6.4).
	placeholderServer = "nameserver.invalid."
)

// placeholders returns what the zone lacks, in canonical order of the names.
func placeholders(s zone.Snapshot) []placeholder {
	var out []placeholder
	servers := map[dnsname.Name]bool{}
	if set, ok := s.Sets.Get(rr.Key{Name: s.Name, Type: rr.TypeNS}); ok {
		for _, data := range set.Data {
			if target, err := dnsname.Parse(data); err == nil && badServer(s, target) == "" {
				servers[target] = true
			}
		}
	}
	none := len(servers) == 0
	if none {
		target := s.SOA.MName
		if invalid, err := dnsname.Parse(placeholderServer); err == nil && badServer(s, target) != "" {
			target = invalid
		}
		out = append(out, placeholder{s.Name, rr.TypeNS, target.String(), noServers, true})
		servers[target] = true
	}
	for target := range servers {
		if target.Under(s.Name) && !has(s, target, rr.TypeA) && !has(s, target, rr.TypeAAAA) {
			out = append(out, placeholder{target, rr.TypeA, placeholderAddress, noAddress, none})
		}
	}
	slices.SortStableFunc(out, func(a, b placeholder) int { return a.key().Compare(b.key()) })
	return out
}

// unloadable returns why loaders of master files refuse one record and with it the
// whole zone, as a clause, or "".
func unloadable(s zone.Snapshot, set rr.Set, data string) string {
	switch {
	case set.Type == rr.TypeNS && set.Name == s.Name:
		if target, err := dnsname.Parse(data); err == nil {
			return badServer(s, target)
		}
	case set.Name == s.Name && (set.Type == rr.TypeCDS || set.Type == rr.TypeCDNSKEY) && !has(s, s.Name, rr.TypeDNSKEY):
		return "the zone has no DNSKEY here that it could belong to (RFC 7344 §4.1)"
	}
	return ""
}

// badServer returns why a name server of the apex cannot be one, as a clause, or "".
func badServer(s zone.Snapshot, server dnsname.Name) string {
	if !server.Under(s.Name) {
		return ""
	}
	if has(s, server, rr.TypeCNAME) {
		return "the name server is an alias (RFC 2181 §10.3)"
	}
	for up, ok := server.Parent(); ok && up.Under(s.Name); up, ok = up.Parent() {
		if has(s, up, rr.TypeDNAME) {
			return "the name server is below a DNAME (RFC 6672 §2.4)"
		}
	}
	return ""
}

func has(s zone.Snapshot, name dnsname.Name, t rr.Type) bool {
	_, ok := s.Sets.Get(rr.Key{Name: name, Type: t})
	return ok
}
