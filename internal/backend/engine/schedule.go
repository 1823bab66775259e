package engine

import (
	"container/heap"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// A server bounds what its targets do at the same time. Guarded by Engine.mu, as all of this file.
type server struct {
	name    string
	targets int
	limit   int
	active  int
	queue   []*target // ready to run, first come first served
	listed  bool      // is in Engine.open
	held    time.Time // throttled until then
	delay   delay
	failing map[*target]bool // targets whose last attempt found it unavailable
}

// fire lists a server that was throttled.
func (s *server) fire(e *Engine) { e.list(s) }

// Why a target is woken.
type wakeReason uint8

const (
	wakeWant  wakeReason = iota // its content or label changed: at once, but soon after a failure only after a gap
	wakeForce                   // somebody asks, or the cause of a failure may be gone: at once
)

// wake makes a target run, or run again if it does already.
func (e *Engine) wake(t *target, why wakeReason) {
	if e.stopped {
		return
	}
	if t.running {
		t.again = true
		t.forced = t.forced || why == wakeForce
		return
	}
	if t.queued {
		return
	}
	if why == wakeWant {
		due := t.rest
		if t.failures > 0 {
			due = t.failed.Add(minGap(t.class))
		}
		if e.cfg.Clock.Now().Before(due) {
			if t.delay.due.IsZero() || due.Before(t.delay.due) {
				e.delay(&t.delay, due)
			}
			return
		}
	}
	e.enqueue(t)
}

func (e *Engine) enqueue(t *target) {
	e.undelay(&t.delay)
	t.queued = true
	t.server.queue = append(t.server.queue, t)
	e.list(t.server)
}

// list offers a server that has something to do and room to do it.
func (e *Engine) list(s *server) {
	if !e.stopped && !s.listed && len(s.queue) > 0 && s.active < s.limit {
		if e.cfg.Clock.Now().Before(s.held) {
			e.delay(&s.delay, s.held)
			return
		}
		s.listed = true
		e.open = append(e.open, s)
		e.pump()
	}
}

// pump starts workers while there is room, one server after the other.
func (e *Engine) pump() {
	for len(e.open) > 0 && e.active < e.cfg.MaxActive && !e.stopped {
		s := e.open[0]
		e.open = e.open[1:]
		s.listed = false
		if e.cfg.Clock.Now().Before(s.held) {
			e.delay(&s.delay, s.held)
			continue
		}
		t := s.queue[0]
		s.queue = s.queue[1:]
		if !t.pause() {
			t.queued, t.running = false, true
			s.active++
			e.active++
			e.background.Go(t.run)
		}
		if len(s.queue) > 0 && s.active < s.limit {
			s.listed = true
			e.open = append(e.open, s)
		}
	}
}

// ran ends a run.
func (e *Engine) ran(t *target) {
	t.running = false
	t.server.active--
	e.active--
	t.resume()
	e.list(t.server)
	e.pump()
}

// Waiting returns how many targets are being worked at or could be now; those that wait for another try are not among
// them.
func (e *Engine) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.active
	for _, s := range e.servers {
		n += len(s.queue)
	}
	return n
}

// hold keeps all targets of a throttled server from it.
func (e *Engine) hold(s *server, until time.Time) {
	if until.After(s.held) {
		s.held = until
	}
}

// recovered wakes the targets that wait for a server which answers again.
func (e *Engine) recovered(s *server) {
	for t := range s.failing {
		delete(s.failing, t)
		e.wake(t, wakeForce)
	}
}

// A delay is a place in the queue of things to do later.
type delay struct {
	due  time.Time // zero: not in the queue
	at   int
	what interface{ fire(*Engine) }
}

type delays []*delay

func (d delays) Len() int           { return len(d) }
func (d delays) Less(i, j int) bool { return d[i].due.Before(d[j].due) }
func (d delays) Swap(i, j int)      { d[i], d[j] = d[j], d[i]; d[i].at, d[j].at = i, j }

// Push is for package heap.
func (d *delays) Push(x any) { x.(*delay).at = len(*d); *d = append(*d, x.(*delay)) }

// Pop is for package heap.
func (d *delays) Pop() any {
	old := *d
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return x
}

// delay puts d into the queue, or moves it.
func (e *Engine) delay(d *delay, due time.Time) {
	if e.stopped {
		return
	}
	e.undelay(d)
	d.due = due
	heap.Push(&e.delays, d)
	if d.at == 0 {
		e.arm()
	}
}

func (e *Engine) undelay(d *delay) {
	if !d.due.IsZero() {
		heap.Remove(&e.delays, d.at)
		d.due = time.Time{}
	}
}

// arm sets the one timer to the first delay.
func (e *Engine) arm() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if len(e.delays) > 0 {
		e.timer = e.cfg.Clock.AfterFunc(e.delays[0].due.Sub(e.cfg.Clock.Now()), e.ring)
	}
}

// ring fires the delays that are due.
func (e *Engine) ring() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for now := e.cfg.Clock.Now(); len(e.delays) > 0 && !e.stopped && !e.delays[0].due.After(now); {
		d := e.delays[0]
		e.undelay(d)
		d.what.fire(e)
	}
	if !e.stopped {
		e.arm()
	}
}

// waits are by class of error.
var waits = map[backend.ErrorClass]backend.Doubled{
	backend.ErrNoZone:        {First: 5 * time.Second, Most: 5 * time.Minute},
	backend.ErrRejected:      {First: 30 * time.Second, Most: time.Hour},
	backend.ErrNotAuthorised: {First: 30 * time.Second, Most: 15 * time.Minute},
	backend.ErrUnavailable:   {First: time.Second, Most: 2 * time.Minute},
	backend.ErrThrottled:     {First: 5 * time.Second, Most: 5 * time.Minute},
	backend.ErrTooLarge:      {First: 30 * time.Second, Most: 15 * time.Minute},
	backend.ErrConflict:      {First: time.Second, Most: 2 * time.Minute},
	backend.ErrHeld:          {First: time.Hour, Most: time.Hour},
}

// minGap is how long after a failed attempt even a new content waits: a server in trouble is not asked again at the
// rate at which contents change.
func minGap(class backend.ErrorClass) time.Duration {
	switch class {
	case backend.ErrNotAuthorised, backend.ErrNoZone, backend.ErrRejected, backend.ErrTooLarge:
		return 5 * time.Second
	default:
		return time.Second
	}
}

// rest is how long a target that took some changes is left alone, so that in a burst more of them go out together:
// every message costs a write of the ledger and a reading back. A quiet target takes the next change at once.
func rest(changes int) time.Duration {
	if changes < 3 {
		return 0
	}
	return min(time.Duration(changes)*5*time.Millisecond, 250*time.Millisecond)
}
