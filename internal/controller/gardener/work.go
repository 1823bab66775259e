package gardener

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// errWaiting says that an operation goes on when somebody has answered: an account, a hosted zone, or another record.
var errWaiting = errors.New("waiting")

// Times.
const (
	patience   = 5 * time.Second  // how long a service that has failed before is given, before that counts again
	forceAfter = 30 * time.Second // how long what goes by force waits for a service that fails, or says nothing

	sendingPause = 200 * time.Millisecond // between looks at whether something is still being sent
)

// work does what can be done about a DNSRecord now.
func (k *Controller) work(ctx context.Context, id zone.ID) error {
	if k.Leads != nil && !k.Leads() {
		return &controller.Later{After: time.Second}
	}
	s, unlock := k.state.Lock()
	r := s.records[id]
	if r == nil {
		unlock()
		return nil
	}
	switch what := r.request; {
	case what != none:
		r.request, r.tried = none, false
		s.renew(r, what == asked)
	case r.run.failing():
		s.retry(r)
	}
	run := r.run
	unlock()
	switch {
	case run == nil:
		return nil
	case run.step == search:
		return k.found(r, run, k.locate(ctx, r, run))
	}
	return k.conclude(ctx, r, run, k.advance(ctx, r, run))
}

// conclude decides what follows from how far a run has come.
func (k *Controller) conclude(ctx context.Context, r *record, run *run, err error) error {
	var later *controller.Later
	switch {
	case err == nil:
		s, unlock := k.state.Lock()
		defer unlock()
		if r.run == run {
			s.end(r)
		}
		return nil
	case errors.As(err, &later):
		return later
	case errors.Is(err, errWaiting):
		return nil
	}
	var api *apiError
	if errors.As(err, &api) {
		if api.own && apierrors.IsNotFound(err) { // the informer says the rest
			return nil
		}
		return fmt.Errorf("%s: %w", r.id, err) // the Writer tries again
	}
	return k.trouble(ctx, r, run, err)
}

// An apiError is about the cluster, and not about the DNS service: nobody is told, for telling is what fails.
type apiError struct {
	error
	own bool // it is about the DNSRecord, and not about what else has to be there
}

// Unwrap returns the cause.
func (e *apiError) Unwrap() error { return e.error }

// advance takes a run as far as it goes. nil: it is over.
func (k *Controller) advance(ctx context.Context, r *record, run *run) error {
	if run.step == Nothing {
		over, err := k.begin(ctx, r, run)
		if over || err != nil {
			return err
		}
	}
	if !run.confirmed {
		if err := k.act(ctx, r, run); err != nil {
			return err
		}
		_, unlock := k.state.Lock()
		run.confirmed = true
		run.arrive(k.Clock(), nil)
		unlock()
	}
	return k.finish(ctx, r, run)
}

// begin decides what is to be done and says so. true: nothing is.
func (k *Controller) begin(ctx context.Context, r *record, run *run) (bool, error) {
	o := k.current(r)
	step, kind := Decide(o)
	run.doubtful = false // what was may be known by now
	if step == Forget {
		step, run.doubtful = k.forgets(r)
	}
	reconcile := o.Annotations[v1alpha1.OperationAnnotation] == v1alpha1.OperationReconcile
	if step == Nothing && !reconcile || step == Wait || !run.taken && !k.Trigger.due(o) {
		if step == Wait {
			k.suspend(r)
		}
		return true, nil
	}
	shoot, err := shootOf(ctx, k.Client, k.Live, o)
	if k.tellLost(r, kind, shoot.Lost); err != nil {
		return false, &apiError{error: err}
	}
	if shoot.Failed {
		k.suspend(r)
		return true, nil
	}
	if step != Nothing && step != Forget && !run.doubtful {
		run.asked = run.asked || reconcile
		if err := k.announce(ctx, r, run, kind); err != nil {
			return false, err
		}
	}
	now := k.current(r)
	if !samePlea(o, now) { // something else is wanted by now, which must not be taken off
		return k.begin(ctx, r, run)
	}
	if err := k.take(ctx, r, now, reconcile, step == Put); err != nil {
		return false, err
	}
	run.taken = run.taken || reconcile
	if step == Nothing {
		return true, nil
	}
	o = k.current(r)
	s, unlock := k.state.Lock()
	defer unlock()
	run.step, run.kind, run.force, run.object = step, kind, shoot.Forced && step == Remove, o
	s.starts(r, run)
	return false, nil
}

// forgets decides what is done about a set that never was at its service, as the status says. That was written before
// an attempt whose end the status could not say any more, of this process or of the one before it. What nobody knows is
// doubtful: it is removed as far as that can be done at once.
func (k *Controller) forgets(r *record) (step Step, doubtful bool) {
	_, unlock := k.state.Lock()
	defer unlock()
	if r.made || !r.told {
		return Remove, !r.made
	}
	return Forget, false
}

// mayBeThere reports whether this process may have put a set.
func (k *Controller) mayBeThere(r *record) bool {
	_, unlock := k.state.Lock()
	defer unlock()
	return r.made
}

// announce says that an operation begins, unless that is what another attempt at it has said. It comes before the wish
// for it is taken off the object: whoever takes over in between, or afterwards, finds one of both.
func (k *Controller) announce(ctx context.Context, r *record, run *run, kind v1alpha1.OperationType) error {
	last := k.current(r).Status.LastOperation
	if !run.asked && last != nil && last.Type == kind && last.State != v1alpha1.StateSucceeded {
		return nil
	}
	if err := k.changeStatus(ctx, r, processing(k.current(r).Status, kind, k.Clock())); err != nil {
		return err
	}
	run.asked = false // it has been answered: another attempt is no other operation
	return nil
}

// act has the service do what a run is for. nil: it has.
func (k *Controller) act(ctx context.Context, r *record, run *run) error {
	if run.step == Leave || run.step == Forget {
		return k.letGo(r, run)
	}
	if k.sent(run) {
		return k.outcome(r, run)
	}
	if err := k.deliver(ctx, r, run); err != nil {
		return k.hurried(r, run, err)
	}
	if !k.sent(run) { // there is nothing that could lose it
		return nil
	}
	return k.outcome(r, run)
}

func (k *Controller) sent(run *run) bool {
	_, unlock := k.state.Lock()
	defer unlock()
	return run.at != nil
}

// finish says that an operation has succeeded. What was removed for doubt alone is as if it had never been there.
func (k *Controller) finish(ctx context.Context, r *record, run *run) error {
	if run.step != Forget && !run.doubtful {
		if err := k.reportSuccess(ctx, r, run); err != nil {
			return err
		}
	}
	if run.step != Put {
		s, unlock := k.state.Lock()
		s.drop(r)
		unlock()
		var left []string
		if run.step != Leave {
			left = without(k.current(r).Finalizers, v1alpha1.Finalizer)
		}
		if err := k.setFinalizers(ctx, r, left); err != nil {
			return err
		}
	}
	if run.kind == v1alpha1.TypeRestore || run.kind == v1alpha1.TypeMigrate {
		return k.removeAnnotation(ctx, r, run.object)
	}
	return nil
}

// trouble says what went wrong, and when it is tried again.
func (k *Controller) trouble(ctx context.Context, r *record, run *run, err error) error {
	if k.givesUp(r, run, err) {
		k.Events.Eventf(run.object, nil, "Warning", "LeftBehind", "Delete", "%s", controller.Note(fmt.Sprintf(
			"%s %s may still be there: its deletion is forced, and %s.", run.object.Spec.Name, run.object.Spec.RecordType,
			strings.TrimSuffix(err.Error(), "."))))
		run.confirmed = true
		return k.conclude(ctx, r, run, k.finish(ctx, r, run))
	}
	s, unlock := k.state.Lock()
	if run.doubtful && run.step == Remove {
		run.step, run.doubtful = Forget, false
		unlock()
		return k.conclude(ctx, r, run, k.advance(ctx, r, run))
	}
	if run.failures++; run.failures == 1 {
		run.since = k.Clock()
	}
	run.failed = true
	if !hopeful(err) {
		run.arrive(k.Clock(), err)
	}
	pause := s.pause(r, run, err)
	renewed := r.run == run && s.secrets[r.secret] != run.secret && run.secret != ""
	if renewed {
		s.again(r)
	}
	waits := run.waits() && samePlea(run.object, r.object)
	run.next = time.Time{}
	if !waits || run.refused {
		run.next = k.Clock().Add(pause)
	}
	unlock()
	if renewed {
		k.writer.Enqueue(r.id)
		return nil
	}
	var told error
	if passing(err) {
		told = k.changeStatus(ctx, r, waiting(k.current(r).Status, run, err, k.Clock()))
	} else {
		told = k.reportFailure(ctx, r, run, err)
	}
	if told != nil {
		return k.conclude(ctx, r, run, told)
	}
	if waits && !run.refused {
		return nil // the engine tries again, and says when something has changed
	}
	return &controller.Later{After: pause}
}

func (k *Controller) current(r *record) *v1alpha1.DNSRecord {
	_, unlock := k.state.Lock()
	defer unlock()
	return r.object
}
