package embedded

import (
	"fmt"
	"net/netip"

	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Policy says who may copy the zones of a group. The zero Policy lets nobody.
type Policy struct {
	Transfer []Rule        // any that matches allows AXFR and IXFR
	Notify   []Destination // who is told of changes (RFC 1996)

	// Catalog is the name of a catalog zone (RFC 9432) of the group's zones, the zero Name for none. It is given only to
	// those who may transfer. It is served from Group.Complete on.
	Catalog dnsname.Name

	// CatalogAfter is a serial that the catalog zone is known to have had, under an earlier leader; 0 if none is known.
	CatalogAfter uint32
}

// A Rule matches who asks. What is set must hold; a rule in which nothing is set matches nobody.
type Rule struct {
	Prefixes []netip.Prefix // the address is in one of these
	Key      *Key           // the question is signed with it
}

// A Key is a TSIG key (RFC 8945).
type Key = tsig.Key

// A Destination is a server that follows.
type Destination struct {
	Addr netip.AddrPort
	Key  *Key // nil: not signed
}

// SetPolicy makes p the policy of a group. A policy with an error in it changes nothing.
func (s *Server) SetPolicy(group string, p Policy) error {
	c, err := compile(p)
	if err != nil {
		return fmt.Errorf("the transfer policy of %s: %w", group, err)
	}
	g := s.Group(group)
	s.mu.Lock()
	defer s.mu.Unlock()
	g.policy = c
	return nil
}

// DropPolicy takes a group's policy away: nobody may transfer its zones.
func (s *Server) DropPolicy(group string) {
	_ = s.SetPolicy(group, Policy{}) // the zero Policy has no error in it
}

// A policy is a Policy that is ready for use.
type policy struct{ Policy }

func compile(p Policy) (policy, error) { return policy{p}, nil }
