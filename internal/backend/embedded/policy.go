package embedded

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Policy says who may copy the zones of a group. The zero Policy lets nobody.
type Policy struct {
	Transfer []Rule        // any that matches allows AXFR and IXFR
	Notify   []Destination // who is told of changes (RFC 1996)
	Update   []Updater     // who may change zones (RFC 2136), by the key that a message is signed with

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

// An Updater is somebody who may send updates.
type Updater struct {
	Key Key
	For string // whom it acts for, in words of who carries updates out
}

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
	s.use(group, c, false)
	return nil
}

// use has a group have a policy.
func (s *Server) use(group string, p policy, dropped bool) {
	st, unlock := s.state.Lock()
	defer unlock()
	g := st.group(group)
	before := g.policy.destinations
	g.policy, g.dropped = p, dropped
	s.keys.Store(st.collectKeys())
	g.setCatalog(p.catalog)
	g.greet(before)
}

// greet tells destinations that are new, or have another key, of all zones: with a wrong key they have heard of none.
func (g *holdings) greet(before []destination) {
	for _, d := range g.policy.destinations {
		if slices.ContainsFunc(before, d.is) {
			continue
		}
		for zone := range g.zones {
			g.st.server.notifier.enqueue(zone, d)
		}
		if z := g.members.zone; z != nil {
			g.st.server.notifier.enqueue(z.name, d)
		}
	}
}

// DropPolicy says that nobody changes a group's zones any more: nobody may transfer them, and what another group has or
// loses is not the group's any more.
func (s *Server) DropPolicy(group string) { s.use(group, policy{}, true) }

// A policy is a Policy that is ready for use.
type policy struct {
	rules        []rule
	updaters     []updater
	destinations []destination
	catalog      dnsname.Name
	after        uint32
}

type rule struct {
	prefixes []netip.Prefix
	key      *tsig.Signer
}

type updater struct {
	key *tsig.Signer
	who string
}

type destination struct {
	addr netip.AddrPort
	key  *tsig.Signer
}

// is reports whether two are the same, and are told with the same key.
func (d destination) is(o destination) bool {
	return d.addr == o.addr && (d.key == o.key || d.key != nil && o.key != nil && d.key.Equal(o.key))
}

func compile(p Policy) (policy, error) {
	c := policy{catalog: p.Catalog, after: p.CatalogAfter}
	for _, r := range p.Transfer {
		key, err := signer(r.Key)
		if err != nil {
			return policy{}, err
		}
		if key == nil && len(r.Prefixes) == 0 {
			continue
		}
		prefixes := make([]netip.Prefix, len(r.Prefixes))
		for i, prefix := range r.Prefixes {
			if !prefix.IsValid() {
				return policy{}, errors.New("one of the prefixes is empty")
			}
			prefixes[i] = prefix.Masked()
		}
		c.rules = append(c.rules, rule{prefixes, key})
	}
	for _, u := range p.Update {
		key, err := signer(&u.Key)
		if err != nil {
			return policy{}, err
		}
		c.updaters = append(c.updaters, updater{key, u.For})
	}
	for _, d := range p.Notify {
		key, err := signer(d.Key)
		if err != nil {
			return policy{}, err
		}
		if !d.Addr.IsValid() || d.Addr.Port() == 0 {
			return policy{}, fmt.Errorf("%s, to notify, is not an address with a port", d.Addr)
		}
		c.destinations = append(c.destinations, destination{netip.AddrPortFrom(d.Addr.Addr().Unmap(), d.Addr.Port()), key})
	}
	return c, checkCatalog(p.Catalog)
}

func signer(k *Key) (*tsig.Signer, error) {
	if k == nil {
		return nil, nil
	}
	s, err := tsig.NewSigner(*k)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.Name, err)
	}
	if !s.Signs() {
		return nil, errors.New("a key has no name")
	}
	return &s, nil
}

// An asker is who sent a request.
type asker struct {
	addr netip.Addr
	key  *tsig.Signer // that the request is signed with; nil: none
}

func (p *policy) allows(a asker) bool {
	return slices.ContainsFunc(p.rules, func(r rule) bool {
		if r.key != nil && (a.key == nil || !r.key.Equal(a.key)) {
			return false
		}
		return len(r.prefixes) == 0 || slices.ContainsFunc(r.prefixes, func(p netip.Prefix) bool {
			return p.Contains(a.addr.WithZone("")) // a link-local address comes with the name of its interface
		})
	})
}

// admits reports whether the policy of any group that has a zone lets somebody have it.
func (s *Server) admits(zone dnsname.Name, a asker) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	if st.shared.offered && s.replicas.has(a.key) {
		return true
	}
	for _, g := range st.groups {
		if g.has(zone) && g.policy.allows(a) {
			return true
		}
	}
	return false
}

// collectKeys returns the keys of all groups' rules and updaters, and of the replicas.
func (st *state) collectKeys() *keyring {
	keys := keyring{}
	keys.add(st.server.replicas.key)
	for _, g := range st.groups {
		for _, r := range g.policy.rules {
			keys.add(r.key)
		}
		for _, u := range g.policy.updaters {
			keys.add(u.key)
		}
	}
	return &keys
}

// add adds a key, if there is one.
func (k keyring) add(key *tsig.Signer) {
	if key == nil {
		return
	}
	wire, _ := key.Wire()
	if name := string(wire); !slices.ContainsFunc(k[name], key.Equal) {
		k[name] = append(k[name], key)
	}
}
