package delivery

import (
	"github.com/zonefold/zonefold/internal/zone"
)

// Leading returns the newest serial of a Zone and a server that was given it in this run; false if none was: nothing
// has changed then, or no server has the change yet.
func (d *Deliveries) Leading(id zone.ID) (server string, serial uint32, ok bool) {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil || !z.accepted {
		return "", 0, false
	}
	l := z.current()
	if l == nil {
		return "", 0, false
	}
	label, labelled := l.feed.Label()
	for key, a := range l.at {
		if !labelled || a.leaving || a.report == nil || a.report.Given != label.Serial || a.report.Serial != label.Serial {
			continue
		}
		if !ok || key.target.Server < server {
			server, serial, ok = key.target.Server, label.Serial, true
		}
	}
	return server, serial, ok
}
