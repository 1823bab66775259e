package engine

import (
	"context"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// sync brings the target into the wanted state as far as it goes now, and confirms it.
func (t *target) sync(ctx context.Context, j *job) error {
	s := &t.state
	s.complete = false
	if !j.ready || j.a.Observe {
		s.pending, s.behind = nil, nil
	}
	if !j.ready {
		return nil
	}
	if j.leaving && (j.a.Observe || !t.overlay && j.a.Protection.Policy != plan.PolicySync) {
		s.refused.drop(s.refused.all()) // what is there stays there, and nobody waits for it
		t.tell(j, nil)
		s.complete = true
		return nil
	}
	if t.overlay {
		defer t.forget()
		err := t.deliverAll(ctx, j, t.assertions(j))
		if err == nil {
			t.confirm(j)
		}
		return err
	}
	if done, err := t.arrive(ctx, j); done || err != nil {
		return err
	}
	changes := t.plan(j)
	if j.a.Observe {
		t.observe(j, changes)
		return nil
	}
	if err := t.deliverAll(ctx, j, changes); err != nil {
		return err
	}
	t.confirm(j)
	t.share(j)
	return t.poll(ctx, j)
}

// arrive finds out what there is, where that is not known, and does all that there is to do with a zone that goes. One
// that cannot be read is removed too: it may be a part of one that was never completed.
func (t *target) arrive(ctx context.Context, j *job) (done bool, err error) {
	t.reconsider(j)
	err = t.contact(ctx, j)
	gone := j.leaving && backend.Class(err) == backend.ErrNoZone
	switch {
	case err == nil:
		t.observeSerial(j)
	case !gone:
		t.giveBack(j)
		return false, err
	}
	t.claim()
	t.trust(j)
	switch {
	case j.leaving && j.limits.Removes && !j.a.Keep && t.beside().Len() == 0 && (gone || t.mayRemove(j)):
		return true, t.remove(ctx, j)
	case gone:
		t.giveBack(j)
		t.state.complete, t.state.pending, t.state.behind = true, nil, nil
	}
	return gone, nil
}

// plan compares what the job is about and returns the changes to make: in scope, not refused before, fit for the
// server.
func (t *target) plan(j *job) []plan.Change {
	s, now := &t.state, t.engine.cfg.Clock.Now()
	scope := j.scope(s.written)
	again := s.refused.drop(s.refused.due(now))
	again = append(again, s.refused.drop(s.refused.ripened(now))...)
	if j.audit {
		again = append(again, s.refused.drop(s.refused.all())...)
	}
	if j.all {
		again = append(again, s.refused.drop(s.refused.owned())...)
	}
	over := t.beside()
	again = append(again, s.refused.drop(t.uncovered(over))...)
	again = append(again, s.refused.drop(s.refused.outdated(s.have, j.content.Sets, scope, j.keys, j.all))...)
	again = append(again, s.refused.drop(t.unbraked(j))...)
	var p plan.Plan
	if j.all {
		p = plan.Diff(s.have, j.content.Sets, scope)
		s.left, s.foreign, s.shared = plan.Apply(rr.Sets{}, putAll(p.Left)), p.Foreign-among(p.Left, over), false
	} else {
		j.keys = append(j.keys, again...)
		p = plan.DiffKeys(s.have, j.content.Sets, j.keys, scope)
	}
	return t.braked(j, t.fitting(j, s.refused.without(t.registered(j, t.covered(j, over, p.Changes)))))
}

// deliverAll ends a run: changes are sent and, where that is no proof, read back.
func (t *target) deliverAll(ctx context.Context, j *job, changes []plan.Change) error {
	rest, err := t.deliver(ctx, j, changes)
	j.all, j.keys = false, nil
	for _, c := range rest {
		j.keys = append(j.keys, c.Key)
	}
	if err == nil {
		err = t.verify(ctx, j)
	}
	if len(j.keys) > 0 {
		t.giveBack(j)
	}
	return err
}

// observeSerial has the feed's next serial come after the target's.
func (t *target) observeSerial(j *job) {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	if serial := t.state.soa.Serial; j.writesSOA() && serial != 0 {
		j.feed.observe(serial)
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
func (t *target) fitting(j *job, changes []plan.Change) []plan.Change {
	fit := changes[:0:0]
	refused := false
	for unit := range plan.Units(changes) {
		i := slices.IndexFunc(unit, func(c plan.Change) bool { return j.limits.Unfit(c) != "" })
		if i >= 0 {
			if !refused {
				refused, fit = true, slices.Clone(changes[:len(fit)])
			}
			t.refuse(j, unit, Refusal{Reason: j.limits.Unfit(unit[i])})
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
func (t *target) refuse(j *job, unit []plan.Change, why Refusal) {
	t.state.refused.add(unit, why)
	t.engine.cfg.Metrics.Refused(j.a.Kind, len(unit))
}

// confirm notes that the target holds the job's content, apart from what it refuses. Where its name servers have yet to
// learn of that, it is confirmed when they have.
func (t *target) confirm(j *job) {
	s := &t.state
	switch p := s.latest(); {
	case p == nil:
		s.seq, s.complete = j.seq, true
	case j.leaving:
		s.seq, s.pending.seq, p.seq = 0, 0, 0
	default:
		p.seq = j.seq
	}
	s.conflicts = 0
	t.approvedDone(j)
	if s.difference != nil {
		s.difference = nil
		s.diffGen++
	}
	s.refused.plan(t.engine.cfg.Clock.Now(), t.engine.cfg.Rand())
}
