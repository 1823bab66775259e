package homelab

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// turnsOfClass is how many calls of one server there are at a time. Every class has its own: one that is dead keeps
// nobody else's.
const turnsOfClass = 8

// batchSize is how many records go out in one request, where the server takes that: fewer than it may take, since all
// of them have to be done within the time-out of one call.
const batchSize = 100

// Above as many turns of a class at a time there are full batches only: what comes meanwhile gathers, but for no longer
// than that.
const (
	underWay  = 2
	gatherFor = 50 * time.Millisecond
)

// A slotQueue has the slots of a class that exists which are to be looked at.
type slotQueue = workqueue.TypedDelayingInterface[slotKey]

// wake has a slot looked at. Who is to leave something there need not wait: its class may not exist, or be busy with
// others for long.
func (m *model) wake(key slotKey) {
	if s := m.slots[key]; s != nil {
		if left := orphaned(s); len(left) > 0 {
			m.forget(s, left)
		}
	}
	if q := m.queueOf(key.class); q != nil {
		q.Add(key)
	}
}

// later has a slot looked at after a while.
func (m *model) later(key slotKey, after time.Duration) {
	if q := m.queueOf(key.class); q != nil {
		q.AddAfter(key, after)
	}
}

// queueOf returns the queue of a class; nil: the class does not exist, or the term is over.
func (m *model) queueOf(class string) slotQueue {
	if q := m.queues[class]; q != nil {
		return q
	}
	k := m.k
	if m.classes[class] == nil || k.ctx.Err() != nil {
		return nil
	}
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[slotKey]{Clock: k.Clock})
	m.queues[class] = q
	k.workers.Go(func() { k.serve(class, q) })
	return q
}

// serve has turns taken about the slots of a class until their queue ends. A class that has come back meanwhile gets
// another one only then: one slot is in one hand.
func (k *Controller) serve(class string, q slotQueue) {
	k.await()
	var turns sync.WaitGroup
	room, freed := make(chan struct{}, turnsOfClass), make(chan struct{}, 1)
	for key, end := q.Get(); !end; key, end = q.Get() {
		room <- struct{}{}
		most := k.most(class)
		for late := time.After(gatherFor); most > 1 && len(room) > underWay && q.Len() < most-1; {
			select {
			case <-freed:
				continue
			case <-late:
			}
			break
		}
		keys := []slotKey{key}
		for len(keys) < most && q.Len() > 0 { // nobody else takes any now
			next, _ := q.Get()
			keys = append(keys, next)
		}
		turns.Go(func() {
			k.turn(class, q, keys)
			<-room
			select {
			case freed <- struct{}{}:
			default:
			}
		})
	}
	turns.Wait()
	m, unlock := k.model.Lock()
	defer unlock()
	delete(m.queues, class)
	k.Numbers.left(class)
	m.wakeClass(class)
}

// most is how many slots of a class are taken at once: as many as the server takes in one request.
func (k *Controller) most(class string) int {
	m, unlock := k.model.Lock()
	defer unlock()
	if c := m.classes[class]; c != nil {
		return max(1, c.most)
	}
	return 1
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

// pause has a class wait.
func (m *model) pause(c *class, after time.Duration) {
	if until := m.k.Clock.Now().Add(after); until.After(c.pause.until) {
		c.pause.until = until
		m.later(c.pause.end(c.name), after)
	}
}

// resume has one of the slots go that wait, if the pause is over.
func (m *model) resume(c *class) {
	if c == nil || c.pause.until.IsZero() || c.pause.first != (slotKey{}) {
		return
	}
	if left := c.pause.until.Sub(m.k.Clock.Now()); left > 0 {
		m.later(c.pause.end(c.name), left)
		return
	}
	if len(c.pause.slots) == 0 {
		c.pause = pause{}
		return
	}
	key := slices.MinFunc(slices.Collect(maps.Keys(c.pause.slots)), slotKey.compare)
	delete(c.pause.slots, key)
	m.wake(key)
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
	for _, key := range slices.SortedFunc(maps.Keys(waiting), slotKey.compare) {
		m.wake(key)
	}
}
