package controller

import (
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Audit has a Zone read back from all of its servers now, and what somebody else has written there put right.
func (d *Deliveries) Audit(id zone.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	z := d.zones[id]
	if z == nil || d.engine == nil {
		return
	}
	for _, l := range z.lines {
		for key := range l.at {
			d.engine.Audit(key.target)
		}
	}
}

// A Strange is what a server of a Zone held otherwise than it was written there, in a Zone that is ours whole.
type Strange struct {
	Zone  zone.ID
	Place string
	Sets  []rr.Key
}

// OnStrange has f told of it, besides the dialect. It is called before Run.
func (d *Deliveries) OnStrange(f func(Strange)) { d.onStrange = f }

// wonder tells what somebody else has changed.
func (d *Deliveries) wonder(s backend.Strange) {
	d.mu.Lock()
	l := d.feeds[s.Feed]
	if l == nil {
		d.mu.Unlock()
		return
	}
	found := Strange{l.zone, l.placeOf(s.Name), s.Sets}
	d.mu.Unlock()
	for _, tell := range []func(Strange){d.strange, d.onStrange} {
		if tell != nil {
			tell(found)
		}
	}
}
