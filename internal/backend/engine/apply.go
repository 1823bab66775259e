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
func (w *worker) apply(ctx context.Context, j *job, changes []plan.Change, last bool) error {
	s := &w.state
	batch := sent{Batch: backend.Batch{Changes: changes, Create: s.create, Last: last, Assert: w.overlay()}}
	labelled := last && !s.apart(j)
	if labelled {
		batch.id = j.id
	}
	if j.writesSOA() && (!j.leaving || s.soa != (rr.SOA{})) {
		serial, err := w.serial(ctx, j, labelled)
		if err != nil {
			return err
		}
		soa := j.soa(s.soa, serial)
		batch.SOA = &soa
	}
	result, err := w.send(ctx, j, &batch.Batch)
	if err != nil {
		return err
	}
	w.applied(j, batch, result)
	if result.Pending != nil && !w.overlay() {
		s.await(result.Pending, j.a.Backend, w.now())
	}
	return nil
}

// send makes the call, of a server that is to be as it was last seen.
func (w *worker) send(ctx context.Context, j *job, batch *backend.Batch) (backend.Result, error) {
	if leads := w.engine.cfg.Leads; leads != nil {
		ctx = backend.WithLeads(ctx, leads)
	}
	if err := backend.MaySend(ctx); err != nil {
		return backend.Result{}, err
	}
	if soa := w.state.soa; soa != (rr.SOA{}) && j.limits.Read != backend.ReadNone && !w.overlay() && !batch.Create {
		batch.Expect = &soa
	}
	call, cancel := w.callContext(ctx)
	defer cancel()
	call, done := w.engine.cfg.Tracing(call, j.feed.id, j.seq, w.TargetKey)
	j.asked = true
	start := w.now()
	result, err := j.a.Backend.Apply(call, w.Zone, *batch)
	w.engine.cfg.Metrics.Applied(j.a.Kind, len(batch.Changes), w.now().Sub(start), backend.Class(err))
	done(len(batch.Changes), err)
	if err != nil {
		w.state.suspect(j, *batch, err)
		return result, err
	}
	w.engine.cfg.Log.Debug("A zone was written to a server.", slog.String("zone", w.Zone.String()),
		slog.String("server", w.Server), slog.Int("changes", len(batch.Changes)),
		slog.Int("refused", len(result.Rejected)), slog.Bool("last", batch.Last))
	return result, nil
}

// sent is a batch on its way.
type sent struct {
	backend.Batch
	id string // of the content that its SOA has the serial of; "" on the way to one
}

// serial returns the one for the next batch.
func (w *worker) serial(ctx context.Context, j *job, labelled bool) (uint32, error) {
	call, cancel := w.callContext(ctx)
	defer cancel()
	above := w.state.soa.Serial
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
func (s *state) suspect(j *job, batch backend.Batch, err error) {
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
func (d *doubts) unsure(k rr.Key) {
	if d.maybe == nil {
		d.maybe = map[rr.Key]struct{}{}
	}
	d.maybe[k] = struct{}{}
}

// applied notes what came of a batch.
func (w *worker) applied(j *job, batch sent, result backend.Result) {
	s := &w.state
	if len(batch.Changes) > len(result.Rejected) {
		s.refused.ripen(w.now())
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
				s.refuse(j, []plan.Change{c}, Refusal{r.Reason, r.Cause, r.Temporary})
			} else {
				done = append(done, c)
			}
		}
	}
	s.remember(j, done)
	if w.overlay() {
		s.sent = plan.Apply(s.sent, done)
		w.deleted(done)
	}
	j.changed += len(done)
	s.create = false
	s.soa = result.SOA
	if s.soa == (rr.SOA{}) && batch.SOA != nil {
		s.soa = *batch.SOA
	}
	if batch.SOA != nil {
		s.given = batch.SOA.Serial
		f, unlock := j.feed.lock()
		defer unlock()
		f.named(batch.id, batch.SOA.Serial)
	}
}

// remove takes the whole zone from a server that can do so.
func (w *worker) remove(ctx context.Context, j *job) error {
	if _, err := w.send(ctx, j, &backend.Batch{Remove: true}); err != nil {
		w.giveBack(j)
		return fmt.Errorf("removing zone %s: %w", w.Zone, err)
	}
	w.state = state{complete: true, holder: w.state.holder, view: view{late: w.state.late}}
	j.read = true // that there is nothing is all that an audit would find
	return nil
}
