package delivery

import (
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// heirs are Zones that come into the place of others of their names: a server has one content and then the other, and
// is not emptied in between.
type heirs struct {
	named   map[dnsname.Name]zone.ID // the Zone that has a name by now; of several pinned ones the last
	waiting map[zone.ID][]zone.ID    // who is withdrawn when an heir has been attached
}

func newHeirs() heirs {
	return heirs{named: map[dnsname.Name]zone.ID{}, waiting: map[zone.ID][]zone.ID{}}
}

// note notes who has a name by now: z, if it is accepted.
func (h *heirs) note(z *delivery, accepted bool, name dnsname.Name) {
	if z.accepted && h.named[z.snapshot.Name] == z.id {
		delete(h.named, z.snapshot.Name)
	}
	if accepted {
		h.named[name] = z.id
	}
}

// of returns who else has a name by now that a Zone has to leave.
func (h *heirs) of(z *delivery) []zone.ID {
	var found []zone.ID
	for name := range z.feeds {
		if z.accepted && name == z.snapshot.Name {
			continue // it stays: pinned Zones may have one name
		}
		if heir := h.named[name]; !heir.IsZero() && heir != z.id {
			found = append(found, heir)
		}
	}
	return found
}

// awaitsHeir reports whether a Zone is to stay where it is for now, because another has its name and is about to be
// attached there. It is looked at again when that is done.
func (st *state) awaitsHeir(z *delivery, heirs map[zone.ID]Stored) bool {
	for id, stored := range heirs {
		heir := st.zones[id]
		comes := func(p *Place) bool { return z.leavesTo(heir, p) }
		if heir != nil && heir.accepted && !heir.moves() && slices.ContainsFunc(st.places.wanted(heir, stored), comes) {
			st.heirs.waiting[id] = append(st.heirs.waiting[id], z.id)
			return true
		}
	}
	return false
}

// moves reports whether the Zone has to leave another name itself: two that swap their names do not wait for each
// other.
func (z *delivery) moves() bool {
	for name, l := range z.feeds {
		if name != z.snapshot.Name && l.live {
			return true
		}
	}
	return false
}

// leavesTo reports whether the Zone has something at a Place where its heir comes, and is not attached yet.
func (z *delivery) leavesTo(heir *delivery, p *Place) bool {
	l := z.feeds[heir.snapshot.Name]
	return l != nil && !p.Observe && l.hasYet(p) && len(p.at(l.name)) > 0 && !heir.attachedTo(p)
}

// hasYet reports whether the feed has something at a Place that nothing has been said about to the engine, or that is
// leaving and cannot: its credentials are gone.
func (l *zoneFeed) hasYet(p *Place) bool {
	for key, a := range l.at {
		if key.place == p.Name && (!a.leaving || a.without != nil) && !a.observe {
			return true
		}
	}
	return slices.Contains(l.owed, p.Name)
}

// attachedTo reports whether the Zone, under the name that it has now, is attached to all servers of a Place.
func (z *delivery) attachedTo(p *Place) bool {
	l := z.feeds[z.snapshot.Name]
	if l == nil {
		return false
	}
	for _, s := range p.at(l.name) {
		key := attachmentKey{p.Name, backend.TargetKey{Server: s.Name, Zone: l.name, View: s.View}}
		if a := l.at[key]; a == nil || a.leaving {
			return false
		}
	}
	return true
}

// came returns those that waited for a Zone, which has come.
func (h *heirs) came(heir zone.ID) []zone.ID {
	defer delete(h.waiting, heir)
	return h.waiting[heir]
}
