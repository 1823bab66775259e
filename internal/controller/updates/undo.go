package updates

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/update"
	"github.com/zonefold/zonefold/internal/zone"
)

// undo takes back what was written, for a reason that it returns. It goes on after the answer if it has to.
func (p *plan) undo(ctx context.Context, done []*step, why error) error {
	slices.Reverse(done)
	var ids []zone.ID
	for _, s := range done {
		ids = append(ids, s.id())
	}
	watch := p.Core.Watch(ids...)
	p.held.share()
	finished := p.undoings.begin(done, judged(watch, p.back), func() {
		watch.End()
		p.held.free()
	})
	select {
	case err := <-finished:
		if err != nil {
			return errors.Join(fmt.Errorf("what was written could not be undone: %w", err), why)
		}
		return why
	case <-ctx.Done():
		return errors.Join(errors.New("what was written is still being undone"), why)
	}
}

// judged has a step count as undone once the World has judged what there is then: who gets the names next would find
// what is gone. Of what came and went at once the World may never hear.
func judged(w *core.Watch,
	back func(context.Context, *step) (*core.Version, error)) func(context.Context, *step) error {
	return func(ctx context.Context, s *step) error {
		version, err := back(ctx, s)
		if err == nil && version != nil {
			_ = w.Settled(ctx, map[zone.ID]core.Version{s.id(): *version})
		}
		return err
	}
}

// back undoes one step. It returns the version that the World is to see, nil if there is no other one than before.
func (p *plan) back(ctx context.Context, s *step) (*core.Version, error) {
	back := &step{before: s.after, after: s.before}
	if back.before == nil { // it was deleted, and comes again
		again := s.before.DeepCopy()
		again.ObjectMeta = metav1.ObjectMeta{Namespace: again.Namespace, Name: again.Name, Labels: again.Labels,
			Annotations: again.Annotations}
		again.Status = v1alpha1.RecordStatus{}
		back.after = again
	}
	version, err := p.step(ctx, back)
	if back.before == nil && apierrors.IsAlreadyExists(err) { // nobody has answered that it is there
		return nil, nil
	}
	return version, err
}

// undoings are the updates that are being undone, in one term of leadership.
type undoings struct {
	clock backend.Clock
	log   *slog.Logger
	term  context.Context
	end   context.CancelFunc

	state guarded.Value[undoing]
	all   sync.WaitGroup
}

// undoing is how many updates are being undone.
type undoing struct {
	now  int
	over bool // none begins any more
}

// maxUndoings is how many updates may be undone at a time. No other update begins while there are as many: it would
// hardly end better.
const maxUndoings = 16

// pauses are those before what could not be undone is tried again.
var pauses = backend.Doubled{First: 250 * time.Millisecond, Most: 30 * time.Second}

func newUndoings(term context.Context, clock backend.Clock, log *slog.Logger) *undoings {
	u := &undoings{clock: clock, log: log}
	u.term, u.end = context.WithCancel(term)
	return u
}

// room returns why no update may begin, nil if one may.
func (u *undoings) room() error {
	st, unlock := u.state.Lock()
	defer unlock()
	if st.now >= maxUndoings {
		return fmt.Errorf("%d updates that failed are still being undone; try again later", st.now)
	}
	return nil
}

// begin has a function undo steps, and again those that it fails at. What comes of it is sent when none is left, or the
// term is over; before that, then is called.
func (u *undoings) begin(steps []*step, back func(context.Context, *step) error, then func()) <-chan error {
	finished := make(chan error, 1)
	st, unlock := u.state.Lock()
	defer unlock()
	if st.over {
		then()
		finished <- errors.New("another operator may lead now")
		return finished
	}
	st.now++
	u.all.Go(func() {
		err := u.run(steps, back)
		st, unlock := u.state.Lock()
		st.now--
		unlock()
		if err != nil {
			u.log.Warn("a part of an update that failed stays", "error", err)
		}
		then()
		finished <- err
	})
	return finished
}

// wait ends what is under way, and waits for that. None begins afterwards.
func (u *undoings) wait() {
	st, unlock := u.state.Lock()
	st.over = true
	unlock()
	u.end()
	u.all.Wait()
}

// run returns why steps stay as they are.
func (u *undoings) run(steps []*step, back func(context.Context, *step) error) (lost error) {
	for tries := 1; ; tries++ {
		failed, why := u.pass(steps, back, &lost)
		if steps = failed; len(steps) == 0 {
			return lost
		}
		u.log.Warn("an update that failed cannot be undone yet", "records", len(steps), "error", why)
		if backend.Wait(u.term, u.clock, pauses.After(tries)) != nil {
			return errors.Join(lost, fmt.Errorf("%d Records: %w", len(steps), why))
		}
	}
}

// pass undoes steps until one fails, and returns those that are left, with those that have failed at the end. What can
// never be undone it adds to lost.
func (u *undoings) pass(steps []*step, back func(context.Context, *step) error, lost *error) (left []*step, why error) {
	var mu sync.Mutex
	var failed []*step
	done := map[*step]bool{}
	why = each(steps, func(s *step) error {
		ctx, cancel := context.WithTimeout(u.term, patience)
		defer cancel()
		err := back(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		done[s] = true
		if err != nil && hopeless(err) {
			*lost = errors.Join(*lost, err)
			return nil
		}
		if err != nil {
			failed = append(failed, s)
		}
		return err
	})
	left = slices.DeleteFunc(slices.Clone(steps), func(s *step) bool { return done[s] })
	return append(left, failed...), why
}

// hopeless reports whether a step can never be undone: its Record is another one or gone, or may not be as it was.
func hopeless(err error) bool {
	return errors.Is(err, errReplaced) || apierrors.IsNotFound(err) || errors.As(denied(err), new(*update.Refusal))
}
