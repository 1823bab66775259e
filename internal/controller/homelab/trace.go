package homelab

import (
	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/controller/core"
)

// trace begins to follow a change of a record, unless it is refused, which is told at once.
func (m *model) trace(s core.Settlement, o core.Input, r *record) {
	now := m.k.Clock.Now()
	span := m.k.follower.Begin(s, o, now)
	if span == nil {
		return
	}
	r.arrive(m.k)
	r.span = span
	if v, _ := s.View.Verdict(o.ID); !o.Gone() && !v.Accepted {
		r.arrive(m.k)
	}
}

// arrive ends the span of a record's change: the server has what it asks for.
func (r *record) arrive(k *Controller) {
	if r.span != nil {
		r.span.End(trace.WithTimestamp(k.Clock.Now()))
		r.span = nil
	}
}

// rest ends the spans of a slot about which there is nothing to do.
func (s *slot) rest(k *Controller, do step) {
	if do.prepare != nil || do.calls() || s.failure() != nil {
		return
	}
	for _, r := range s.claims {
		r.arrive(k)
	}
}

// causes are the changes that a call brings.
func (k *Controller) causes(jobs []job) (changes []trace.Span) {
	if k.follower.Tracer == nil {
		return nil
	}
	_, unlock := k.model.Lock()
	defer unlock()
	for _, j := range jobs {
		for _, r := range j.records() {
			if r.span != nil {
				changes = append(changes, r.span)
			}
		}
	}
	return changes
}

// records are those that a job is for.
func (j job) records() (out []*record) {
	if j.step.upsert != nil {
		return j.step.upsert.all
	}
	for _, h := range j.step.free {
		out = append(out, h.record)
	}
	return out
}
