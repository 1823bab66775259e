package embedded

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Group is some of the zones of a Server, those that one Backend object delivers to it, and a backend.Backend. Zones of all
// groups are answered alike; who may transfer them is each group's Policy. A zone that several groups have is served as the
// one with the newest serial has it.
type Group struct {
	server *Server
	name   string

	// Guarded by Server.mu.
	zones    map[dnsname.Name]*Zone
	policy   policy
	complete bool
}

// Group returns the group of a name, which has no zones at first.
func (s *Server) Group(name string) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[name]
	if g == nil {
		g = &Group{server: s, name: name, zones: map[dnsname.Name]*Zone{}}
		s.groups[name] = g
	}
	return g
}

// Complete says that the group has all zones that it is to have for now. Until then its catalog zone is not served, for a
// follower drops the zones that a catalog does not name.
func (g *Group) Complete() {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.complete = true
}

// Limits are those of a server that does everything.
func (g *Group) Limits() backend.Limits {
	return backend.Limits{ListsZones: true, Creates: true, Removes: true, Confirms: true}
}

// Zones returns the group's zones, in canonical order.
func (g *Group) Zones(context.Context) ([]dnsname.Name, error) {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	names := make([]dnsname.Name, 0, len(g.zones))
	for name := range g.zones {
		names = append(names, name)
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	return names, nil
}

// zone returns what the group has of a zone, nil if nothing.
func (g *Group) zone(name dnsname.Name) *Zone {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	return g.zones[name]
}

// Read returns what is served, as it was applied: without what completes a zone for servers.
func (g *Group) Read(_ context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	z := g.zone(zone)
	switch {
	case z == nil:
		return backend.Observed{}, noZone(zone)
	case ask.Keys == nil && ask.Known != nil && ask.Known.SOA == z.soa:
		return backend.Observed{SOA: z.soa, Sets: ask.Known.Sets, Unchanged: true}, nil
	}
	found := rr.Sets{}.Txn()
	if ask.Keys != nil {
		for _, k := range ask.Keys {
			if s := z.find(k); s != nil && k.Type != rr.TypeSOA {
				found.Put(s.unpack(k))
			}
		}
		return backend.Observed{SOA: z.soa, Sets: found.Sets()}, nil
	}
	var err error
	z.names.all(func(n *node) bool {
		var name dnsname.Name
		if name, _, err = dnsname.FromWire([]byte(n.name)); err != nil {
			err = fmt.Errorf("reading zone %s: %w", zone, err)
			return false
		}
		for i := range n.sets {
			if k := (rr.Key{Name: name, Type: n.sets[i].typ}); k.Type != rr.TypeSOA {
				found.Put(n.sets[i].unpack(k))
			}
		}
		return true
	})
	return backend.Observed{SOA: z.soa, Sets: found.Sets()}, err
}

func noZone(zone dnsname.Name) error {
	return &backend.Error{Class: backend.ErrNoZone, Err: fmt.Errorf("zone %s was not delivered to this server yet", zone)}
}

// find returns the set of a key, nil if there is none.
func (z *Zone) find(k rr.Key) *set {
	n := z.names.get(wireOf(k.Name))
	if n == nil {
		return nil
	}
	return n.find(k.Type)
}

// unpack returns the set as it was packed.
func (s *set) unpack(k rr.Key) rr.Set {
	data := make([]string, 0, s.count)
	s.records(0, func(b []byte) { data = append(data, rr.FromWire(s.typ, b)) })
	return rr.NewSet(k, s.ttl, data...)
}

// Apply makes a batch: the zone that is served changes at one moment, or not at all.
func (g *Group) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	for ctx.Err() == nil {
		old := g.zone(zone)
		next, result, err := g.next(zone, old, batch)
		if err != nil || g.replace(zone, old, next) {
			return result, err
		}
	}
	return backend.Result{}, fmt.Errorf("changing zone %s: %w", zone, ctx.Err())
}

// next returns the zone after a batch, nil if it is gone.
func (g *Group) next(zone dnsname.Name, old *Zone, batch backend.Batch) (next *Zone, result backend.Result, err error) {
	switch {
	case old == nil && batch.Remove:
		return nil, result, nil
	case old == nil && !batch.Create:
		return nil, result, noZone(zone)
	case old != nil && batch.Expect != nil && *batch.Expect != old.soa:
		return nil, result, &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("zone %s has serial %d and not %d", zone, old.soa.Serial, batch.Expect.Serial)}
	case batch.Remove:
		return nil, result, nil
	}
	soa, err := nextSOA(zone, old, batch)
	if err != nil {
		return nil, result, err
	}
	if next = old; old == nil {
		if next, err = NewZone(zone, soa); err != nil {
			return nil, result, rejected(err)
		}
	}
	next, refused, err := next.With(&soa, batch.Changes)
	switch {
	case err != nil:
		return nil, result, rejected(err)
	case len(refused) > 0:
		return nil, result, rejected(fmt.Errorf("%s: %s", refused[0].Key, refused[0].Reason))
	}
	return next, backend.Result{SOA: soa}, nil
}

func rejected(err error) error { return &backend.Error{Class: backend.ErrRejected, Err: err} }

// nextSOA returns the SOA that a zone gets with a batch. A serial never stands for two contents.
func nextSOA(zone dnsname.Name, old *Zone, batch backend.Batch) (rr.SOA, error) {
	switch {
	case batch.SOA == nil && old == nil:
		return rr.SOA{}, rejected(fmt.Errorf("zone %s cannot be made without an SOA", zone))
	case batch.SOA == nil && len(batch.Changes) == 0:
		return old.soa, nil
	case batch.SOA == nil:
		soa := old.soa
		soa.Serial = max(soa.Serial+1, 1)
		return soa, nil
	case old != nil && !rr.SerialLess(old.soa.Serial, batch.SOA.Serial) && (len(batch.Changes) > 0 || *batch.SOA != old.soa):
		return rr.SOA{}, rejected(fmt.Errorf("zone %s has serial %d: %d does not come after it", zone, old.soa.Serial, batch.SOA.Serial))
	}
	return *batch.SOA, nil
}

// replace makes next the group's zone of a name in place of old, and publishes what is served then. It returns false if the
// group has another one than old by now.
func (g *Group) replace(name dnsname.Name, old, next *Zone) bool {
	s := g.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.zones[name] != old {
		return false
	}
	if g.zones[name] = next; next == nil {
		delete(g.zones, name)
	}
	s.serve(name)
	return true
}

// serve puts into the catalogue what the groups have of a zone. mu is held.
func (s *Server) serve(name dnsname.Name) {
	var best *Zone
	var from string
	for group, g := range s.groups {
		z := g.zones[name]
		if z != nil && (best == nil || z.before(best, group < from)) {
			best, from = z, group
		}
	}
	c := s.catalogue.Load()
	switch {
	case best != nil:
		c = c.With(best)
	case c.Zone(name) != nil:
		c = c.Without(name)
	}
	s.catalogue.Store(c)
}

// before reports whether a zone is served in place of another one of its name, tied deciding between equals.
func (z *Zone) before(o *Zone, tied bool) bool {
	if z.soa.Serial == o.soa.Serial {
		return tied
	}
	return rr.SerialLess(o.soa.Serial, z.soa.Serial)
}
