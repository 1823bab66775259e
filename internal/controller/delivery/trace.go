package delivery

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/core"
)

// mostTraced bounds the changes of one Zone that are followed at a time.
const mostTraced = 1000

// traced is a change on its way.
type traced struct {
	seq  uint64
	span trace.Span
}

// traceStep begins to follow the changes of one step of the World.
func (st *state) traceStep(s core.Settlement) {
	if st.follower.Tracer == nil {
		return
	}
	now := st.clock()
	for _, o := range s.Inputs {
		if span := st.follower.Begin(s, o, now); span != nil && !st.homeOf(s, o).follow(span) {
			span.End(trace.WithTimestamp(now))
		}
	}
}

// follow keeps the span of a change until that is served, and reports whether there is something to wait for.
func (z *delivery) follow(span trace.Span) bool {
	if z == nil || !z.accepted {
		return false
	}
	l := z.current()
	if l == nil { // it is about to be delivered
		if len(z.traced) < mostTraced {
			z.traced = append(z.traced, span)
			return true
		}
		return false
	}
	if l.seq <= l.done || !l.confirmable() || len(l.traced) >= mostTraced {
		return false
	}
	span.SetAttributes(attribute.String("dns.zone", l.name.String()))
	l.traced = append(l.traced, traced{l.seq, span})
	return true
}

// homeOf is the Zone that a change is for: what is deleted does not say it, but the step does if it changed one Zone
// alone.
func (st *state) homeOf(s core.Settlement, o core.Input) *delivery {
	v, _ := s.View.Verdict(o.ID)
	switch {
	case o.Gone() && len(s.Delta.Zones) == 1:
		return st.zones[s.Delta.Zones[0].ID]
	case !o.Gone() && !v.Accepted:
		return nil
	case st.zones[o.ID] != nil:
		return st.zones[o.ID]
	}
	return st.zones[v.Serving()]
}

// begin takes over the changes from before the Zone was delivered.
func (z *delivery) begin() {
	before := z.traced
	z.traced = nil
	for _, span := range before {
		if !z.follow(span) {
			span.End()
		}
	}
}

// arrive ends what is served everywhere.
func (l *zoneFeed) arrive(now time.Time) {
	n := 0
	for n < len(l.traced) && l.traced[n].seq <= l.done {
		l.traced[n].span.End(trace.WithTimestamp(now))
		n++
	}
	l.traced = slices.Delete(l.traced, 0, n)
}

// end ends what nobody is going to serve any more.
func (l *zoneFeed) end(now time.Time) {
	l.feed.End()
	for _, t := range l.traced {
		t.span.SetStatus(codes.Error, "the zone is no longer delivered")
		t.span.End(trace.WithTimestamp(now))
	}
	l.traced = nil
}

// tracing follows one call of a Backend.
func (e *Engine) tracing(ctx context.Context, feed string, seq uint64,
	target backend.TargetKey) (context.Context, func(int, error)) {
	if e.Tracer == nil {
		return ctx, func(int, error) {}
	}
	now, changes := e.causes(feed, seq)
	ctx, done := (&core.Follower{Tracer: e.Tracer}).Call(ctx, now, changes,
		attribute.String("server.address", target.Server), attribute.String("dns.zone", target.Zone.String()))
	return ctx, func(changes int, err error) {
		result := []attribute.KeyValue{attribute.Int("zonefold.changes", changes)}
		if err != nil {
			result = append(result, attribute.String("error.type", string(backend.Class(err))))
		}
		done(err, result...)
	}
}

// causes are the changes that a content brings, the oldest first, and the clock of who has it.
func (e *Engine) causes(feed string, seq uint64) (now func() time.Time, changes []trace.Span) {
	if o, ok := e.overlay(feed); ok {
		return o.Clock, o.Causes(seq)
	}
	e.with(feed, func(st *state, l *zoneFeed) { now, changes = st.clock, l.causes(seq) })
	return now, changes
}

// causes are the changes that a content brings, the oldest first.
func (l *zoneFeed) causes(seq uint64) (changes []trace.Span) {
	for _, t := range l.traced {
		if t.seq > seq {
			break
		}
		changes = append(changes, t.span)
	}
	return changes
}
