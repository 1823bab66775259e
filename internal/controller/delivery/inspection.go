package delivery

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An Inspector tells what is known of the servers of objects beyond their statuses. ErrNotLeading and ErrUnknown are
// its errors.
type Inspector interface {
	Inspect(id zone.ID) (Inspected, error)
}

// An Inspection has an Inspector tell while there is one: at the replica that leads. Its zero value knows nothing.
type Inspection struct{ by atomic.Pointer[Inspector] }

// Errors of an Inspector.
var (
	ErrNotLeading = errors.New("this replica does not lead, or has not yet looked at everything")
	ErrUnknown    = errors.New("the operator has not looked at the object yet")
)

// Use has an Inspector asked until the function is called that is returned.
func (i *Inspection) Use(by Inspector) (end func()) {
	i.by.Store(&by)
	return func() { i.by.Store(nil) }
}

// Leads reports whether somebody knows here.
func (i *Inspection) Leads() bool { return i.by.Load() != nil }

// Inspect asks.
func (i *Inspection) Inspect(id zone.ID) (Inspected, error) {
	by := i.by.Load()
	if by == nil {
		return Inspected{}, ErrNotLeading
	}
	return (*by).Inspect(id)
}

// Inspected is what is known of one object.
type Inspected struct {
	Zone    dnsname.Name // that it is, or is in; zero: it is refused, or in none
	Home    zone.ID      // the Zone
	Set     rr.Key       // of a claim; zero: the object is a Zone
	Servers []ServerStanding
}

// A deliveredWorld is what a Core decides, and where Deliveries bring it.
type deliveredWorld struct {
	core       *core.Core
	deliveries *Deliveries
}

// InspectorOf tells of the objects of a Core, whose Zones Deliveries bring to servers.
func InspectorOf(c *core.Core, d *Deliveries) Looker { return deliveredWorld{c, d} }

// Inspect implements Inspector.
func (w deliveredWorld) Inspect(id zone.ID) (Inspected, error) {
	known, err := w.explained(id)
	if err != nil || !known.Verdict.Accepted {
		return Inspected{}, err
	}
	st, unlock := w.deliveries.state.Lock()
	defer unlock()
	if known.Type == 0 {
		return Inspected{Zone: known.Name, Home: id, Servers: st.serversOf(id)}, nil
	}
	out := Inspected{Home: known.Verdict.Serving(), Set: rr.Key{Name: known.Name, Type: known.Type}}
	out.Zone, out.Servers = st.serversOfSet(out.Home, id, out.Set)
	return out, nil
}

// explained returns what is known of an object, when the Deliveries have heard of it.
func (w deliveredWorld) explained(id zone.ID) (zone.Explanation, error) {
	if !w.deliveries.hasJudged() {
		return zone.Explanation{}, ErrNotLeading
	}
	known, ok := w.core.Explained(id)
	if !ok {
		return zone.Explanation{}, ErrUnknown
	}
	return known, nil
}

func (d *Deliveries) hasJudged() bool {
	st, unlock := d.state.Lock()
	defer unlock()
	return st.judged
}

// A ServerStanding says how one server of a Zone stands.
type ServerStanding struct {
	Delivered
	Server          string   // what people call it
	Serial          uint32   // whose content it has confirmed; 0: none yet
	Reason, Message string   // why it is behind; "" when it is not
	Data            []string // of a claim's set, that it held last; see Shown
	Shown           bool     // Data is known
	engine.Standing
}

// serversOf returns the servers of a Zone, and those from which it is being withdrawn.
func (st *state) serversOf(id zone.ID) []ServerStanding {
	z := st.zones[id]
	if z == nil {
		return nil
	}
	var out []ServerStanding
	for _, l := range z.feeds {
		for key, a := range l.at {
			out = append(out, st.standing(l, key, a, l.behind(a, l.seq)))
		}
	}
	return inOrder(out)
}

// serversOfSet returns the zone that a claim is in, and its servers as far as they concern the claim's set: of other
// sets, and of how many there are, they say nothing.
func (st *state) serversOfSet(home, claim zone.ID, key rr.Key) (dnsname.Name, []ServerStanding) {
	z := st.zones[home]
	if z == nil {
		return dnsname.Name{}, nil
	}
	l := z.current()
	if l == nil {
		return z.snapshot.Name, nil
	}
	var out []ServerStanding
	for at, a := range l.at {
		if a.leaving {
			continue
		}
		s := st.standing(l, at, a, l.behindWith(a, claim, key))
		if set, shown := s.Has(key); shown {
			s.Data, s.Shown = set.Data, true
		}
		out = append(out, s)
	}
	return l.name, inOrder(out)
}

// behindWith says why an attachment does not have the set of a claim as the claim asks, nil if it has.
func (l *zoneFeed) behindWith(a *attached, claim zone.ID, key rr.Key) *controller.Outcome {
	if a.observe { // the difference is the zone's
		return new(controller.Not(controller.ReasonObserving, "Nothing is written."))
	}
	if o := l.behind(a, l.asked(claim, key)); o != nil {
		return o
	}
	if a.report == nil {
		return nil
	}
	return refused(a.place, key, a.report.Refused[key])
}

// standing puts together what is known of one server.
func (st *state) standing(l *zoneFeed, key attachmentKey, a *attached, behind *controller.Outcome) ServerStanding {
	s := ServerStanding{Delivered: Delivered{key.place, l.name}, Server: a.server, Serial: l.serialAt(a)}
	if behind != nil {
		s.Reason, s.Message = behind.Reason, behind.Message
	}
	if st.engine != nil {
		s.Standing, _ = st.engine.Standing(key.target)
	}
	return s
}

func inOrder(servers []ServerStanding) []ServerStanding {
	slices.SortFunc(servers, func(a, b ServerStanding) int {
		return cmp.Or(compareDelivered(a.Delivered, b.Delivered), cmp.Compare(a.Server, b.Server))
	})
	return servers
}
