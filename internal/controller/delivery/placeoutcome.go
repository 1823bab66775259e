package delivery

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
)

// PlaceOutcome returns how many Zones a Backend has, and what is wrong with its servers.
func (d *Deliveries) PlaceOutcome(name string) (zones int, trouble *controller.Outcome) {
	st, unlock := d.state.Lock()
	defer unlock()
	for _, z := range st.zones {
		there := false
		for _, l := range z.feeds {
			for key, a := range l.at {
				if key.place != name {
					continue
				}
				there = there || l.live
				if a.report == nil || !serverTrouble(a.report.Err) {
					continue
				}
				o := controller.Not(controller.ReasonOf(backend.Class(a.report.Err)),
					fmt.Sprintf("Server %s: %v.", a.server, a.report.Err))
				if trouble == nil || o.Message < trouble.Message {
					trouble = &o
				}
			}
		}
		if there {
			zones++
		}
	}
	return zones, trouble
}

// Unsure reports whether PlaceOutcome may say less than what is true, as it does after
// a start: there are Zones that were not looked at yet, or servers that said nothing yet.
func (d *Deliveries) Unsure(name string) bool {
	st, unlock := d.state.Lock()
	defer unlock()
	if !st.judged || st.regrant {
		return true
	}
	for _, z := range st.zones {
		if z.accepted && !z.looked {
			return true
		}
		for _, l := range z.feeds {
			for key, a := range l.at {
				if key.place == name && a.report == nil && !a.leaving {
					return true
				}
			}
		}
	}
	return false
}

// serverTrouble reports whether an error is about the server and not about one zone.
func serverTrouble(err error) bool {
	switch backend.Class(err) {
	case backend.ErrNotAuthorised, backend.ErrUnavailable, backend.ErrThrottled:
		return true
	}
	return false
}

// OnPlace has a function told whenever the outcome of a Backend may have changed. It is
// called before Run, and f must not block.
func (d *Deliveries) OnPlace(f func(name string)) { d.onPlace = f }
