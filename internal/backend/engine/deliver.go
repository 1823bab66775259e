package engine

import (
	"context"
	"errors"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A delivery sends the changes of one run.
type delivery struct {
	*worker
	j        *job
	queue    [][]plan.Change // batches to send
	accepted bool            // the server took something
	refused  [][]plan.Change // refused alone; provisional until the server took something
	open     bool            // the server took something, and not as the last
}

// loneRefusals is how many sets may be refused, one after the other and nothing taken, before the server is asked
// whether it takes anything at all.
const loneRefusals = 8

// deliver sends changes until all are applied or refused, ending with the label of the content. It returns the changes
// that are still to be made.
func (w *worker) deliver(ctx context.Context, j *job, changes []plan.Change) ([]plan.Change, error) {
	if err := w.record(ctx, j); err != nil {
		return changes, err
	}
	d := delivery{worker: w, j: j, queue: j.limits.Split(changes)}
	if w.state.create && j.limits.CreateBytes > 0 {
		d.queue = j.limits.Creating(changes)
	}
	if len(changes) == 0 {
		w.adopt(j)
	}
	for len(d.queue) > 0 || d.unfinished() {
		if w.stopped(ctx) {
			return d.rest(), errStopped
		}
		if err := d.next(ctx); err != nil {
			return d.rest(), err
		}
	}
	return nil, nil
}

// next sends the next batch, or an empty one for the label.
func (d *delivery) next(ctx context.Context) error {
	var batch []plan.Change
	if len(d.queue) > 0 {
		batch = d.queue[0]
	}
	last := len(d.queue) <= 1
	err := d.apply(ctx, d.j, batch, last)
	switch {
	case err == nil:
		d.accepted, d.open = true, !last
	case backend.Class(err) != backend.ErrRejected:
		return err
	case len(batch) == 0:
		d.retract()
		return err
	default:
		if left, right, ok := d.j.limits.Halve(batch); ok {
			d.queue = append([][]plan.Change{left, right}, d.queue[1:]...)
			return nil
		}
		return d.alone(ctx, batch, err)
	}
	if len(d.queue) > 0 {
		d.queue = d.queue[1:]
	}
	return nil
}

// alone refuses what the server rejected by itself.
func (d *delivery) alone(ctx context.Context, batch []plan.Change, err error) error {
	d.queue = d.queue[1:]
	why := Refusal{Reason: err.Error()}
	if detail, ok := errors.AsType[*backend.Error](err); ok {
		why.Cause, why.Temporary = detail.Cause, detail.Temporary
	}
	d.state.refuse(d.j, batch, why)
	d.refused = append(d.refused, batch)
	if d.j.limits.Atomic == backend.AtomicValue {
		d.suspect(batch)
	}
	if d.accepted || len(d.refused) != loneRefusals || !d.j.writesSOA() {
		return nil
	}
	if err := d.apply(ctx, d.j, nil, false); err != nil {
		if backend.Class(err) == backend.ErrRejected {
			d.retract()
		}
		return err
	}
	d.accepted, d.open = true, true
	return nil
}

// suspect has sets that may be half changed read back.
func (d *delivery) suspect(batch []plan.Change) {
	s := &d.state
	if s.base == nil {
		s.base = &backend.Known{SOA: s.soa, Sets: s.have}
	}
	s.unverified = append(s.unverified, batch...)
}

// retract takes refusals back: the server takes nothing at all, so they say nothing about the sets.
func (d *delivery) retract() {
	for _, batch := range d.refused {
		keys := make([]rr.Key, len(batch))
		for i, c := range batch {
			keys[i] = c.Key
		}
		d.state.refused.drop(keys)
		d.queue = append(d.queue, batch)
	}
	d.refused = nil
}

// rest returns the changes that were neither applied nor refused.
func (d *delivery) rest() []plan.Change {
	var rest []plan.Change
	for _, batch := range d.queue {
		rest = append(rest, batch...)
	}
	return rest
}

// adopt accepts the serial of a target that holds exactly what is wanted. A target that forgets cannot tell a later run
// of it. There it may come from the feed of another owner, and is adopted only if the ceiling of this one covers it.
func (w *worker) adopt(j *job) {
	s := &w.state
	if j.leaving || !j.writesSOA() || !j.sameSOA(s.soa) || len(s.refused.sets) > 0 {
		return
	}
	f, unlock := j.feed.lock()
	defer unlock()
	if !j.limits.Volatile || f.covers(s.soa.Serial) {
		f.adopt(j.id, s.soa.Serial)
	}
}

// unfinished reports whether a last message is to be sent that changes no set.
func (d *delivery) unfinished() bool {
	if !d.state.apart(d.j) {
		return d.needsLabel(d.j)
	}
	return !d.j.leaving && (d.open || d.state.create || !d.j.sameSOA(d.state.soa))
}

// apart reports whether what the target holds is nothing that the label of the content may stand for.
func (s *state) apart(j *job) bool {
	return j.limits.Followed && j.writesSOA() && len(s.refused.sets) > 0
}

// needsLabel reports whether the target, all changes made, lacks the SOA: its fields, or the serial of the content.
func (w *worker) needsLabel(j *job) bool {
	s := &w.state
	switch {
	case j.leaving:
		return false
	case !j.writesSOA():
		return s.create
	case s.create || !j.sameSOA(s.soa):
		return true
	}
	f, unlock := j.feed.lock()
	defer unlock()
	if j.id != f.label.ID {
		return j.id == f.wantID
	}
	return f.label.Serial != s.soa.Serial
}
