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
}

// ApexNS says what may be done with the NS set at the apex. Under Scope.Keep, whatever it says, a set that zonefold did
// not write as it is now stays.
type ApexNS uint8

const (
	ApexNSWanted   ApexNS = iota // as any other set
	ApexNSRequired               // changed, never deleted
	ApexNSLeft                   // left alone
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

// mayPut reports whether want, which differs from have, may be written. Have may be zero.
func (s *Scope) mayPut(have, want rr.Set) bool {
	if want.Type == rr.TypeSOA {
		return false
	}
	return !s.isApexNS(want.Key()) || s.mayTouchApexNS(have)
}

// mayDelete reports whether have, which is not wanted, may be deleted.
func (s *Scope) mayDelete(have rr.Set) bool {
	key := have.Key()
	if s.isApexNS(key) {
		return s.ApexNS == ApexNSWanted && s.mayTouchApexNS(have)
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

// mayTouchApexNS reports whether the server's NS set at the apex, have, is zonefold's to change.
func (s *Scope) mayTouchApexNS(have rr.Set) bool {
	if s.ApexNS == ApexNSLeft {
		return false
	}
	if !s.Keep || len(have.Data) == 0 {
		return true
	}
	written, ok := s.Written.Get(have.Key())
	return ok && slices.Equal(written.Data, have.Data)
}
