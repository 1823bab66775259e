package homelab

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
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
func (k *Controller) turn(class string, q slotQueue, keys []slotKey) {
	defer func() {
		k.Numbers.waiting(class, q.Len())
		for _, key := range keys {
			q.Done(key)
		}
	}()
	if k.ctx.Err() != nil {
		return
	}
	if !k.Leads() {
		for _, key := range keys {
			q.AddAfter(key, lookAgain)
		}
		return
	}
	ctx := k.lingering
	may := k.usable(ctx, class)
	var jobs []job
	var writing sync.WaitGroup
	room := make(chan struct{}, 16)
	for _, key := range keys {
		s, do := k.decide(q, key, may)
		switch {
		case do.prepare != nil:
			room <- struct{}{}
			writing.Go(func() {
				k.writeDown(ctx, q, key, do)
				<-room
			})
		case do.calls():
			jobs = append(jobs, job{s, do})
		}
	}
	writing.Wait()
	m, unlock := k.model.Lock()
	c := m.classes[class]
	unlock()
	if c == nil {
		return
	}
	k.deliver(ctx, c, jobs)
	var mended []slotKey
	m, unlock = k.model.Lock()
	for _, j := range jobs {
		m.returned(c, j.slot.key)
		if j.slot.isMended() {
			mended = append(mended, j.slot.key)
		}
	}
	unlock()
	for _, key := range mended[:min(len(mended), mostLooks)] {
		if !k.look(c, key, true) {
			return
		}
	}
}

// usable is why nothing can be sent for a revision of a class; without an error something can.
type usable struct {
	revision string
	err      error
}

func (k *Controller) usable(ctx context.Context, class string) (out usable) {
	m, unlock := k.model.Lock()
	c := m.classes[class]
	unlock()
	if c != nil {
		out.revision, out.err = c.server.Usable(ctx)
	}
	return out
}

// decide finds the next step about a slot, and does what needs no call.
func (k *Controller) decide(q slotQueue, key slotKey, may usable) (*slot, step) {
	m, unlock := k.model.Lock()
	defer unlock()
	s, c := m.slots[key], m.classes[key.class]
	if s == nil {
		m.resume(c)
		return nil, step{}
	}
	do := m.next(s)
	m.enqueueStatuses(s)
	if do.begins(s) && m.barred(q, s, do.owner(), may) {
		m.resume(c)
		return s, step{}
	}
	waits := do.calls() && !c.pause.lets(key, k.Clock.Now())
	if waits || !do.calls() {
		m.resume(c)
	}
	if waits {
		return s, step{}
	}
	s.rest(k, do)
	switch {
	case do.upsert != nil:
		m.hold(do.upsert)
		s.doubt()
		s.changes++
	case do.adopt != nil:
		m.hold(do.adopt)
		s.last = do.adopt.hash
		m.has(s, do.adopt)
	case do.remove != nil: // if its answer is lost, nobody knows what is there
		s.doubt()
	case do.after > 0:
		q.AddAfter(key, do.after)
	case len(do.free) > 0:
		m.forget(s, do.free)
		m.wake(key)
	}
	return s, do
}

// barred reports whether nothing is to be begun in a slot, and notes why: what is written down for a record keeps it,
// and its class.
func (m *model) barred(q slotQueue, s *slot, r *record, may usable) bool {
	c := m.classes[s.key.class]
	switch {
	case c.turnsAway(r):
		m.failed(s, servers.Ending(c.name), false)
	case may.err == nil:
		return false
	case c.revision == may.revision:
		m.failed(s, may.err, false)
	default:
		q.Add(s.key)
	}
	return true
}

// writeDown stores what is going to be sent, and then has the slot looked at again.
func (k *Controller) writeDown(ctx context.Context, q slotQueue, key slotKey, do step) {
	var err error
	var contested *objects.Contested
	if do.place == nil {
		err = k.disclaim(ctx, do.prepare)
	} else {
		err = k.prepare(ctx, do.prepare, *do.place)
	}
	switch {
	case err == nil:
		q.Add(key)
	case apierrors.IsConflict(err), errors.As(err, new(*objects.Behind)): // the cache lags behind
		q.AddAfter(key, 50*time.Millisecond)
	case errors.As(err, &contested):
		q.AddAfter(key, contested.After)
	case errors.Is(err, objects.ErrNotLeading):
		q.AddAfter(key, lookAgain)
	case !apierrors.IsNotFound(err):
		k.Log.Warn("the next step cannot be stored yet", "object", do.prepare.id.String(), "error", err)
		q.AddAfter(key, k.again(err))
	}
}

// again is how long to wait before what was not stored is tried again.
func (k *Controller) again(err error) time.Duration {
	if objects.Refused(err) {
		return k.Retry.MaxDelay
	}
	return time.Second
}

// linger is how long what is under way has when the term ends: less than the operator waits.
const linger = 8 * time.Second
