package engine

import (
	"context"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// sync brings the target into the wanted state as far as it goes now, and confirms it.
func (w *worker) sync(ctx context.Context, j *job) error {
	s := &w.state
	s.complete = false
	if !j.ready || j.a.Observe {
		s.pending, s.behind = nil, nil
	}
	if !j.ready {
		return nil
	}
	if j.leaving && (j.a.Observe || !w.overlay() && j.a.Protection.Policy != plan.PolicySync) {
		s.refused.drop(s.refused.all()) // what is there stays there, and nobody waits for it
		s.tell(j, nil)
		s.complete, s.late = true, time.Time{}
		return nil
	}
	if w.overlay() {
		defer s.forget()
		err := w.deliverAll(ctx, j, w.assertions(j))
		if err == nil {
			w.prove()
			s.confirm(j, w.now(), w.engine.cfg.Rand())
		}
		return err
	}
	if done, err := w.arrive(ctx, j); done || err != nil {
		return err
	}
	changes := s.plan(j, w.above(), w.now())
	if j.a.Observe {
		s.observe(j, changes)
		return nil
	}
	if err := w.deliverAll(ctx, j, s.restoring(changes)); err != nil {
		s.known = s.known && !s.absent
		return err
	}
	s.absent, j.restored = false, s.absent
	s.confirm(j, w.now(), w.engine.cfg.Rand())
	s.share(j)
	return w.poll(ctx, j)
}

// arrive finds out what there is, where that is not known, and does all that there is to do with a zone that goes. One
// that cannot be read is removed too: it may be a part of one that was never completed.
func (w *worker) arrive(ctx context.Context, j *job) (done bool, err error) {
	w.state.forsake(j.a.Backend)
	w.state.reconsider(j, w.now())
	if w.state.lifted(w.above()) {
		w.state.known, w.state.raced = false, false
	}
	err = w.contact(ctx, j)
	gone := j.leaving && backend.Class(err) == backend.ErrNoZone
	switch {
	case err == nil:
		w.observeSerial(j)
	case !gone:
		w.giveBack(j)
		return false, err
	}
	w.state.claim(apexNS(w.Zone))
	w.state.trust(j)
	switch {
	case j.leaving && j.limits.Removes && !j.a.Keep && w.above().Len() == 0 && (gone || w.state.mayRemove(j, w.now())):
		return true, w.remove(ctx, j)
	case gone:
		w.giveBack(j)
		w.state.refused.drop(w.state.refused.all()) // nothing lingers
		w.state.tell(j, nil)
		w.state.complete, w.state.pending, w.state.behind = true, nil, nil
		j.read = true // that there is nothing is all that an audit would find
	}
	return gone, nil
}

// plan compares what the job is about and returns the changes to make: in scope, not refused before, fit for the
// server.
func (s *state) plan(j *job, over rr.Sets, now time.Time) []plan.Change {
	scope := j.scope(s.written)
	again := s.refused.drop(s.refused.due(now))
	again = append(again, s.refused.drop(s.refused.ripened(now))...)
	if j.audit {
		again = append(again, s.refused.drop(s.refused.all())...)
	}
	if j.all {
		again = append(again, s.refused.drop(s.refused.owned())...)
	}
	again = append(again, s.refused.drop(s.uncovered(over))...)
	again = append(again, s.refused.drop(s.refused.outdated(s.have, j.content.Sets, scope, j.keys, j.all))...)
	again = append(again, s.refused.drop(s.unbraked(j, now))...)
	var p plan.Plan
	if j.all {
		p = plan.Diff(s.have, j.content.Sets, scope)
		s.left, s.foreign, s.shared = plan.Apply(rr.Sets{}, putAll(p.Left)), p.Foreign-among(p.Left, over), false
	} else {
		j.keys = append(j.keys, again...)
		p = plan.DiffKeys(s.have, j.content.Sets, j.keys, scope)
	}
	return s.braked(j, s.fitting(j, s.refused.without(s.registered(j, s.covered(j, over, p.Changes)))), now)
}

// deliverAll ends a run: changes are sent and, where that is no proof, read back.
func (w *worker) deliverAll(ctx context.Context, j *job, changes []plan.Change) error {
	rest, err := w.deliver(ctx, j, changes)
	j.all, j.keys = false, nil
	for _, c := range rest {
		j.keys = append(j.keys, c.Key)
	}
	if err == nil {
		err = w.verify(ctx, j)
	}
	if len(j.keys) > 0 {
		w.giveBack(j)
	}
	return err
}

// observeSerial has the feed's next serial come after the target's.
func (w *worker) observeSerial(j *job) {
	f, unlock := j.feed.lock()
	defer unlock()
	if serial := w.state.soa.Serial; j.writesSOA() && serial != 0 {
		f.observe(serial)
	}
}

func putAll(sets []rr.Set) []plan.Change {
	changes := make([]plan.Change, len(sets))
	for i, s := range sets {
		changes[i] = plan.Change{Key: s.Key(), Want: s}
	}
	return changes
}

// fitting refuses the changes that the server can never take, and with them what belongs together.
func (s *state) fitting(j *job, changes []plan.Change) []plan.Change {
	fit := changes[:0:0]
	refused := false
	for unit := range plan.Units(changes) {
		i := slices.IndexFunc(unit, func(c plan.Change) bool { return j.limits.Unfit(c) != "" })
		if i >= 0 {
			if !refused {
				refused, fit = true, slices.Clone(changes[:len(fit)])
			}
			s.refuse(j, unit, Refusal{Reason: j.limits.Unfit(unit[i]), Cause: backend.CauseUnsupported})
			continue
		}
		if refused {
			fit = append(fit, unit...)
		} else {
			fit = changes[:len(fit)+len(unit)]
		}
	}
	return fit
}

// refuse notes a refusal.
func (s *state) refuse(j *job, unit []plan.Change, why Refusal) {
	s.refused.add(unit, why)
	j.refused += len(unit)
}

// confirm notes that the target holds the job's content, apart from what it refuses. Where its name servers have yet to
// learn of that, it is confirmed when they have.
func (s *state) confirm(j *job, now time.Time, random float64) {
	switch p := s.latest(); {
	case p == nil:
		s.seq, s.complete = j.seq, true
	case j.leaving:
		s.seq, s.pending.seq, p.seq = 0, 0, 0
	default:
		p.seq = j.seq
	}
	s.conflicts = 0
	s.approvedDone(j)
	if s.difference != nil {
		s.difference = nil
		s.diffGen++
	}
	s.refused.plan(now, random)
}
