package delivery

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Servers are those that zones are delivered to. Who runs them asks what they have, and says what has become of them.
type Servers Deliveries

// Servers returns those that zones are delivered to.
func (d *Deliveries) Servers() *Servers { return (*Servers)(d) }

// ZonesAt returns the zones that a server has, and whether these are all that it is to have: for a server that
// must not answer before it has everything. Wants says which Zones are meant for it. One that the server does not take,
// or that an older Zone has there, is not waited for.
func (s *Servers) ZonesAt(server string, wants func(zone.ID) bool) (zones []dnsname.Name, complete bool) {
	st, unlock := s.state.Lock()
	defer unlock()
	if !st.knows() {
		return nil, false
	}
	complete = true
	for id, z := range st.zones {
		if !z.accepted || !wants(id) {
			continue
		}
		a := z.at(server)
		switch l := z.current(); {
		case l != nil && l.held:
		case a == nil || a.report == nil:
			complete = false
		case a.report.Seq > 0 && a.report.Err == nil:
			zones = append(zones, z.snapshot.Name)
		case !declined(a.report.Err):
			complete = false
		}
	}
	return zones, complete
}

// Has reports whether a server has confirmed some content of a Zone.
func (s *Servers) Has(id zone.ID, server string) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	a := z.at(server)
	return a != nil && z.accepted && a.report != nil && a.report.Seq > 0
}

// A Newest is the newest content of a Zone that a server has confirmed.
type Newest struct {
	Serial uint32 // 0: there is none
	Seq    uint64
	Wanted uint64 // the one that is wanted now
	Label  uint32 // the newest serial that servers are given
	Given  string // the first of those that have been given that in this run; "": none has
}

// Newest returns the newest content of a Zone that a server has confirmed.
func (s *Servers) Newest(id zone.ID) (out Newest) {
	st, unlock := s.state.Lock()
	defer unlock()
	l := st.zones[id].current()
	if l == nil {
		return out
	}
	label, labelled := l.feed.Label()
	out.Wanted, out.Label = l.seq, label.Serial
	for key, a := range l.at {
		r := a.report
		if r == nil || a.leaving {
			continue
		}
		if r.Seq > out.Seq {
			out.Serial, out.Seq = r.Serial, r.Seq
		}
		if server := key.target.Server; labelled && r.Given == label.Serial && r.Serial == label.Serial &&
			(out.Given == "" || server < out.Given) {
			out.Given = server
		}
	}
	return out
}

// Attached reports whether a server is being brought a zone, or has it, or is losing it.
func (s *Servers) Attached(server string, name dnsname.Name) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	for _, z := range st.zones {
		if l := z.feeds[name]; l != nil {
			for key := range l.at {
				if key.target.Server == server {
					return true
				}
			}
		}
	}
	return false
}

// Content returns the sets that a Zone is to have, and whether every server has confirmed them.
func (s *Servers) Content(id zone.ID) (sets rr.Sets, confirmed bool) {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil || !z.accepted {
		return rr.Sets{}, false
	}
	l := z.feeds[z.snapshot.Name]
	if l == nil || l.held {
		return rr.Sets{}, false
	}
	return z.snapshot.Sets, l.confirmed()
}

// declined reports whether an error says that a server is not to have a Zone, or does not take it: waiting changes
// nothing.
func declined(err error) bool {
	class := backend.Class(err)
	return class == backend.ErrHeld || class == backend.ErrRejected
}

// Refused reports whether no server takes a Zone at all, or is given any of it as it is frozen: who follows them need
// not wait for it.
func (s *Servers) Refused(id zone.ID) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil || z.feeds[z.snapshot.Name] == nil {
		return false
	}
	l := z.feeds[z.snapshot.Name]
	if l.held {
		return true
	}
	refused := false
	for _, a := range l.at {
		r := a.report
		if r == nil || r.Seq > 0 || !declined(r.Err) {
			return false
		}
		refused = true
	}
	return refused
}

// Restarted says that a server has started anew. What it confirmed before says nothing about what it has now: each of
// its zones is read and compared.
func (s *Servers) Restarted(server string) {
	st, unlock := s.state.Lock()
	defer unlock()
	for l, key := range st.attachedTo(server) {
		st.engine.Audit(key.target)
		if l.at[key].leaving {
			continue
		}
		again := *l.at[key]
		again.report = nil
		st.attachAs(l, key, &again)
		s.queue.Enqueue(l.zone)
	}
}

// Returned says that a server is there again: what failed there is tried again at once.
func (s *Servers) Returned(server string) {
	st, unlock := s.state.Lock()
	defer unlock()
	for l, key := range st.attachedTo(server) {
		if r := l.at[key].report; r != nil && r.Err != nil {
			st.engine.Poke(key.target, l.feed)
		}
	}
}

// attachedTo are the feeds that are attached to a server, of whatever Zone, and where.
func (st *state) attachedTo(server string) iter.Seq2[*zoneFeed, attachmentKey] {
	return func(yield func(*zoneFeed, attachmentKey) bool) {
		for _, z := range st.zones {
			for _, l := range z.feeds {
				for key := range l.at {
					if key.target.Server == server && !yield(l, key) {
						return
					}
				}
			}
		}
	}
}

// at returns the attachment of what the Zone is now to a server, nil if there is none.
func (z *delivery) at(server string) *attached {
	l := z.current()
	if l == nil {
		return nil
	}
	for key, a := range l.at {
		if key.target.Server == server && !a.leaving {
			return a
		}
	}
	return nil
}

// Abandon stops withdrawing a Zone from servers that do not answer. Somebody else sees to what they still have.
func (s *Servers) Abandon(id zone.ID) {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		return
	}
	for _, l := range z.feeds {
		for key, a := range l.at {
			if a.leaving {
				st.engine.Detach(key.target, l.as(key.place))
				delete(l.at, key)
			}
		}
		l.owed = nil
	}
	s.queue.Enqueue(id)
}

// Audit has a Zone read back from all of its servers now, and what somebody else has written there put right.
func (s *Servers) Audit(id zone.ID) {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil || st.engine == nil {
		return
	}
	for _, l := range z.feeds {
		for key := range l.at {
			st.engine.Audit(key.target)
		}
	}
}

// A Drift is what a server of a Zone held otherwise than it was written there, in a Zone that is zonefold's alone.
type Drift struct {
	Zone  zone.ID
	Place string
	Sets  []rr.Key
}

// OnDrift has f called for each Drift, besides the dialect. It is called before Run.
func (s *Servers) OnDrift(f func(Drift)) { s.onDrift = f }

// Guards reports whether a Zone is being withdrawn, or is about to be, from a Place that limits what may be deleted:
// until a server has been read nobody knows whether that is too much. Stays says at which Places the Zone is to stay;
// nil: wherever it is attached.
func (s *Servers) Guards(id zone.ID, stays func(place string) bool) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	return z != nil && st.guards(z, stays)
}

// GuardsLeft is Guards of what a Zone that is gone has left behind.
func (s *Servers) GuardsLeft(name dnsname.Name, uid types.UID) bool {
	st, unlock := s.state.Lock()
	defer unlock()
	for place := range st.places {
		if z := st.zones[LeftID(place, name, uid)]; z != nil && st.guards(z, nil) {
			return true
		}
	}
	return false
}

// guards is Guards.
func (st *state) guards(z *delivery, stays func(place string) bool) bool {
	for name, l := range z.feeds {
		goes := !z.accepted || name != z.snapshot.Name
		for key, a := range l.at {
			if (goes || a.leaving || stays != nil && !stays(key.place)) && st.places.limits(key.place) {
				return true
			}
		}
		if slices.ContainsFunc(l.owed, st.places.limits) {
			return true
		}
	}
	return false
}

// limits reports whether a Place limits what may be deleted.
func (ps places) limits(place string) bool {
	p := ps[place]
	return p != nil && p.Protection.Limited
}

// Remember reports whether it is known which Zones there are, and where earlier runs have delivered them: Guards says
// nothing before.
func (s *Servers) Remember() bool {
	st, unlock := s.state.Lock()
	defer unlock()
	return st.remembers()
}

// knows reports whether it is known of every Zone where it may be delivered to.
func (st *state) knows() bool { return st.judged && !st.regrant }

// remembers reports whether it is also known where earlier runs have delivered Zones.
func (st *state) remembers() bool { return st.knows() && len(st.earlier) == 0 }
