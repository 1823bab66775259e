package delivery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
)

// Places are where zones may be delivered to. Who has them says which there are, and is told how they do.
type Places Deliveries

// Places returns where zones may be delivered to.
func (d *Deliveries) Places() *Places { return (*Places)(d) }

// Put adds or replaces a Place. After it the World has to settle, which finds out what grants allow.
func (p *Places) Put(place *Place) {
	st, unlock := p.state.Lock()
	defer unlock()
	old := st.places[place.Name]
	st.regrant = st.regrant || place.Closed || old != nil && old.Closed
	st.places[place.Name] = place
	st.lookAtAll()
}

// Delete forgets a Place. What was published there stays.
func (p *Places) Delete(name string) {
	st, unlock := p.state.Lock()
	defer unlock()
	delete(st.places, name)
	st.lookAtAll()
}

func (st *state) lookAtAll() {
	for id := range st.zones {
		st.queue.Enqueue(id)
	}
}

// OnNews has a function told whenever the Outcome of a Place may have changed. It is called before Run, and f must not
// block.
func (p *Places) OnNews(f func(name string)) { p.onPlace = f }

// Outcome returns how many Zones a Place has, and what is wrong with its servers.
func (p *Places) Outcome(name string) (zones int, trouble *controller.Outcome) {
	st, unlock := p.state.Lock()
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

// Unsure reports whether Outcome may say less than what is true, as it does after a start: there are Zones that were
// not looked at yet, or servers that said nothing yet.
func (p *Places) Unsure(name string) bool {
	st, unlock := p.state.Lock()
	defer unlock()
	if !st.knows() {
		return true
	}
	for _, z := range st.zones {
		if z.accepted && !z.looked {
			return true
		}
		for _, l := range z.feeds {
			for key, a := range l.at {
				if key.place == name && a.report == nil && !a.leaving && !l.held {
					return true
				}
			}
		}
	}
	return false
}

// Unhosted reports whether a Zone that is meant for a Place is waiting for its service to have the zone.
func (p *Places) Unhosted(name string) bool {
	st, unlock := p.state.Lock()
	defer unlock()
	for _, z := range st.zones {
		if z.lacks != nil && slices.Contains(z.unhosted, name) {
			return true
		}
		for _, l := range z.feeds {
			for key, a := range l.at {
				if key.place == name && a.report != nil && errors.Is(a.report.Err, backend.ErrNoZone) {
					return true
				}
			}
		}
	}
	return false
}

// Hosted reports whether a Zone that wants the backends refs goes to services alone, which have name servers of their
// own for it.
func (p *Places) Hosted(refs []string) bool {
	st, unlock := p.state.Lock()
	defer unlock()
	on := 0
	for _, place := range st.places {
		if !place.serves(refs) {
			continue
		}
		if !place.Hosted {
			return false
		}
		on++
	}
	return on > 0 && on >= len(refs)
}

// serverTrouble reports whether an error is about the server and not about one zone.
func serverTrouble(err error) bool {
	switch backend.Class(err) {
	case backend.ErrNotAuthorised, backend.ErrUnavailable, backend.ErrThrottled:
		return true
	}
	return false
}
