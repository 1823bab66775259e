package gardener

import (
	"errors"
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
func (k *Controller) backoff(err error, failures int) time.Duration {
	if detail, ok := errors.AsType[*backend.Error](err); ok && detail.After > 0 {
		return detail.After
	}
	if passing(err) {
		return throttleWait
	}
	return backend.Jitter(backend.Doubled{First: retryFirst, Most: retryLast}.After(failures), k.Rand())
}

// pause says how long to wait after a failure of a run. What a service has refused is not sent there again before that.
// k.mu is held.
func (k *Controller) pause(r *record, run *run, err error) time.Duration {
	now, d := k.Clock(), k.backoff(err, run.failures)
	if run.force {
		d = min(d, k.patienceLeft(r))
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
// date. k.mu is held.
func (k *Controller) retry(r *record) {
	switch run := r.run; {
	case !samePlea(run.object, r.object):
		k.renew(r, false)
	case run.refused && !k.Clock().Before(run.again):
		k.unwait(r)
		run.failed, run.refused, run.step, run.at = false, false, Nothing, nil
	case run.waits() || run.refused:
		run.failed = false
	default:
		run.failed, run.step = false, Nothing
	}
}

// starts notes that an attempt begins. k.mu is held.
func (k *Controller) starts(r *record, run *run) {
	if run.force && r.forced.IsZero() {
		r.forced = k.Clock()
	}
	k.follow(r, run)
}

// end forgets a run. k.mu is held.
func (k *Controller) end(r *record) {
	k.unwait(r)
	r.run.arrive(k.Clock(), nil)
	r.run = nil
	k.sought(r)
}

// renew replaces what is under way. k.mu is held.
func (k *Controller) renew(r *record, asked bool) {
	k.end(r)
	r.run = &run{asked: asked, begun: k.Clock()}
}

// again has a run begin anew at the service: what it knows of it may be wrong. k.mu is held.
func (k *Controller) again(r *record) {
	if run := r.run; run != nil {
		k.unwait(r)
		run.step, run.at, run.account, run.answer, run.question, run.relist, run.secret, run.failures, run.refused = Nothing,
			nil, nil, nil, "", false, "", 0, false
	}
}
