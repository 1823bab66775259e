package gardener

import (
	"errors"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
)

// suspend has a set that is on its way not be sent while nothing is to be done.
func (k *Controller) suspend(r *record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.holding != nil && r.holding.pending {
		k.drop(r)
	}
}

// letGo leaves what a record has where it is, and waits for what is being sent right now: what says that nothing is
// done any more has to be true.
func (k *Controller) letGo(r *record, run *run) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := r.holding; h != nil {
		run.left = &h.at.key
		k.drop(r)
	}
	if run.left != nil && k.Engine.Sending(*run.left, r.key) {
		return &controller.Later{After: sendingPause}
	}
	return nil
}

// hurried bounds the waiting of what goes by force.
func (k *Controller) hurried(r *record, run *run, err error) error {
	if !run.force || !errors.Is(err, errWaiting) {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.patient(r)
}

// patient waits for a service until what goes by force has waited long enough. k.mu is held.
func (k *Controller) patient(r *record) error {
	if left := k.patienceLeft(r); left > 0 {
		return &controller.Later{After: left}
	}
	return &backend.Error{Class: backend.ErrUnavailable, Words: "the service has not answered in time"}
}

// patienceLeft is how long what goes by force still waits. k.mu is held.
func (k *Controller) patienceLeft(r *record) time.Duration {
	return forceAfter - k.Clock().Sub(r.forced)
}

// givesUp reports whether what goes by force has failed for good, or waited long enough for its service.
func (k *Controller) givesUp(r *record, run *run, err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return run.force && (!hopeful(err) || k.patienceLeft(r) <= 0)
}
