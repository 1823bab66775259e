package delivery

import (
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// AtServer returns the zones that a server has, and whether these are all that it is to have: for a server that
// must not answer before it has everything. Wants says which Zones are meant for it. One that the server does not take,
// or that an older Zone has there, is not waited for.
func (d *Deliveries) AtServer(server string, wants func(zone.ID) bool) (zones []dnsname.Name, complete bool) {
	st, unlock := d.state.Lock()
	defer unlock()
	if !st.judged || st.regrant {
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
func (d *Deliveries) Has(id zone.ID, server string) bool {
	st, unlock := d.state.Lock()
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
func (d *Deliveries) Newest(id zone.ID) (out Newest) {
	st, unlock := d.state.Lock()
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
func (d *Deliveries) Attached(server string, name dnsname.Name) bool {
	st, unlock := d.state.Lock()
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

// declined reports whether an error says that a server is not to have a Zone, or does not take it: waiting changes
// nothing.
func declined(err error) bool {
	class := backend.Class(err)
	return class == backend.ErrHeld || class == backend.ErrRejected
}

// Refused reports whether no server takes a Zone at all, or is given any of it as it is frozen: who follows them need
// not wait for it.
func (d *Deliveries) Refused(id zone.ID) bool {
	st, unlock := d.state.Lock()
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
func (d *Deliveries) Restarted(server string) {
	st, unlock := d.state.Lock()
	defer unlock()
	for id, z := range st.zones {
		for _, l := range z.feeds {
			for key, a := range l.at {
				if key.target.Server != server {
					continue
				}
				st.engine.Audit(key.target)
				if a.leaving {
					continue
				}
				again := *a
				again.report = nil
				l.at[key] = &again
				st.engine.Attach(key.target, l.attachment(key.place, &again))
				d.queue.Enqueue(id)
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
func (d *Deliveries) Abandon(id zone.ID) {
	st, unlock := d.state.Lock()
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
	d.queue.Enqueue(id)
}
