package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// apply is one Backend.Apply: the batch and, where the client writes it, the SOA; with the label of the content when it
// is the last.
func (t *target) apply(ctx context.Context, j *job, changes []plan.Change, last bool) error {
	s := &t.state
	batch := sent{Batch: backend.Batch{Changes: changes, Create: s.create, Last: last, Assert: t.overlay}}
	labelled := last && !t.apart(j)
	if labelled {
		batch.id = j.id
	}
	if j.writesSOA() && (!j.leaving || s.soa != (rr.SOA{})) {
		serial, err := t.serial(ctx, j, labelled)
		if err != nil {
			return err
		}
		soa := j.soa(s.soa, serial)
		batch.SOA = &soa
	}
	result, err := t.send(ctx, j, &batch.Batch)
	if err != nil {
		return err
	}
	t.applied(j, batch, result)
	if result.Pending != nil && !t.overlay {
		t.await(result.Pending)
	}
	return nil
}

// send makes the call, of a server that is to be as it was last seen.
func (t *target) send(ctx context.Context, j *job, batch *backend.Batch) (backend.Result, error) {
	if leads := t.engine.cfg.Leads; leads != nil {
		ctx = backend.WithLeads(ctx, leads)
	}
	if err := backend.MaySend(ctx); err != nil {
		return backend.Result{}, err
	}
	if soa := t.state.soa; soa != (rr.SOA{}) && j.limits.Read != backend.ReadNone && !t.overlay {
		batch.Expect = &soa
	}
	call, cancel := t.callContext(ctx)
	defer cancel()
	call, done := t.engine.cfg.Tracing(call, j.feed.id, j.seq, t.key)
	j.asked = true
	start := t.engine.cfg.Clock.Now()
	result, err := j.a.Backend.Apply(call, t.key.Zone, *batch)
	t.engine.cfg.Metrics.Applied(j.a.Kind, len(batch.Changes), t.engine.cfg.Clock.Now().Sub(start), backend.Class(err))
	done(len(batch.Changes), err)
	if err != nil {
		t.suspect(j, *batch, err)
		return result, err
	}
	t.engine.cfg.Log.Debug("A zone was written to a server.", slog.String("zone", t.key.Zone.String()),
		slog.String("server", t.key.Server), slog.Int("changes", len(batch.Changes)),
		slog.Int("refused", len(result.Rejected)), slog.Bool("last", batch.Last))
	return result, nil
}

// sent is a batch on its way.
type sent struct {
	backend.Batch
	id string // of the content that its SOA has the serial of; "" on the way to one
}

// serial returns the one for the next batch.
func (t *target) serial(ctx context.Context, j *job, labelled bool) (uint32, error) {
	call, cancel := t.callContext(ctx)
	defer cancel()
	above := t.state.soa.Serial
	var serial uint32
	var err error
	if labelled {
		serial, err = j.feed.name(call, j.id, above)
	} else {
		serial, err = j.feed.fresh(call)
	}
	if err == nil && above != 0 && !rr.SerialLess(above, serial) {
		serial = above + farthest
	}
	return serial, err
}

// suspect records after a failed Apply whether the server may hold something else than before.
func (t *target) suspect(j *job, batch backend.Batch, err error) {
	s := &t.state
	switch backend.Class(err) {
	case backend.ErrConflict:
		s.known, s.raced = false, s.known
	case backend.ErrUnavailable:
		s.known, s.raced = false, (s.known || s.raced) && j.limits.Read != backend.ReadNone
		for _, c := range slices.Concat(s.unverified, batch.Changes) {
			if s.raced {
				s.unsure(c.Key)
			}
		}
	case backend.ErrNoZone:
		s.known = false
	case backend.ErrRejected:
	default:
		s.known = s.known && j.limits.Atomic == backend.AtomicBatch
	}
}

// unsure notes a set of which nobody knows whether the server has it as it was sent last.
func (s *state) unsure(k rr.Key) {
	if s.maybe == nil {
		s.maybe = map[rr.Key]struct{}{}
	}
	s.maybe[k] = struct{}{}
}

// applied notes what came of a batch.
func (t *target) applied(j *job, batch sent, result backend.Result) {
	s := &t.state
	if len(batch.Changes) > len(result.Rejected) {
		s.refused.ripen(t.engine.cfg.Clock.Now())
	}
	rejected := map[rr.Key]backend.Rejection{}
	for _, r := range result.Rejected {
		rejected[r.Key] = r
	}
	done := batch.Changes
	if len(rejected) > 0 {
		done = nil
		for _, c := range batch.Changes {
			if r, ok := rejected[c.Key]; ok {
				t.refuse(j, []plan.Change{c}, Refusal{r.Reason, r.Cause, r.Temporary})
			} else {
				done = append(done, c)
			}
		}
	}
	t.remember(j, done)
	j.changed += len(done)
	s.create = false
	s.soa = result.SOA
	if s.soa == (rr.SOA{}) && batch.SOA != nil {
		s.soa = *batch.SOA
	}
	if batch.SOA != nil {
		s.given = batch.SOA.Serial
		t.engine.mu.Lock()
		defer t.engine.mu.Unlock()
		j.feed.named(batch.id, batch.SOA.Serial)
	}
}

// remove takes the whole zone from a server that can do so.
func (t *target) remove(ctx context.Context, j *job) error {
	if _, err := t.send(ctx, j, &backend.Batch{Remove: true}); err != nil {
		t.giveBack(j)
		return fmt.Errorf("removing zone %s: %w", t.key.Zone, err)
	}
	t.untell()
	t.state = state{complete: true, holder: t.state.holder}
	return nil
}
