package engine

import (
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Standing is what the engine knows of a target beyond its reports: each attempt changes it, and nobody is told.
type Standing struct {
	Heard    time.Time // when the server answered last, be it that it refuses; zero: it never did
	Since    time.Time // since when each attempt has failed, or none has; zero: there was none
	Failures int       // in a row, up to now
	Running  bool      // it is being worked at
	Next     time.Time // when it is worked at again unless something changes before; zero: nothing is due

	// Of the newest change that the server has confirmed: when it was published, and when it was confirmed. Zero: there
	// was none since the worker began.
	Published, Confirmed time.Time

	known   bool
	have    rr.Sets
	written rr.Sets // the ledger, when a worker ran last
	ran     bool    // one has
	seq     uint64  // confirmed
}

// Ledger returns the sets that zonefold has written where foreign ones stay, or else what somebody else believes.
func (s Standing) Ledger(otherwise rr.Sets) rr.Sets {
	if !s.ran {
		return otherwise
	}
	return s.written
}

// Has returns what the server held of a set when it was worked at last, as far as that was read, or confirmed; false:
// that is not known.
func (s Standing) Has(key rr.Key) (rr.Set, bool) {
	if !s.known {
		return rr.Set{}, false
	}
	set, _ := s.have.Get(key)
	return set, true
}

// Standing says how a target stands that has a zone as a whole; false: nobody is attached to it.
func (e *Engine) Standing(key backend.TargetKey) (Standing, bool) {
	return e.standing(spot{TargetKey: key})
}

// StandingOfSets says how a target stands that has the sets of an overlay; false: nobody is attached to it.
func (e *Engine) StandingOfSets(key backend.TargetKey, of *Feed) (Standing, bool) {
	return e.standing(of.at(key))
}

func (e *Engine) standing(at spot) (Standing, bool) {
	scheduler, unlock := e.scheduler.Lock()
	defer unlock()
	t := scheduler.targets[at]
	if t == nil {
		return Standing{}, false
	}
	s := t.standing
	s.Failures, s.Running, s.Next = t.failures, t.running || t.queued, t.delay.due
	if held := t.server.held; t.queued && e.cfg.Clock.Now().Before(held) {
		s.Running, s.Next = false, held
	}
	return s, true
}

// note keeps how a run went.
func (t *target) note(of *state, j *job, err error, now time.Time) {
	s := &t.standing
	if j.asked && backend.Class(err) != backend.ErrUnavailable {
		s.Heard = now
	}
	if failed := err != nil; failed != (t.failures > 0) || s.Since.IsZero() && j.asked {
		s.Since = now
	}
	if j.seq != 0 && of.seq == j.seq && s.seq != j.seq {
		if s.seq != 0 || j.changed > 0 { // else it was there already
			s.Published, s.Confirmed = j.at, now
		}
		s.seq = j.seq
	}
	s.written, s.ran = of.written, true
	s.known, s.have = of.known && !t.overlay() && j.limits.Read != backend.ReadNone, of.have
}
