package delivery

import (
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/zone"
)

// openingPatience is how long an opening waits for a Zone that cannot be delivered for now, such as one whose ceiling
// the API server does not store. A leader that cannot reach that at all is none any more by then.
const openingPatience = 30 * time.Second

// An opening waits until all that was to be delivered when this run began has been, for a
// server that lives in this process and must not answer, or be copied, before it has
// everything.
type opening struct {
	owed map[zone.ID]struct{} // Zones that are still to be delivered
	late bool                 // do not wait for those that fail
	done bool
	call func() // nil: nobody waits
}

// WhenDelivered has f called, once, when every Zone that is accepted at the start has been
// delivered, has been rejected, or could not be delivered for a while. It is for before Run.
func (d *Deliveries) WhenDelivered(f func()) {
	st, unlock := d.state.Lock()
	defer unlock()
	st.opening.call = f
}

// Everything returns what is delivered where, also what is being withdrawn, and what an
// earlier run has delivered to a Backend that cannot be used now.
func (d *Deliveries) Everything() map[Delivered]bool {
	st, unlock := d.state.Lock()
	defer unlock()
	all := map[Delivered]bool{}
	for _, l := range st.feeds {
		for key := range l.at {
			all[Delivered{key.place, l.name}] = true
		}
		for _, place := range l.owed {
			all[Delivered{place, l.name}] = true
		}
	}
	return all
}

// begin notes what is to be delivered, as of the first step of the World.
func (o *opening) begin(s core.Settlement) {
	o.owed = map[zone.ID]struct{}{}
	for _, delta := range s.Delta.Zones {
		if _, accepted := s.View.Snapshot(delta.ID); accepted {
			o.owed[delta.ID] = struct{}{}
		}
	}
}

// hurry ends the wait for what fails.
func (d *Deliveries) hurry() {
	st, unlock := d.state.Lock()
	st.opening.late = true
	opened := func() {}
	for id := range st.opening.owed {
		if call := st.opening.arrived(id, st.zones[id]); call != nil {
			opened = call
		}
	}
	unlock()
	opened()
}

// arrived notes that a Zone may have been delivered; z is nil if it is not known. It returns what is to be called,
// without the lock, when it was the last one; nil: nothing.
func (o *opening) arrived(id zone.ID, z *delivery) (opened func()) {
	if o.done || o.owed == nil || o.waitsFor(z) {
		return nil
	}
	delete(o.owed, id)
	if len(o.owed) > 0 {
		return nil
	}
	o.done = true
	return o.call
}

// waitsFor reports whether a Zone is still to be delivered to a server that forgets.
func (o *opening) waitsFor(z *delivery) bool {
	if z == nil {
		return false
	}
	if !z.looked || !z.placed && !o.late {
		return true
	}
	for _, l := range z.feeds {
		for _, a := range l.at {
			if a.volatile() && !l.held && (a.report == nil || a.fails() && !o.late) {
				return true
			}
		}
	}
	return false
}

// fails reports whether nothing has come of the delivery yet, for a reason that may go away: such a Zone is not one
// that the server does not have, but one that is not known.
func (a *attached) fails() bool {
	switch backend.Class(a.report.Err) {
	case "", backend.ErrRejected, backend.ErrHeld:
		return false
	}
	return a.report.Seq == 0
}

func (a *attached) volatile() bool { return a.client.Limits().Volatile }

// ReleaseSerials gives back the serials that a Zone has not used, where a server forgets which ones it served; see
// engine.Feed.ReleaseSerials. It says whether such a server has the Zone at all, and no other server was given a later
// serial.
func (d *Deliveries) ReleaseSerials(id zone.ID) (label engine.Label, settled, forgets bool) {
	st, unlock := d.state.Lock()
	var feed *engine.Feed
	if z := st.zones[id]; z != nil {
		if l := z.current(); l != nil {
			for _, a := range l.at {
				if a.volatile() {
					feed = l.feed
				}
			}
		}
	}
	unlock()
	if feed == nil || feed.Exceeded() {
		return engine.Label{}, false, false
	}
	label, settled = feed.ReleaseSerials()
	return label, settled, true
}
