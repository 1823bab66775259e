package rr

import "github.com/zonefold/zonefold/internal/dnsname"

// Servers and named-checkzone do not load a zone without a name server at its apex, and one in the zone needs an
// address. Where no object asks for these, placeholders stand in.
const (
	// PlaceholderAddress is of TEST-NET-1 (RFC 5737), where nothing ever answers.
	PlaceholderAddress = "192.0.2.1"
	// placeholderServer is a name that never exists (RFC 6761 §6.4).
	placeholderServer = "nameserver.invalid."
)

// PlaceholderServer returns the name server of a zone that has none: the one that its SOA names, if that can be one.
// Has reports which sets the zone has.
func PlaceholderServer(apex, mname dnsname.Name, has func(Key) bool) dnsname.Name {
	if invalid, err := dnsname.Parse(placeholderServer); err == nil && BadServer(apex, mname, has) != "" {
		return invalid
	}
	return mname
}

// BadServer returns why a name server of the apex cannot be one, as a clause, or "".
func BadServer(apex, server dnsname.Name, has func(Key) bool) string {
	if !server.Under(apex) {
		return ""
	}
	if has(Key{server, TypeCNAME}) {
		return "the name server is an alias (RFC 2181 §10.3)"
	}
	for up, ok := server.Parent(); ok && up.Under(apex); up, ok = up.Parent() {
		if has(Key{up, TypeDNAME}) {
			return "the name server is below a DNAME (RFC 6672 §2.4)"
		}
	}
	return ""
}

// LacksAddress reports whether a name server of the apex is in the zone and has no address there.
func LacksAddress(apex, server dnsname.Name, has func(Key) bool) bool {
	return server.Under(apex) && !has(Key{server, TypeA}) && !has(Key{server, TypeAAAA})
}
