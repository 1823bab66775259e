package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Writer calls a function for objects that were enqueued, each at most once at a
// time. Namespaces take turns. DNS goes first: while objects are still changing it lets only a trickle
// through, so that the API server has time for what is being created.
type Writer struct {
	Write   func(ctx context.Context, id zone.ID) error
	Busy    func() bool // nil: never
	Workers int
	Log     *slog.Logger

	queue  workqueue.TypedRateLimitingInterface[zone.ID]
	failed guarded.Value[map[zone.ID]bool] // objects whose last write has failed, other than by a conflict
}

// trickle is how many objects a second a busy Writer writes: few, because every write
// takes the API server as long as creating a Record does.
const trickle = 2

// looks is how often a Writer looks whether a burst is over.
const looks = 75 * time.Millisecond

// NewWriter returns a Writer with an empty queue. The queue has no name: then it would
// keep times of every object in it, for metrics that say less than ours.
func NewWriter(workers int, log *slog.Logger, write func(context.Context, zone.ID) error) *Writer {
	return NewWriterBy(clock.RealClock{}, workers, log, write)
}

// NewWriterBy is NewWriter with a clock by which what is enqueued for later waits.
func NewWriterBy(c clock.WithTicker, workers int, log *slog.Logger,
	write func(context.Context, zone.ID) error) *Writer {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[zone.ID](50*time.Millisecond, 2*time.Minute)
	config := workqueue.TypedQueueConfig[zone.ID]{Queue: newFair()}
	delaying := workqueue.TypedDelayingQueueConfig[zone.ID]{Clock: c, Queue: workqueue.NewTypedWithConfig(config)}
	return &Writer{
		Write: write, Workers: workers, Log: log,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[zone.ID]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(delaying),
		}),
	}
}

// Enqueue asks for a write; it never blocks.
func (w *Writer) Enqueue(id zone.ID) { w.queue.Add(id) }

// EnqueueAfter asks for a write later.
func (w *Writer) EnqueueAfter(id zone.ID, d time.Duration) { w.queue.AddAfter(id, d) }

// Len returns how many objects wait.
func (w *Writer) Len() int { return w.queue.Len() }

// ShutDown ends a Writer that does not run: its queue has a goroutine from the beginning.
func (w *Writer) ShutDown() { w.queue.ShutDown() }

// Run writes until ctx ends; what is under way is finished.
func (w *Writer) Run(ctx context.Context) error {
	slow := rate.NewLimiter(trickle, 1)
	var workers sync.WaitGroup
	for range w.Workers {
		workers.Go(func() {
			for w.next(ctx, slow) {
			}
		})
	}
	<-ctx.Done()
	w.queue.ShutDown()
	workers.Wait()
	return nil
}

func (w *Writer) next(ctx context.Context, slow *rate.Limiter) bool {
	id, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(id)
	w.hold(ctx, slow)
	if ctx.Err() != nil {
		return true
	}
	err := w.Write(ctx, id)
	w.settle(id, err, ctx.Err() != nil)
	return true
}

// settle has an object be written again if its write asks for that; over: nobody writes any more.
func (w *Writer) settle(id zone.ID, err error, over bool) {
	var later *Later
	var behind *objects.Behind
	var contested *objects.Contested
	switch {
	case err == nil:
		w.fails(id, false)
		w.queue.Forget(id)
	case errors.As(err, &later):
		w.queue.AddAfter(id, later.After)
	case errors.As(err, &behind):
		behind.Then(func() { w.queue.Add(id) })
	case errors.As(err, &contested):
		w.queue.AddAfter(id, contested.After)
	case over:
	case errors.Is(err, objects.ErrNotLeading):
		w.queue.AddAfter(id, time.Second) // it may be the leader all the same
	default:
		// A conflict means that a newer object is on its way: nothing to tell. It also means that the API server is there:
		// what follows an outage does not wait for as long as that was.
		if !apierrors.IsConflict(err) {
			w.Log.Warn("an object cannot be brought up to date; the operator tries again", "object", id.String(), "error", err)
			w.fails(id, true)
		} else if w.fails(id, false) {
			w.queue.Forget(id)
		}
		w.queue.AddRateLimited(id)
	}
}

// fails notes whether the last write of an object has failed, and returns whether the one before had.
func (w *Writer) fails(id zone.ID, now bool) (before bool) {
	failed, unlock := w.failed.Lock()
	defer unlock()
	if *failed == nil {
		*failed = map[zone.ID]bool{}
	}
	before = (*failed)[id]
	if delete(*failed, id); now {
		(*failed)[id] = true
	}
	return before
}

// hold returns when it is this worker's turn in the trickle, or the burst is over. No
// turn is reserved: the workers that wait would use up theirs after the burst, too.
func (w *Writer) hold(ctx context.Context, slow *rate.Limiter) {
	if w.Busy == nil {
		return
	}
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for w.Busy() && !slow.Allow() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Later asks for another call after a while; it is no failure.
type Later struct {
	After time.Duration
	Err   error // what went wrong, for who calls; it is told elsewhere
}

// Error makes Later an error.
func (l *Later) Error() string { return "later" }
