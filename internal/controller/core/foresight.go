package core

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// What questions may cost: how many names and objects one may concern, how many times as long as an answer took the
// World has for itself later, and how much of that may be owed to it. People apply several objects at once.
const (
	maxForeseen = 2000
	restPer     = 4
	maxOwed     = 2 * time.Second
)

// A Foresight answers what would come of an object that is not stored yet, while somebody can: the replica that leads,
// once it knows everything. Its zero value answers nothing.
type Foresight struct {
	core  atomic.Pointer[Core]
	hosts atomic.Pointer[Hosts]
}

// Hosts know whether a Zone that wants some Backends goes to services alone.
type Hosts interface{ Hosted(refs []string) bool }

// Use has the Foresight ask a Core from now on, and who knows where its Zones are delivered to; nil: nobody.
func (f *Foresight) Use(c *Core, h Hosts) {
	f.hosts.Store(&h)
	f.core.Store(c)
}

// Hosted reports whether a Zone that wants the backends refs goes to services alone, as far as somebody can tell.
func (f *Foresight) Hosted(refs []string) bool {
	h := f.hosts.Load()
	return h != nil && *h != nil && (*h).Hosted(refs)
}

// Zone says what would come of a Zone; false if nobody can tell before ctx ends.
func (f *Foresight) Zone(ctx context.Context, z zone.Zone) (zone.Forecast, bool) {
	return ask(ctx, f, func(w *zone.World) (zone.Forecast, bool) { return w.ForeseeZone(z, maxForeseen) })
}

// Claim says what would come of a claim, likewise.
func (f *Foresight) Claim(ctx context.Context, c zone.Claim) (zone.Forecast, bool) {
	return ask(ctx, f, func(w *zone.World) (zone.Forecast, bool) { return w.ForeseeClaim(c, maxForeseen) })
}

// Grants returns the accepted Zones that would lose their names if a Backend granted that, likewise.
func (f *Foresight) Grants(ctx context.Context, backend string, grants []zone.Grant) ([]zone.ID, bool) {
	return ask(ctx, f, func(w *zone.World) ([]zone.ID, bool) { return w.ForeseeGrants(backend, grants), true })
}

// Verdict returns what was decided about an object, likewise.
func (f *Foresight) Verdict(id zone.ID) (zone.Verdict, bool) {
	c := f.core.Load()
	if c == nil {
		return zone.Verdict{}, false
	}
	return c.Verdict(id)
}

// lag is how long it takes until what was created just before is known: kubectl apply creates a zone and its records
// one right after the other.
const lag = 20 * time.Millisecond

// An Inquiry is about one object.
type Inquiry struct {
	ID       zone.ID
	Stored   bool          // it is there, with another spec
	Missing  []zone.Reason // why it is refused when an object that it needs is not there
	Forecast func(context.Context) (zone.Forecast, bool)
}

// Look says what would come of an object, if somebody can tell.
func (f *Foresight) Look(ctx context.Context, q Inquiry) controller.Findings {
	forecast, ok := q.Forecast(ctx)
	if ok && !forecast.Verdict.Accepted && slices.Contains(q.Missing, forecast.Verdict.Reason) {
		select {
		case <-time.After(lag):
		case <-ctx.Done():
		}
		forecast, ok = q.Forecast(ctx)
	}
	if !ok {
		return controller.Findings{}
	}
	before := zone.Verdict{}
	if q.Stored {
		before, _ = f.Verdict(q.ID)
	}
	return controller.Findings{Warnings: forecastWarnings(q.ID, forecast, before)}
}

// A question is put to the World between two steps. It leaves the World as it is.
type question struct {
	ctx  context.Context
	put  func(*zone.World)
	done chan struct{}
}

// ask has the Core put a question. It is false if it was not put, or not in time.
func ask[T any](ctx context.Context, f *Foresight, put func(*zone.World) (T, bool)) (T, bool) {
	var none T
	c := f.core.Load()
	if c == nil || !c.runs.Load() {
		return none, false
	}
	var out T
	var ok bool
	q := &question{ctx: ctx, put: func(w *zone.World) { out, ok = put(w) }, done: make(chan struct{})}
	select {
	case c.asks <- q:
	case <-ctx.Done():
		return none, false
	}
	select {
	case <-q.done:
		return out, ok
	case <-ctx.Done(): // what q puts into out belongs to the Core
		return none, false
	}
}

// answer puts a question, with nobody looking on: while it is put, the World is what it might be. Those who ask much
// are not answered for a while, lest what is wait for what might be.
func (c *Core) answer(q *question) {
	defer close(q.done)
	began := c.clock()
	st, unlock := c.state.Lock()
	defer unlock()
	if st.rest.Before(began) {
		st.rest = began
	}
	if q.ctx.Err() != nil || st.rest.Sub(began) > maxOwed {
		return
	}
	q.put(st.world)
	st.rest = st.rest.Add((1 + restPer) * c.clock().Sub(began))
}
