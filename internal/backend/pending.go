package backend

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/internal/plan"
)

// pending is a batch that the server carries out later.
type pending struct {
	batch  sent
	result Result
	next   time.Time // when to ask
	every  time.Duration
	failed int
}

// The pace at which pending batches are asked for, and how many answers may fail before the zone is read instead.
const (
	firstPoll, lastPoll = 100 * time.Millisecond, 10 * time.Second
	failedPolls         = 5
)

func newPending(batch sent, result Result, now time.Time) *pending {
	return &pending{batch: batch, result: result, next: now.Add(firstPoll), every: firstPoll}
}

// poll asks for the pending batch, if there is one and its time has come, and reports whether it has to be waited for.
func (t *target) poll(ctx context.Context, j *job) (waiting bool, err error) {
	s := &t.state
	p, now := s.pending, t.engine.cfg.Clock.Now()
	if p == nil {
		return false, nil
	}
	if now.Before(p.next) {
		return true, nil
	}
	call, cancel := t.callContext(ctx)
	defer cancel()
	done, err := p.result.Pending(call)
	switch {
	case Class(err) == ErrRejected:
		s.pending, s.known = nil, s.known && j.limits.Atomic == AtomicBatch
		t.narrow(j, p.batch.Changes, err)
		return false, nil
	case err != nil:
		if p.failed++; p.failed >= failedPolls {
			s.pending, s.known = nil, false
		}
		return true, err
	case !done:
		p.every = min(2*p.every, lastPoll)
		p.next = now.Add(p.every)
		return true, nil
	}
	s.pending = nil
	t.applied(j, p.batch, p.result)
	return false, nil
}

// narrow makes the next batches smaller after one was rejected that the server had taken, or refuses what cannot be parted.
func (t *target) narrow(j *job, changes []plan.Change, err error) {
	if left, _, ok := j.limits.halve(changes); ok {
		t.state.pieces = len(left)
		for _, c := range changes {
			j.keys = append(j.keys, c.Key)
		}
		return
	}
	t.state.pieces = 0
	t.refuse(j, changes, err.Error(), false)
}
