package gardener

import (
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// Times between attempts.
const (
	retryFirst   = time.Second
	retryLast    = 2 * time.Minute  // a deletion is to be done within two minutes of the moment that it can be
	throttleWait = 30 * time.Second // where the service does not say
)

// backoff says how long to wait after a number of failures in a row.
func backoff(err error, failures int, random func() float64) time.Duration {
	if pause := backend.Pause(err); pause > 0 {
		return pause
	}
	if passing(err) {
		return throttleWait
	}
	return backend.Jitter(backend.Doubled{First: retryFirst, Most: retryLast}.After(failures), random())
}

// pause says how long to wait after a failure of a run. What a service has refused is not sent there again before that.
func (s *state) pause(r *record, run *run, err error) time.Duration {
	now, d := s.k.Clock(), backoff(err, run.failures, s.k.Rand)
	if run.force {
		d = min(d, s.patienceLeft(r))
	}
	if run.refused = run.at != nil && backend.Class(err) == backend.ErrRejected; !run.refused {
		return d
	}
	if !now.Before(run.again) {
		run.again = now.Add(d)
	}
	return run.again.Sub(now)
}

// retry has the next attempt of a run that has failed decide anew, as Gardener's controllers do: the object may be
// another one by now, and so may what is wanted. What the engine tries again by itself goes on, unless it is out of
// date.
func (s *state) retry(r *record) {
	switch run := r.run; {
	case !samePlea(run.object, r.object):
		s.renew(r, false)
	case run.refused && !s.k.Clock().Before(run.again):
		s.unwait(r)
		run.failed, run.refused, run.step, run.at = false, false, Nothing, nil
	case run.waits() || run.refused:
		run.failed = false
	default:
		run.failed, run.step = false, Nothing
	}
}

// starts notes that an attempt begins.
func (s *state) starts(r *record, run *run) {
	if run.force && r.forced.IsZero() {
		r.forced = s.k.Clock()
	}
	s.follow(r, run)
}

// end forgets a run.
func (s *state) end(r *record) {
	s.unwait(r)
	r.run.arrive(s.k.Clock(), nil)
	r.run = nil
	s.sought(r)
}

// renew replaces what is under way.
func (s *state) renew(r *record, asked bool) {
	s.end(r)
	r.run = &run{asked: asked, begun: s.k.Clock()}
}

// again has a run begin anew at the service: what it knows of it may be wrong.
func (s *state) again(r *record) {
	if run := r.run; run != nil {
		s.unwait(r)
		run.step, run.at, run.answer, run.question, run.relist, run.secret, run.failures, run.refused = Nothing,
			nil, nil, "", false, "", 0, false
	}
}
