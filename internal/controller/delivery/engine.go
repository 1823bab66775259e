package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An Engine is the operator's one: zones of all dialects meet in its targets. Whose Deliveries a zone is part of keep
// its serials and hear of it.
type Engine struct {
	*engine.Engine
	Tracer trace.Tracer // follows changes until they are served; nil: nobody does. It is set before anything runs.

	hearers guarded.Value[hearers]
}

// hearers are who hears of the feeds of an Engine.
type hearers struct {
	parts    []*Deliveries
	overlays map[string]Overlay // by feed
}

// NewEngine returns an Engine; Ceilings, Ledger, Report, OnDrift and Tracing of c are its own affair.
func NewEngine(c engine.Config) *Engine {
	e := &Engine{}
	c.Ceilings, c.Ledger, c.Report, c.OnDrift, c.Tracing = e, e, e.report, e.drifted, e.tracing
	e.Engine = engine.New(c)
	return e
}

// join has Deliveries hear of their zones.
func (e *Engine) join(d *Deliveries) {
	all, unlock := e.hearers.Lock()
	defer unlock()
	all.parts = append(all.parts, d)
}

// with calls f with the Zone that a feed is of and who delivers it, under the lock of these. It reports whether anybody
// still does.
func (e *Engine) with(feed string, f func(*state, *zoneFeed)) bool {
	all, unlock := e.hearers.Lock()
	parts := all.parts
	unlock()
	return slices.ContainsFunc(parts, func(d *Deliveries) bool {
		st, unlock := d.state.Lock()
		defer unlock()
		l := st.feeds[feed]
		if l != nil {
			f(st, l)
		}
		return l != nil
	})
}

var errGone = errors.New("the zone is no longer delivered")

// Raise implements backend.CeilingStore.
func (e *Engine) Raise(ctx context.Context, feed string, ceiling uint32) error {
	var store Store
	var id zone.ID
	if !e.with(feed, func(st *state, l *zoneFeed) { store, id = st.store, l.zone }) {
		return fmt.Errorf("raising the ceiling of %s: %w", feed, errGone)
	}
	return store.Raise(ctx, id, ceiling)
}

// Record implements backend.Ledger.
func (e *Engine) Record(ctx context.Context, feed string, sets []rr.Set) error {
	var store Store
	var id zone.ID
	known := e.with(feed, func(st *state, l *zoneFeed) {
		store, id = st.store, l.zone
		l.enterAll(sets)
	})
	if !known {
		return fmt.Errorf("recording sets of %s: %w", feed, errGone)
	}
	return store.Record(ctx, id, sets)
}

// An Overlay is who has sets that lie over whatever a zone holds. Hear and Causes never block.
type Overlay struct {
	Hear   func(engine.Report)           // is told what becomes of them
	Causes func(seq uint64) []trace.Span // the changes that a content brings, the oldest first
	Clock  func() time.Time
}

// NewOverlay starts a feed of such sets.
func (e *Engine) NewOverlay(c engine.FeedConfig, of Overlay) *engine.Feed {
	c.Overlay = true
	all, unlock := e.hearers.Lock()
	defer unlock()
	if all.overlays == nil {
		all.overlays = map[string]Overlay{}
	}
	all.overlays[c.ID] = of
	return e.NewFeed(c)
}

// DropOverlay has nobody hear of an overlay any more. Its attachments are detached before.
func (e *Engine) DropOverlay(feed string) {
	all, unlock := e.hearers.Lock()
	defer unlock()
	delete(all.overlays, feed)
}

func (e *Engine) overlay(feed string) (Overlay, bool) {
	all, unlock := e.hearers.Lock()
	defer unlock()
	o, ok := all.overlays[feed]
	return o, ok
}

func (e *Engine) report(r engine.Report) {
	if o, ok := e.overlay(r.Feed); ok {
		o.Hear(r)
		return
	}
	var tell func()
	e.with(r.Feed, func(st *state, l *zoneFeed) { tell = st.hear(l, r) })
	if tell != nil {
		tell()
	}
}

// drifted passes a Drift on to the dialect of its Zone and to OnDrift.
func (e *Engine) drifted(s engine.Drift) {
	var hearers []func(Drift)
	var found Drift
	e.with(s.Feed, func(st *state, l *zoneFeed) {
		hearers, found = []func(Drift){st.dialectDrift, st.onDrift}, Drift{l.zone, l.placeOf(s.Name), s.Sets}
	})
	for _, hear := range hearers {
		if hear != nil {
			hear(found)
		}
	}
}
