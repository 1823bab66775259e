package homelab

import (
	"cmp"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/zonefold/zonefold/internal/controller"
)

// workersOfClass is how many calls of one server there are at a time. Every class has its own: one that is dead keeps
// nobody else's.
const workersOfClass = 8

// batchSize is how many records go out in one request, where the server takes that: fewer than it may take, since all
// of them have to be done within the time-out of one call.
const batchSize = 100

// A classQueue is the queue of the slots of a class that exists, with its workers.
type classQueue struct {
	class   string
	queue   workqueue.TypedDelayingInterface[slotKey]
	workers int             // that have not ended; guarded by Controller.mu
	turn    controller.Turn // held while somebody takes slots
	under   atomic.Int32    // how many turns are under way
	freed   chan struct{}   // one of them has ended
}

// Above as many turns of a class at a time there are full batches only: what comes meanwhile gathers, but for no longer
// than that.
const (
	underWay  = 2
	gatherFor = 50 * time.Millisecond
)

// wake has a slot looked at. Of a class that does not exist nothing is sent, and who is to leave something there need
// not wait.
func (m *model) wake(key slotKey) {
	if l := m.queueOf(key.class); l != nil {
		l.queue.Add(key)
	} else if s := m.slots[key]; s != nil {
		if do := orphaned(s); len(do.free) > 0 {
			m.forget(s, do.free)
		}
	}
}

// later has a slot looked at after a while.
func (m *model) later(key slotKey, after time.Duration) {
	if l := m.queueOf(key.class); l != nil {
		l.queue.AddAfter(key, after)
	}
}

// queueOf returns the queue of a class, whose workers begin when all there is has been taken in; nil: the class does
// not exist, or the term is over.
func (m *model) queueOf(class string) *classQueue {
	if l := m.queues[class]; l != nil {
		return l
	}
	if m.classes[class] == nil || m.k.ctx.Err() != nil {
		return nil
	}
	l := &classQueue{
		class: class, workers: workersOfClass, freed: make(chan struct{}, 1),
		queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[slotKey]{Clock: m.k.Clock}),
	}
	m.queues[class] = l
	for range workersOfClass {
		m.k.workers.Go(func() { m.k.work(l); m.k.leave(l) })
	}
	return l
}

// leave drops a queue with its last worker. A class that has come back meanwhile gets another one only now: one slot is
// in one hand.
func (k *Controller) leave(l *classQueue) {
	m, unlock := k.model.Lock()
	defer unlock()
	if l.workers--; l.workers == 0 {
		delete(m.queues, l.class)
		k.Numbers.left(l.class)
		m.wakeClass(l.class)
	}
}

func (k *Controller) work(l *classQueue) {
	k.await()
	for {
		keys := l.take(k.most(l.class))
		if len(keys) == 0 {
			return
		}
		switch {
		case k.ctx.Err() != nil:
		case !k.leads():
			for _, key := range keys {
				l.queue.AddAfter(key, lookAgain)
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
	m, unlock := k.model.Lock()
	defer unlock()
	if c := m.classes[class]; c != nil && c.batch {
		return cmp.Or(c.fewer, batchSize)
	}
	return 1
}

// take waits for a slot, and takes those that wait beside it; none: the queue has ended.
func (l *classQueue) take(most int) []slotKey {
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

// A pause is what a server has asked for in an answer about one record. It holds for all records of the class: what is
// due meanwhile waits here. When it is over one slot goes alone, and the others follow unless that one is put off
// again.
type pause struct {
	until time.Time // nothing is sent before; zero: there is none
	first slotKey   // it goes alone, to see; zero: none yet
	slots map[slotKey]struct{}
}

// lets reports whether something may be sent for a slot now. One that may not waits for [Controller.resume].
func (p *pause) lets(key slotKey, now time.Time) bool {
	switch {
	case p.until.IsZero() || p.first == key:
		return true
	case p.first == slotKey{} && !now.Before(p.until):
		p.first = key
		delete(p.slots, key)
		return true
	}
	if p.slots == nil {
		p.slots = map[slotKey]struct{}{}
	}
	p.slots[key] = struct{}{}
	return false
}

// end is no slot: it stands in the queue of a class for the end of its pause.
func (p *pause) end(class string) slotKey { return slotKey{class: class} }

// pause has a class wait, but never longer than a server waits that is asked for its health.
func (m *model) pause(c *class, after time.Duration) {
	after = min(after, m.k.Retry.Slow)
	if until := m.k.Clock.Now().Add(after); until.After(c.pause.until) {
		c.pause.until = until
		m.later(c.pause.end(c.name), after)
	}
}

// resume has one of the slots go that wait, if the pause is over.
func (m *model) resume(c *class) {
	if c.pause.until.IsZero() || c.pause.first != (slotKey{}) {
		return
	}
	if left := c.pause.until.Sub(m.k.Clock.Now()); left > 0 {
		m.later(c.pause.end(c.name), left)
		return
	}
	for key := range c.pause.slots {
		delete(c.pause.slots, key)
		m.wake(key)
		return
	}
	c.pause = pause{} // nobody waits
}

// returned notes that what was to be sent for a slot was sent.
func (m *model) returned(c *class, key slotKey) {
	if c.pause.first != key || key == (slotKey{}) {
		return
	}
	if c.pause.first = (slotKey{}); m.k.Clock.Now().Before(c.pause.until) {
		return // it was put off again
	}
	m.open(c)
}

// open ends the pause of a class.
func (m *model) open(c *class) {
	waiting := c.pause.slots
	c.pause = pause{}
	for key := range waiting {
		m.wake(key)
	}
}
