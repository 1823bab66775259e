package delivery

import (
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Learn adds sets to what may be at the servers on behalf of a Zone: a leader whose term
// was over has written them down, and may have published them. Until each server is read,
// what it has confirmed says nothing about them.
func (d *Deliveries) Learn(id zone.ID, sets rr.Sets) {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		return
	}
	for name, l := range z.feeds {
		written := l.written.Txn()
		for set := range within(sets, name).All() {
			l.enter(written, set)
		}
		l.written, l.larger = written.Sets(), true
		for key, a := range l.at {
			a.unread = true
			// First: a run that has the sets and does not read would find that they are not there, and forget them.
			st.engine.Audit(key.target)
			st.attachAs(l, key, a)
		}
	}
}
