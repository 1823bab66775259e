package engine

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// pending is what a server has made, and not all of its name servers have yet.
type pending struct {
	seq    uint64 // of the content that is complete with it; 0: none is
	done   func(context.Context) (bool, error)
	asks   backend.Backend // that done belongs to
	next   time.Time       // when to ask
	every  time.Duration
	failed int
}

// The pace at which a server is asked, and how many answers may fail before the zone is read instead.
const (
	firstPoll, lastPoll = 100 * time.Millisecond, 10 * time.Second
	failedPolls         = 5
)

// await notes what is to be asked for. Of batches that come while one is asked for only the last is asked for next: it
// stands for those before it, and so a zone that never rests costs no more questions.
func (d *doubts) await(done func(context.Context) (bool, error), asks backend.Backend, now time.Time) {
	p := &pending{done: done, asks: asks, next: now.Add(firstPoll), every: firstPoll}
	if d.pending == nil {
		d.pending = p
	} else {
		d.behind = p
	}
}

// forsake drops what would be asked for with credentials that have been replaced: the zone is read with the new ones
// instead.
func (s *state) forsake(now backend.Backend) {
	if s.pending != nil && s.pending.asks != now {
		s.pending, s.behind, s.known = nil, nil, false
	}
}

// latest is what was made last, nil when all name servers have everything.
func (d *doubts) latest() *pending {
	if d.behind != nil {
		return d.behind
	}
	return d.pending
}

// poll asks whether all name servers have what was made, if that is not known and its time has come.
func (w *worker) poll(ctx context.Context, j *job) error {
	s := &w.state
	p, now := s.pending, w.now()
	if p == nil || now.Before(p.next) {
		return nil
	}
	call, cancel := w.callContext(ctx)
	defer cancel()
	j.asked = true
	switch done, err := p.done(call); {
	case err != nil:
		if p.failed++; p.failed >= failedPolls {
			s.pending, s.behind, s.known = nil, nil, false
		}
		return err
	case !done:
		p.every = min(2*p.every, lastPoll)
		p.next = w.now().Add(p.every)
		return nil
	}
	s.pending, s.behind = s.behind, nil
	s.seq = max(s.seq, p.seq)
	s.complete = s.complete || s.pending == nil
	return nil
}
