package embedded

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Group is some of the zones of a Server, those that one Backend object delivers to it, and a backend.Backend. Zones
// of all groups are answered alike; who may transfer them is each group's Policy. A zone that several groups have is
// served as the one with the newest serial has it.
type Group struct {
	server *Server
	name   string

	// Guarded by Server.mu.
	zones    map[dnsname.Name]*Zone
	policy   policy
	complete bool
	members  members
}

// Group returns the group of a name, which has no zones at first.
func (s *Server) Group(name string) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[name]
	if g == nil {
		g = &Group{server: s, name: name, zones: map[dnsname.Name]*Zone{}}
		g.members.last = s.began
		s.groups[name] = g
	}
	return g
}

// Complete says that the group has all zones that it is to have for now. Until then its catalog zone is not served, for
// a follower drops the zones that a catalog does not name.
func (g *Group) Complete() {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	if s := g.server; !g.complete && s.replicas.key != nil {
		g.members.last = s.opts.Clock.Now() // until when another leader may have used serials
	}
	g.complete = true
	g.publishMembers()
}

// Limits are those of a server that does everything.
func (g *Group) Limits() backend.Limits {
	return backend.Limits{ListsZones: true, Creates: true, Removes: true, Confirms: true, Volatile: true}
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
			if s := z.find(k); s != nil && !z.hides(k) {
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
			if k := (rr.Key{Name: name, Type: n.sets[i].typ}); !z.hides(k) {
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

// hides reports whether a set is none of those that were applied.
func (z *Zone) hides(k rr.Key) bool { return k.Type == rr.TypeSOA || slices.Contains(z.filled, k) }
