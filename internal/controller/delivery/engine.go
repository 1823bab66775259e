package delivery

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// An Engine is the operator's one: zones of all dialects meet in its targets. Whose Deliveries a zone is part of keep
// its serials and hear of it.
type Engine struct {
	*engine.Engine
	Tracer trace.Tracer // follows changes until they are served; nil: nobody does. It is set before anything runs.

	mu       sync.Mutex
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
	e.mu.Lock()
	defer e.mu.Unlock()
	e.parts = append(e.parts, d)
}

// owner returns who delivers a feed, nil if nobody does any more.
func (e *Engine) owner(feed string) *Deliveries {
	e.mu.Lock()
	parts := e.parts
	e.mu.Unlock()
	for _, d := range parts {
		if _, is := d.zoneOf(feed); is {
			return d
		}
	}
	return nil
}

// Raise implements backend.CeilingStore.
func (e *Engine) Raise(ctx context.Context, feed string, ceiling uint32) error {
	d := e.owner(feed)
	if d == nil {
		return fmt.Errorf("raising the ceiling of %s: %w", feed, errGone)
	}
	return d.raise(ctx, feed, ceiling)
}

// Record implements backend.Ledger.
func (e *Engine) Record(ctx context.Context, feed string, sets []rr.Set) error {
	d := e.owner(feed)
	if d == nil {
		return fmt.Errorf("recording sets of %s: %w", feed, errGone)
	}
	return d.record(ctx, feed, sets)
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
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.overlays == nil {
		e.overlays = map[string]Overlay{}
	}
	e.overlays[c.ID] = of
	return e.NewFeed(c)
}

// DropOverlay has nobody hear of an overlay any more. Its attachments are detached before.
func (e *Engine) DropOverlay(feed string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.overlays, feed)
}

func (e *Engine) overlay(feed string) (Overlay, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o, ok := e.overlays[feed]
	return o, ok
}

func (e *Engine) report(r engine.Report) {
	if o, ok := e.overlay(r.Feed); ok {
		o.Hear(r)
		return
	}
	if d := e.owner(r.Feed); d != nil {
		d.hear(r)
	}
}

func (e *Engine) drifted(s engine.Drift) {
	if d := e.owner(s.Feed); d != nil {
		d.drifted(s)
	}
}
