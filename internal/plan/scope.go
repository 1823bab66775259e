package plan

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Scope says what of a target may be touched, and how the wanted sets look there.
// The zero Scope, with an Apex, owns the whole zone: sets that are not wanted are deleted.
type Scope struct {
	Apex dnsname.Name

	// Keep leaves foreign sets alone: those that are neither wanted nor Written.
	Keep bool

	// Written are the sets that zonefold has put there, as far as it remembers. With Keep only these may be deleted.
	// A type that servers make themselves is deleted only if it is among them, with or without Keep.
	Written rr.Sets

	ApexNS ApexNS

	MinTTL, MaxTTL uint32 // seconds; wanted TTLs are moved into these bounds. A MaxTTL of 0 is none.

	needed map[dnsname.Name]bool // hosts of apex NS that stay though they are not wanted; their addresses stay too
}

// ApexNS says what may be done with the NS set at the apex. Under Scope.Keep the server's own name servers stay,
// whatever it says: wanted ones are added to them, and only values that are Written are taken away.
type ApexNS uint8

const (
	ApexNSWanted   ApexNS = iota // as any other set
	ApexNSRequired               // changed, never deleted; while it is not wanted it stays, with its hosts' addresses
	ApexNSLeft                   // left alone, with its hosts' addresses
)

// ServerMade reports whether name servers make sets of the type by themselves: signatures, denials of existence, keys
// and their publication in the parent, BIND's signing state (TYPE65534), and the SOA, which is handled apart from sets.
// They are out of scope unless wanted.
func ServerMade(t rr.Type) bool {
	switch t {
	case rr.TypeSOA, rr.TypeRRSIG, rr.TypeSIG, rr.TypeNSEC, rr.TypeNSEC3, rr.TypeNSEC3PARAM,
		rr.TypeDNSKEY, rr.TypeCDS, rr.TypeCDNSKEY, privateSigning:
		return true
	}
	return false
}

// privateSigning is the type under which BIND keeps the state of signing.
const privateSigning = rr.Type(65534)

// Clamp moves the TTL of a wanted set into the bounds.
func (s *Scope) Clamp(want rr.Set) rr.Set {
	if len(want.Data) == 0 {
		return want
	}
	want.TTL = max(want.TTL, s.MinTTL)
	if s.MaxTTL > 0 {
		want.TTL = min(want.TTL, s.MaxTTL)
	}
	return want
}

// mayPut reports whether want may be written.
func (s *Scope) mayPut(want rr.Set) bool {
	return want.Type != rr.TypeSOA && (!s.isApexNS(want.Key()) || s.ApexNS != ApexNSLeft)
}

// Goal returns what the target should hold where it holds have, which may be zero, and want is wanted: want within the
// bounds of the TTL, and with it, at the apex under Keep, the server's own name servers.
func (s *Scope) Goal(have, want rr.Set) rr.Set {
	want = s.Clamp(want)
	own := s.serversNS(have)
	if own == nil {
		return want
	}
	return rr.NewSet(want.Key(), have.TTL, append(own, want.Data...)...)
}

// serversNS returns the values of have that are not zonefold's, if it is an apex NS set and they have to stay.
func (s *Scope) serversNS(have rr.Set) []string {
	if !s.Keep || len(have.Data) == 0 || !s.isApexNS(have.Key()) {
		return nil
	}
	written, _ := s.Written.Get(have.Key())
	var own []string
	for _, data := range have.Data {
		if !slices.Contains(written.Data, data) {
			own = append(own, data)
		}
	}
	return own
}

// survey learns which hosts the apex NS that the scope leaves in place need.
func (s *Scope) survey(have, want rr.Sets) {
	apex := rr.Key{Name: s.Apex, Type: rr.TypeNS}
	stays, _ := have.Get(apex)
	w, wanted := want.Get(apex)
	switch own := s.serversNS(stays); {
	case wanted && s.mayPut(w), !wanted && s.mayDelete(stays):
		stays.Data = own
	case s.ApexNS != ApexNSLeft && own != nil:
		stays.Data = own
	}
	s.needed = map[dnsname.Name]bool{}
	for _, host := range hosts(stays) {
		s.needed[host] = true
	}
}

// hosts returns the names that want addresses because of a set.
func hosts(s rr.Set) []dnsname.Name {
	var names []dnsname.Name
	for _, d := range s.Data {
		names = append(names, rr.Targets(s.Type, d)...)
	}
	return names
}

// mayDelete reports whether have, which is not wanted, may be deleted.
func (s *Scope) mayDelete(have rr.Set) bool {
	key := have.Key()
	if (key.Type == rr.TypeA || key.Type == rr.TypeAAAA) && s.needed[key.Name] {
		return false
	}
	if s.isApexNS(key) {
		return s.ApexNS == ApexNSWanted && s.serversNS(have) == nil
	}
	if key.Type == rr.TypeSOA {
		return false
	}
	if !s.Keep && !ServerMade(key.Type) {
		return true
	}
	_, written := s.Written.Get(key)
	return written
}

func (s *Scope) isApexNS(k rr.Key) bool { return k.Type == rr.TypeNS && k.Name == s.Apex }
