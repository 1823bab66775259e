package gardener

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/controller/core"
)

// follow begins to follow an operation, unless this is another attempt at it.
func (s *state) follow(r *record, run *run) {
	if run.span != nil || run.failures > 0 || run.step != Put && run.step != Remove {
		return
	}
	id := r.id
	id.Kind = metricKind
	run.span = s.follower().Change(id, run.begun, attribute.String("zonefold.operation", string(run.kind)),
		attribute.Bool("zonefold.deleted", run.step == Remove))
}

func (s *state) follower() *core.Follower {
	return &core.Follower{Tracer: s.k.Engine.Tracer}
}

// handed notes that an operation is the engine's affair now.
func (s *state) handed(run *run) {
	if run.span != nil {
		run.span.SetAttributes(attribute.String("dns.zone", run.zone.Name.String()))
		s.follower().Settled(run.span, run.begun, s.k.Clock())
	}
}

// arrive ends the span of an operation, if it is followed; nil: the service has done it.
func (r *run) arrive(now time.Time, err error) {
	if r == nil || r.span == nil {
		return
	}
	if err != nil {
		r.span.SetStatus(codes.Error, err.Error())
	}
	r.span.End(trace.WithTimestamp(now))
	r.span = nil
}

// causes are the operations that a content brings, the oldest first.
func (p *hostedZone) causes(seq uint64) []trace.Span {
	var runs []*run
	for r := range p.waiting {
		if r.run.span != nil && r.run.seq <= seq {
			runs = append(runs, r.run)
		}
	}
	slices.SortFunc(runs, func(a, b *run) int { return a.begun.Compare(b.begun) })
	changes := make([]trace.Span, len(runs))
	for i, run := range runs {
		changes[i] = run.span
	}
	return changes
}
