package delivery

import (
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Audit has a Zone read back from all of its servers now, and what somebody else has written there put right.
func (d *Deliveries) Audit(id zone.ID) {
	st, unlock := d.state.Lock()
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
func (d *Deliveries) OnDrift(f func(Drift)) { d.onDrift = f }
