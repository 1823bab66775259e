package homelab

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
)

// workersOfClass is how many calls of one server there are at a time. Every class has its own: one that is dead keeps nobody
// else's.
const workersOfClass = 8

// batchSize is how many records go out in one request, where the server takes that: fewer than it may take, since all of them
// have to be done within the time-out of one call.
const batchSize = 100

// A line is the queue of the slots of one class.
type line struct {
	class string
	queue workqueue.TypedDelayingInterface[slotKey]
	turn  sync.Mutex    // held while somebody takes slots
	under atomic.Int32  // how many turns are under way
	freed chan struct{} // one of them has ended
}

// Above as many turns of a class at a time there are full batches only: what comes meanwhile gathers, but for no longer than that.
const (
	underWay  = 2
	gatherFor = 50 * time.Millisecond
)

// wake has a slot looked at. k.mu is held.
func (k *Controller) wake(key slotKey) {
	if key.class != "" {
		k.line(key.class).queue.Add(key)
	}
}

// line returns the queue of a class, whose workers begin when all there is has been taken in. k.mu is held.
func (k *Controller) line(class string) *line {
	if l := k.lines[class]; l != nil {
		return l
	}
	l := &line{class: class, freed: make(chan struct{}, 1), queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[slotKey]{Clock: k.Clock})}
	k.lines[class] = l
	for range workersOfClass {
		k.workers.Go(func() { k.work(l) })
	}
	return l
}

func (k *Controller) work(l *line) {
	k.await()
	for {
		keys := l.take(k.most(l.class))
		if len(keys) == 0 {
			return
		}
		switch {
		case k.ctx.Err() != nil:
		case k.Leads != nil && !k.Leads():
			for _, key := range keys {
				l.queue.AddAfter(key, time.Second)
			}
		default:
			k.turn(l, keys)
			k.Numbers.waiting(l.class, l.queue.Len())
		}
		for _, key := range keys {
			l.queue.Done(key)
		}
		l.under.Add(-1)
		select {
		case l.freed <- struct{}{}:
		default:
		}
	}
}

// most is how many slots of a class one worker takes at once: as many as the server takes in one request.
func (k *Controller) most(class string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.classes[class]; c != nil && c.batch {
		return cmp.Or(c.fewer, batchSize)
	}
	return 1
}

// take waits for a slot, and takes those that wait beside it; none: the queue has ended.
func (l *line) take(most int) []slotKey {
	l.turn.Lock()
	defer l.turn.Unlock()
	key, end := l.queue.Get()
	if end {
		return nil
	}
	for late := time.After(gatherFor); most > 1 && l.under.Load() >= underWay && l.queue.Len() < most-1; {
		select {
		case <-l.freed:
			continue
		case <-late:
		}
		break
	}
	l.under.Add(1)
	keys := []slotKey{key}
	for len(keys) < most && l.queue.Len() > 0 { // nobody else takes any now
		if key, end = l.queue.Get(); end {
			break
		}
		keys = append(keys, key)
	}
	return keys
}

// A job is a call that is to be made for a slot.
type job struct {
	slot *slot
	step step
}

// turn does the next step about slots.
func (k *Controller) turn(l *line, keys []slotKey) {
	ctx, cancel := k.lingering()
	defer cancel()
	var jobs []job
	var writing sync.WaitGroup
	room := make(chan struct{}, 16)
	for _, key := range keys {
		s, do := k.decide(l, key)
		switch {
		case do.prepare != nil:
			room <- struct{}{}
			writing.Go(func() {
				k.note(ctx, l, key, do)
				<-room
			})
		case do.upsert != nil || do.remove != nil:
			jobs = append(jobs, job{s, do})
		}
	}
	writing.Wait()
	k.mu.Lock()
	c := k.classes[l.class]
	k.mu.Unlock()
	if c != nil {
		k.deliver(ctx, c, jobs)
	}
}

// decide finds the next step about a slot, and does what needs no call.
func (k *Controller) decide(l *line, key slotKey) (*slot, step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.slots[key]
	if s == nil {
		return nil, step{}
	}
	do := k.next(s)
	k.tellSlot(s)
	s.rest(k, do)
	switch {
	case do.upsert != nil:
		k.hold(do.upsert)
		s.last, s.confirmed = latest(s), ""
		s.changes++
	case do.after > 0:
		l.queue.AddAfter(key, do.after)
	case len(do.remove) == 0 && len(do.free) > 0:
		k.forget(s, do.free)
		k.wake(key)
	}
	return s, do
}

// note writes down what is going to be sent, and then has the slot looked at again.
func (k *Controller) note(ctx context.Context, l *line, key slotKey, do step) {
	var err error
	if do.place == nil {
		err = k.disclaim(ctx, do.prepare)
	} else {
		err = k.prepare(ctx, do.prepare, *do.place)
	}
	switch {
	case err == nil:
		l.queue.Add(key)
	case apierrors.IsConflict(err): // the cache lags behind
		l.queue.AddAfter(key, 50*time.Millisecond)
	case !apierrors.IsNotFound(err):
		k.Log.Warn("what is to be sent cannot be written down yet", "object", do.prepare.id.String(), "error", err)
		l.queue.AddAfter(key, time.Second)
	}
}

func latest(s *slot) string {
	if s.confirmed != "" {
		return s.confirmed
	}
	return s.last
}

// lingering is a context that outlives the term a little, so that what is under way is finished.
func (k *Controller) lingering() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.ctx))
	stop := context.AfterFunc(k.ctx, func() {
		timer := time.AfterFunc(linger, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}

// linger is shorter than the operator waits when it ends.
const linger = 8 * time.Second
