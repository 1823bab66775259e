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
}

// holdings are what a group has.
type holdings struct {
	handle   *Group
	st       *state
	name     string
	zones    map[dnsname.Name]*Zone
	policy   policy
	dropped  bool // see DropPolicy
	complete bool
	members  members
}

// Group returns the group of a name, always the same. It has no zones at first.
func (s *Server) Group(name string) *Group {
	st, unlock := s.state.Lock()
	defer unlock()
	return st.group(name).handle
}

// group returns what the group of a name has, which is nothing at first.
func (st *state) group(name string) *holdings {
	g := st.groups[name]
	if g == nil {
		g = &holdings{handle: &Group{server: st.server, name: name}, st: st, name: name, zones: map[dnsname.Name]*Zone{}}
		g.members.last = st.server.began
		st.groups[name] = g
	}
	return g
}

// Complete says that the group has all zones that it is to have for now. Until then its catalog zone is not served, for
// a follower drops the zones that a catalog does not name.
func (g *Group) Complete() {
	st, unlock := g.server.state.Lock()
	defer unlock()
	h := st.group(g.name)
	if s := g.server; !h.complete && s.replicas.key != nil {
		h.members.last = s.opts.Clock.Now() // until when another leader may have used serials
	}
	h.complete = true
	h.publishMembers()
}

// Limits are those of a server that does everything.
func (g *Group) Limits() backend.Limits {
	return backend.Limits{ListsZones: true, Creates: true, Removes: true, Confirms: true, Volatile: true,
		Followed: true}
}

// Zones returns the group's zones, in canonical order.
func (g *Group) Zones(context.Context) ([]dnsname.Name, error) {
	st, unlock := g.server.state.Lock()
	defer unlock()
	zones := st.group(g.name).zones
	names := make([]dnsname.Name, 0, len(zones))
	for name := range zones {
		names = append(names, name)
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	return names, nil
}

// zone returns what the group has of a zone, nil if nothing.
func (g *Group) zone(name dnsname.Name) *Zone {
	st, unlock := g.server.state.Lock()
	defer unlock()
	return st.group(g.name).zones[name]
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
	z.names.All(func(n *node) bool {
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
	return &backend.Error{Class: backend.ErrNoZone, Err: fmt.Errorf(
		"zone %s has not been delivered to this server yet", zone)}
}

// find returns the set of a key, nil if there is none.
func (z *Zone) find(k rr.Key) *set {
	n := z.names.Get(wireOf(k.Name))
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
