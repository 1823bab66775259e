package embedded

import (
	"errors"
	"fmt"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Copy is the version of a zone that a replica has.
type Copy struct {
	ID      string // of the zone's time in its group: one that was removed and made again has another
	SOA     rr.SOA
	Catalog bool
	Filled  bool // it has sets that nobody asked for, to be complete, which look like those that somebody may ask for
}

// is reports whether two versions are the same: Filled says something of them, and is known later.
func (c Copy) is(o Copy) bool {
	c.Filled = o.Filled
	return c == o
}

// Copies returns what the server has.
func (s *Server) Copies() map[Member]Copy {
	st, unlock := s.state.Lock()
	defer unlock()
	copies := map[Member]Copy{}
	for m := range st.shared.members {
		if z, c := st.copyOf(m); z != nil {
			copies[m] = c
		}
	}
	return copies
}

// Copy returns the version that the server has of a member, and its sets of some keys, nil being all of its sets. It
// returns false if there is none.
func (s *Server) Copy(m Member, keys []rr.Key) (c Copy, sets rr.Sets, found bool) {
	st, unlock := s.state.Lock()
	z, c := st.copyOf(m)
	unlock()
	if z == nil {
		return Copy{}, rr.Sets{}, false
	}
	txn := rr.Sets{}.Txn()
	add := func(k rr.Key, set *set) {
		if set != nil && k.Type != rr.TypeSOA {
			txn.Put(set.unpack(k))
		}
	}
	for _, k := range keys {
		add(k, z.find(k))
	}
	if keys != nil {
		return c, txn.Sets(), true
	}
	z.names.All(func(n *node) bool {
		if name, _, err := dnsname.FromWire([]byte(n.name)); err == nil { // it was a name when it came
			for i := range n.sets {
				add(rr.Key{Name: name, Type: n.sets[i].typ}, &n.sets[i])
			}
		}
		return true
	})
	return c, txn.Sets(), true
}

// copyOf returns a member's zone, nil if there is none.
func (st *state) copyOf(m Member) (*Zone, Copy) {
	g, c := st.groups[m.Group], st.shared.members[m]
	if g == nil || c == nil || c.id == "" {
		return nil, Copy{}
	}
	z, catalog := g.zones[m.Zone], false
	if z == nil {
		z, catalog = g.catalogOf(m.Zone), true
	}
	if z == nil {
		return nil, Copy{}
	}
	return z, Copy{ID: c.id, SOA: z.soa, Catalog: catalog, Filled: len(z.filled) > 0}
}

// Take makes a member the version that another replica has: what have is, the zero Copy being nothing, with changes.
// Serials never fall, and none comes to stand for another content, but in a zone that was removed and made again.
// Otherwise, or if the server has something else than have, nothing changes.
func (s *Server) Take(m Member, have, next Copy, changes []plan.Change) error {
	st, unlock := s.state.Lock()
	old, now := st.copyOf(m)
	unlock()
	rises := rr.SerialLess(have.SOA.Serial, next.SOA.Serial)
	t := taken{have: have, id: next.ID, old: old, next: old}
	var err error
	switch {
	case s.replicas.key == nil:
		return rejected(errors.New("the server has no replicas"))
	case !now.is(have):
		return conflict(m, now, have)
	case old == nil:
		if old, err = NewZone(m.Zone, next.SOA); err != nil {
			return rejected(err)
		}
	case old.private != next.Catalog:
		return rejected(fmt.Errorf("zone %s of %s would become a zone of another kind", m.Zone, m.Group))
	case next.SOA == have.SOA && len(changes) == 0:
		z := *old
		z.recogniseFilled(next.Filled)
		t.next, t.same = &z, true
		return s.put(m, t)
	case !rises && next.ID == have.ID:
		return rejected(fmt.Errorf("zone %s of %s has serial %d: %d does not come after it", m.Zone, m.Group, have.SOA.Serial,
			next.SOA.Serial))
	}
	z, refused, err := old.With(&next.SOA, changes)
	switch {
	case err != nil:
		return rejected(err)
	case len(refused) > 0:
		return rejected(fmt.Errorf("%s: %s", refused[0].Key, refused[0].Reason))
	}
	z.private = next.Catalog
	z.recogniseFilled(next.Filled)
	if t.next = z; t.old != nil && rises {
		t.way = old.stepTo(z, changes, s.opts.History)
	}
	return s.put(m, t)
}

func conflict(m Member, now, have Copy) error {
	err := fmt.Errorf("zone %s of %s has serial %d instead of %d", m.Zone, m.Group, now.SOA.Serial, have.SOA.Serial)
	return &backend.Error{Class: backend.ErrConflict, Err: err}
}

// taken is a version of a zone that comes from another replica.
type taken struct {
	have      Copy
	id        string
	old, next *Zone // nil: none
	same      bool  // next has what old has
	way       *step // nil: those who have the old one need all of the new one
}

// put makes the server have what was taken.
func (s *Server) put(m Member, t taken) error {
	st, unlock := s.state.Lock()
	defer unlock()
	g := st.group(m.Group)
	if z, now := st.copyOf(m); z != t.old || !now.is(t.have) {
		return conflict(m, now, t.have)
	}
	if t.next != nil && !t.same {
		t.next.remember(t.old, t.way, s.opts.History)
	}
	touched := []dnsname.Name{m.Zone}
	switch {
	case t.next == nil:
		delete(g.zones, m.Zone)
		if g.catalogOf(m.Zone) != nil {
			g.members.zone = nil
		}
	case t.next.private:
		if other := g.members.zone; other != nil {
			touched = append(touched, other.name)
		}
		g.members.zone, g.members.serial, g.members.copied = t.next, t.next.soa.Serial, true
	default:
		g.zones[m.Zone] = t.next
	}
	if t.next != nil {
		c := st.shared.members[m]
		if c == nil {
			c = &membership{}
			st.shared.members[m] = c
		}
		c.id = t.id
	}
	for _, zone := range touched {
		st.serve(zone)
	}
	return nil
}

// Drop takes a member away that other replicas do not have any more.
func (s *Server) Drop(m Member) error {
	st, unlock := s.state.Lock()
	old, now := st.copyOf(m)
	unlock()
	if old == nil {
		return nil
	}
	return s.put(m, taken{have: now, old: old})
}

// recogniseFilled finds the sets that a zone has only to be complete (see complete), if it is said to have some: those
// that it would get if it did not have them.
func (z *Zone) recogniseFilled(said bool) {
	z.filled = nil
	ns := z.apex.find(rr.TypeNS)
	if !said || z.private || ns == nil || ns.count != 1 {
		return
	}
	server, _, err := dnsname.FromWire(ns.only())
	if err != nil {
		return
	}
	bare := *z
	t := zoneTxn{names: z.names.Txn(), apex: z.path.wire}
	t.put(z.path.wire, set{typ: rr.TypeNS})
	if a := z.find(rr.Key{Name: server, Type: rr.TypeA}); a != nil && a.count == 1 &&
		rr.FromWire(rr.TypeA, a.only()) == rr.PlaceholderAddress {
		t.put(wireOf(server), set{typ: rr.TypeA})
	}
	bare.names = t.names.Commit()
	bare.apex = bare.names.Get(z.path.wire)
	var keys []rr.Key
	for _, c := range bare.lacks() {
		if s := z.find(c.Key); s == nil || !s.unpack(c.Key).Equal(c.Want) {
			return
		}
		keys = append(keys, c.Key)
	}
	z.filled = keys
}
