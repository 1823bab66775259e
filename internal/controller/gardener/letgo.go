package gardener

import (
	"errors"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
)

// suspend has a set that is on its way not be sent while nothing is to be done.
func (k *Controller) suspend(r *record) {
	s, unlock := k.state.Lock()
	defer unlock()
	if r.isPending() {
		s.drop(r)
	}
}

// letGo leaves what a record has where it is, and waits for what is being sent right now: what says that nothing is
// done any more has to be true. What turns out to be there although it never was is removed.
func (k *Controller) letGo(r *record, run *run) error {
	s, unlock := k.state.Lock()
	defer unlock()
	h, later := r.holding, &controller.Later{After: sendingPause}
	if h != nil && run.step == Forget && k.Engine.Sending(h.at.key, h.at.feed, h.key) {
		return later // the answer says whether there is something
	}
	if h != nil {
		run.left = h.at
		s.drop(r)
	}
	sending := run.left != nil && k.Engine.Sending(run.left.key, run.left.feed, r.key)
	r.made = r.made || sending
	switch {
	case run.step == Forget && r.made:
		run.step = Nothing // it is decided anew
		return later
	case sending:
		return later
	}
	return nil
}

// hurried bounds the waiting of what goes by force.
func (k *Controller) hurried(r *record, run *run, err error) error {
	if !run.force || !errors.Is(err, errWaiting) {
		return err
	}
	s, unlock := k.state.Lock()
	defer unlock()
	return s.patient(r)
}

// patient waits for a service until what goes by force has waited long enough.
func (s *state) patient(r *record) error {
	if left := s.patienceLeft(r); left > 0 {
		return &controller.Later{After: left}
	}
	return &backend.Error{Class: backend.ErrUnavailable, Words: "the service has not answered in time"}
}

// patienceLeft is how long what goes by force still waits.
func (s *state) patienceLeft(r *record) time.Duration {
	return forceAfter - s.k.Clock().Sub(r.forced)
}

// givesUp reports whether what goes by force has failed for good, or waited long enough for its service.
func (k *Controller) givesUp(r *record, run *run, err error) bool {
	s, unlock := k.state.Lock()
	defer unlock()
	return run.force && (!hopeful(err) || s.patienceLeft(r) <= 0)
}
