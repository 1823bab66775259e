package homelab

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

// A job is a call that is to be made for a slot.
type job struct {
	slot *slot
	step step
}

// mostLooks is how many of the slots of a turn are looked at when they were sent again: the others of the class wait.
// What is not looked at counts as put right until the next audit.
const mostLooks = 8

// turn does the next step about slots.
func (k *Controller) turn(l *classQueue, keys []slotKey) {
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
				k.writeDown(ctx, l, key, do)
				<-room
			})
		case do.upsert != nil || do.remove != nil:
			jobs = append(jobs, job{s, do})
		}
	}
	writing.Wait()
	m, unlock := k.model.Lock()
	c := m.classes[l.class]
	unlock()
	if c == nil {
		return
	}
	k.deliver(ctx, c, jobs)
	m, unlock = k.model.Lock()
	for _, j := range jobs {
		m.returned(c, j.slot.key)
	}
	unlock()
	looks := 0
	for _, j := range jobs {
		if !k.isMended(j.slot) {
			continue
		}
		if looks++; looks > mostLooks || !k.look(c, j.slot.key, true) {
			return
		}
	}
}

// decide finds the next step about a slot, and does what needs no call.
func (k *Controller) decide(l *classQueue, key slotKey) (*slot, step) {
	m, unlock := k.model.Lock()
	defer unlock()
	s, c := m.slots[key], m.classes[key.class]
	if s == nil {
		if c != nil {
			m.resume(c)
		}
		return nil, step{}
	}
	do := m.next(s)
	m.enqueueStatuses(s)
	calls := do.upsert != nil || do.remove != nil
	switch {
	case c == nil:
	case calls && !c.pause.lets(key, k.Clock.Now()):
		m.resume(c)
		return s, step{}
	case !calls:
		m.resume(c)
	}
	s.rest(k, do)
	switch {
	case do.upsert != nil:
		m.hold(do.upsert)
		s.last, s.confirmed = latest(s), ""
		s.changes++
	case do.adopt != nil:
		m.hold(do.adopt)
		s.last = do.adopt.hash
		m.has(s, do.adopt)
	case do.remove != nil: // if its answer is lost, nobody knows what is there
		s.last, s.confirmed = latest(s), ""
	case do.after > 0:
		l.queue.AddAfter(key, do.after)
	case len(do.remove) == 0 && len(do.free) > 0:
		m.forget(s, do.free)
		m.wake(key)
	}
	return s, do
}

// writeDown stores what is going to be sent, and then has the slot looked at again.
func (k *Controller) writeDown(ctx context.Context, l *classQueue, key slotKey, do step) {
	var err error
	if do.place == nil {
		err = k.disclaim(ctx, do.prepare)
	} else {
		err = k.prepare(ctx, do.prepare, *do.place)
	}
	switch {
	case err == nil:
		l.queue.Add(key)
	case apierrors.IsConflict(err), errors.As(err, new(*objects.Behind)): // the cache lags behind
		l.queue.AddAfter(key, 50*time.Millisecond)
	case errors.Is(err, objects.ErrNotLeading):
		l.queue.AddAfter(key, lookAgain)
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
