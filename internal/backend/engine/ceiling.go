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
	return fmt.Sprintf("another operator has used serials up to %d", o.Ceiling)
}

// Unwrap returns the class.
func (o *Overtaken) Unwrap() error { return backend.ErrConflict }

// Mint returns the label of the wanted content and makes one if there is none: for zones that no target takes, and so
// nobody sends. It may write a ceiling.
func (f *Feed) Mint(ctx context.Context) (Label, error) {
	e := f.engine
	e.mu.Lock()
	id := f.wantID
	e.mu.Unlock()
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
	return f.take(ctx, func() (uint32, bool) {
		if id != "" && id == f.label.ID && (above == 0 || rr.SerialLess(above, f.label.Serial)) {
			return f.label.Serial, true
		}
		return 0, false
	}, func(serial uint32) {
		if id != "" && id != f.label.ID && id == f.wantID {
			f.label = Label{Serial: serial, Seq: f.seq, ID: id}
		}
	})
}

// named notes that a target has got content id under a serial that name returned. Engine.mu is held.
func (f *Feed) named(id string, serial uint32) {
	if id != "" && id == f.label.ID && rr.SerialLess(f.label.Serial, serial) {
		f.relabel(serial)
	}
}

// fresh returns a serial that stands for nothing yet: for a state between two contents.
func (f *Feed) fresh(ctx context.Context) (uint32, error) {
	return f.take(ctx, func() (uint32, bool) { return 0, false }, func(uint32) {})
}

// take returns what known says, else the next serial under the ceiling, after telling use of it. It blocks only while a
// ceiling is being stored.
func (f *Feed) take(ctx context.Context, known func() (uint32, bool), use func(uint32)) (uint32, error) {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		serial, labelled := known()
		if !labelled {
			serial = rr.NextSerial(rr.LaterSerial(f.last, f.given.last), e.cfg.Clock.Now())
		}
		covered := f.ceiling != 0 && !rr.SerialLess(f.ceiling, serial)
		switch {
		case covered && labelled:
			return serial, nil
		case e.stopped:
			return 0, errStopped
		case covered:
			f.last, f.given.last = serial, serial
			use(serial)
			if f.raising == nil && f.ceiling-serial < f.step/2 {
				f.startRaise(serial)
			}
			return serial, nil
		}
		if err := f.awaitRaise(ctx, serial); err != nil {
			return 0, err
		}
	}
}

// awaitRaise stores a ceiling above serial, or waits for the one on its way. Engine.mu is held, but not meanwhile.
func (f *Feed) awaitRaise(ctx context.Context, serial uint32) error {
	e := f.engine
	var result chan error
	if f.raising == nil {
		result = f.startRaise(serial)
	}
	done := f.raising
	e.mu.Unlock()
	defer e.mu.Lock()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("raising the serial ceiling of zone %s: %w", f.zone, ctx.Err())
	}
	if result != nil {
		return <-result
	}
	return nil
}

// startRaise stores a ceiling above serial in the background. One that was not stored does not make the step longer.
// Engine.mu is held.
func (f *Feed) startRaise(serial uint32) chan error {
	e := f.engine
	now := e.cfg.Clock.Now()
	step := stepAfter(f.step, now.Sub(f.raised))
	ceiling, done, result := max(serial+step, 1), make(chan struct{}), make(chan error, 1)
	f.raising = done
	e.background.Go(func() {
		err := e.cfg.Ceilings.Raise(e.ctx, f.id, ceiling)
		e.cfg.Metrics.Raised(backend.Class(err))
		e.mu.Lock()
		defer e.mu.Unlock()
		f.raising = nil
		if err == nil {
			f.ceiling, f.step, f.raised = ceiling, step, now
		} else {
			if other, ok := errors.AsType[*Overtaken](err); ok {
				f.observe(other.Ceiling)
			}
			err = fmt.Errorf("raising the serial ceiling of zone %s to %d: %w", f.zone, ceiling, err)
		}
		result <- err
		close(done)
	})
	return result
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
