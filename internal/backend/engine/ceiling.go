package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// A CeilingStore keeps, durably and before anything is served above it, the highest serial that a zone may have used.
// A later run starts above what was stored (FeedConfig.Ceiling). Raise returns when it is stored; it may be called for
// many zones at the same time, but for one zone one at a time.
type CeilingStore interface {
	Raise(ctx context.Context, feed string, ceiling uint32) error
}

// Overtaken is the error of a CeilingStore that another run has put a later ceiling into: it may have used all serials
// up to that one. It is of the class ErrConflict.
type Overtaken struct {
	Ceiling uint32
}

// Error says how far the other run came.
func (o *Overtaken) Error() string {
	return fmt.Sprintf("another operator used serials up to %d", o.Ceiling)
}

// Unwrap returns the class.
func (o *Overtaken) Unwrap() error { return backend.ErrConflict }

// Mint returns the label of the wanted content and makes one if there is none: for zones that no target takes, and so
// nobody sends. It may write a ceiling.
func (f *Feed) Mint(ctx context.Context) (Label, error) {
	in, unlock := f.lock()
	id := in.wantID
	unlock()
	if id == "" {
		return Label{}, fmt.Errorf("labelling zone %s: nothing was published", f.zone)
	}
	if _, err := f.name(ctx, id, 0); err != nil {
		return Label{}, err
	}
	label, _ := f.Label()
	return label, nil
}

// name returns the serial under which a target that is at serial above (0: none) gets content id: its label, made if
// need be. Where that does not come after above it returns a new serial, to which the label moves once the target has
// it (named). A content that is not wanted any more gets a serial of its own. The serial comes after above, except
// where three targets' serials are so far apart that no serial comes after all.
func (f *Feed) name(ctx context.Context, id string, above uint32) (uint32, error) {
	return f.take(ctx, func(f *feed) (uint32, bool) {
		if id != "" && id == f.label.ID && (above == 0 || rr.SerialLess(above, f.label.Serial)) {
			return f.label.Serial, true
		}
		return 0, false
	}, func(f *feed, serial uint32) {
		if id != "" && id != f.label.ID && id == f.wantID {
			f.label = Label{Serial: serial, Seq: f.seq, ID: id}
		}
	})
}

// named notes that a target has got content id under a serial that name returned.
func (f *feed) named(id string, serial uint32) {
	if id != "" && id == f.label.ID && rr.SerialLess(f.label.Serial, serial) {
		f.relabel(serial)
	}
}

// fresh returns a serial that stands for nothing yet: for a state between two contents.
func (f *Feed) fresh(ctx context.Context) (uint32, error) {
	return f.take(ctx, func(*feed) (uint32, bool) { return 0, false }, func(*feed, uint32) {})
}

// take returns what known says, else the next serial under the ceiling, after telling use of it. It blocks only while a
// ceiling is being stored.
func (f *Feed) take(ctx context.Context, known func(*feed) (uint32, bool), use func(*feed, uint32)) (uint32, error) {
	for {
		in, unlock := f.lock()
		serial, stored, err := in.take(known, use)
		unlock()
		if stored == nil {
			return serial, err
		}
		if err := stored(ctx); err != nil {
			return 0, err
		}
	}
}

// take returns a serial, or what waits for the ceiling that has to be stored before there is one.
func (f *feed) take(known func(*feed) (uint32, bool), use func(*feed, uint32)) (uint32, func(context.Context) error,
	error) {
	serial, labelled := known(f)
	if !labelled {
		serial = rr.NextSerial(rr.LaterSerial(f.last, f.given.last), f.scheduler.now())
	}
	covered := f.covers(serial)
	switch {
	case covered && labelled:
		return serial, nil, nil
	case f.scheduler.stopped:
		return 0, nil, errStopped
	case covered:
		f.last, f.given.last = serial, serial
		use(f, serial)
		if f.raising == nil && f.ceiling-serial < f.step/2 {
			f.startRaise(serial)
		}
		return serial, nil, nil
	}
	return 0, f.raise(serial), nil
}

// covers reports whether the stored ceiling tells a later run of a serial.
func (f *feed) covers(serial uint32) bool { return f.ceiling != 0 && !rr.SerialLess(f.ceiling, serial) }

// A raise is a ceiling that is being stored.
type raise struct {
	done chan struct{} // closed when it is, or is not to be
	err  error         // then: why it was not
}

// raise has a ceiling above serial stored, if none is on its way, and returns what waits for it.
func (f *feed) raise(serial uint32) func(context.Context) error {
	starts, zone := f.raising == nil, f.of.zone
	if starts {
		f.startRaise(serial)
	}
	r := f.raising
	return func(ctx context.Context) error {
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("raising the serial ceiling of zone %s: %w", zone, ctx.Err())
		}
		if starts {
			return r.err
		}
		return nil
	}
}

// startRaise stores a ceiling above serial in the background.
func (f *feed) startRaise(serial uint32) {
	e, of, now := f.scheduler.engine, f.of, f.scheduler.now()
	step := stepAfter(f.step, now.Sub(f.raised))
	ceiling, r := max(serial+step, 1), &raise{done: make(chan struct{})}
	f.raising = r
	e.background.Go(func() {
		call, cancel := context.WithTimeout(e.ctx, e.cfg.Timeout)
		defer cancel()
		err := e.cfg.Ceilings.Raise(call, of.id, ceiling)
		e.cfg.Metrics.Raised(backend.Class(err))
		in, unlock := of.lock()
		defer unlock()
		r.err = in.endRaise(ceiling, step, now, err)
		close(r.done)
	})
}

// endRaise notes that a ceiling was stored, or was not: that does not make the step longer.
func (f *feed) endRaise(ceiling, step uint32, began time.Time, err error) error {
	f.raising = nil
	if err == nil {
		f.ceiling, f.step, f.raised = ceiling, step, began
		return nil
	}
	if other, ok := errors.AsType[*Overtaken](err); ok {
		f.observe(other.Ceiling)
	}
	return fmt.Errorf("raising the serial ceiling of zone %s to %d: %w", f.of.zone, ceiling, err)
}

// farthest is the largest step that a serial can take at once (RFC 1982 §3.1).
const farthest = 1<<31 - 1

// The steps by which a ceiling is raised. A zone that uses up a step quickly gets longer ones, so that writing ceilings
// stays rare under load; a crash skips what is left of one.
const (
	shortestStep = 16
	longestStep  = 4096
	quickly      = 10 * time.Second
)

// stepAfter returns the next step, the last one having lasted for d.
func stepAfter(step uint32, d time.Duration) uint32 {
	if d < quickly {
		return min(max(step*2, shortestStep), longestStep)
	}
	return max(step/2, shortestStep)
}
