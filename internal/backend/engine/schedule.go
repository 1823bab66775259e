package engine

import (
	"container/heap"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// A scheduler says which target is worked at when. It is what the lock of an Engine guards, and all that it leads to is
// guarded with it: targets, servers, and what feeds want. Who has one of these has the lock.
type scheduler struct {
	engine  *Engine
	targets map[spot]*target
	places  map[backend.TargetKey][]*target // the same, by place: see scheduler.place
	servers map[string]*server
	open    []*server // those with something to do and room to do it
	active  int
	delays  delays
	timer   backend.Timer
	stopped bool
	held    []string // kinds of attachments; see HoldZones
	serials serials
}

// A server bounds what its targets do at the same time.
type server struct {
	name    string
	targets int
	limit   int
	active  int
	queue   []*target // ready to run, first come first served
	checks  []*target // likewise, but others come before; see target.checks
	turn    int       // since the last of those
	listed  bool      // is in scheduler.open
	held    time.Time // throttled until then
	delay   delay
	failing map[*target]bool // targets whose last attempt found it unavailable
}

func newServer(name string, limit int) *server {
	at := &server{name: name, limit: limit, failing: map[*target]bool{}}
	at.delay.what = at
	return at
}

// eachCheck is how many turns there are for one check, while there are changes.
const eachCheck = 4

// waiting returns how many targets are ready to run.
func (at *server) waiting() int { return len(at.queue) + len(at.checks) }

// next takes the target whose turn it is: after a start, what has changed does not wait for a thousand zones that are
// as an earlier run has left them, nor those for ever.
func (at *server) next() *target {
	from := &at.queue
	if at.turn++; len(at.queue) == 0 || at.turn >= eachCheck && len(at.checks) > 0 {
		from, at.turn = &at.checks, 0
	}
	t := (*from)[0]
	*from = (*from)[1:]
	return t
}

// hasten moves a target that is ready to run before those that are checked.
func (at *server) hasten(t *target) {
	if i := slices.Index(at.checks, t); i >= 0 {
		at.checks = slices.Delete(at.checks, i, i+1)
		at.queue = append(at.queue, t)
	}
}

// fire lists a server that was throttled.
func (at *server) fire(s *scheduler) { s.list(at) }

// hold keeps all targets of a throttled server from it.
func (at *server) hold(until time.Time) {
	if until.After(at.held) {
		at.held = until
	}
}

func (s *scheduler) now() time.Time { return s.engine.cfg.Clock.Now() }

// stop has nothing run any more that does not run yet.
func (s *scheduler) stop() {
	s.stopped, s.open = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}

// Why a target is woken.
type wakeReason uint8

const (
	wakeWant  wakeReason = iota // its content or label changed: at once, but soon after a failure only after a gap
	wakeForce                   // somebody asks, or the cause of a failure may be gone: at once
)

// wake makes a target run, or run again if it does already.
func (s *scheduler) wake(t *target, why wakeReason) {
	if s.stopped {
		return
	}
	if t.running {
		t.again = true
		t.forced = t.forced || why == wakeForce
		return
	}
	if t.queued {
		if !t.checks() {
			t.server.hasten(t)
		}
		return
	}
	if why == wakeWant {
		due := t.rest
		if t.failures > 0 {
			due = t.failed.Add(minGap(t.class))
		}
		if s.now().Before(due) {
			if t.delay.due.IsZero() || due.Before(t.delay.due) {
				s.delay(&t.delay, due)
			}
			return
		}
	}
	s.enqueue(t)
}

func (s *scheduler) enqueue(t *target) {
	s.undelay(&t.delay)
	t.queued = true
	if at := t.server; t.checks() {
		at.checks = append(at.checks, t)
	} else {
		at.queue = append(at.queue, t)
	}
	s.list(t.server)
}

// list offers a server that has something to do and room to do it.
func (s *scheduler) list(at *server) {
	if !s.stopped && !at.listed && at.waiting() > 0 && at.active < at.limit {
		if s.now().Before(at.held) {
			s.delay(&at.delay, at.held)
			return
		}
		at.listed = true
		s.open = append(s.open, at)
		s.pump()
	}
}

// pump starts workers while there is room, one server after the other.
func (s *scheduler) pump() {
	for len(s.open) > 0 && s.active < s.engine.cfg.MaxActive && !s.stopped {
		at := s.open[0]
		s.open = s.open[1:]
		at.listed = false
		if s.now().Before(at.held) {
			s.delay(&at.delay, at.held)
			continue
		}
		if t := at.next(); !t.pause() {
			t.queued, t.running = false, true
			at.active++
			s.active++
			s.engine.background.Go(t.run)
		}
		if at.waiting() > 0 && at.active < at.limit {
			at.listed = true
			s.open = append(s.open, at)
		}
	}
}

// ran ends a run.
func (s *scheduler) ran(t *target) {
	t.running, t.sending = false, nil
	t.server.active--
	s.active--
	t.resume()
	s.list(t.server)
	s.pump()
}

// Waiting returns how many targets are being worked at or could be now; those that wait for another try are not among
// them.
func (e *Engine) Waiting() int {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	n := s.active
	for _, at := range s.servers {
		n += at.waiting()
	}
	return n
}

// recovered wakes the targets that wait for a server which answers again.
func (s *scheduler) recovered(at *server) {
	for t := range at.failing {
		delete(at.failing, t)
		s.wake(t, wakeForce)
	}
}

// A delay is a place in the queue of things to do later.
type delay struct {
	due  time.Time // zero: not in the queue
	at   int
	what interface{ fire(*scheduler) }
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
func (s *scheduler) delay(d *delay, due time.Time) {
	if s.stopped {
		return
	}
	s.undelay(d)
	d.due = due
	heap.Push(&s.delays, d)
	if d.at == 0 {
		s.arm()
	}
}

func (s *scheduler) undelay(d *delay) {
	if !d.due.IsZero() {
		heap.Remove(&s.delays, d.at)
		d.due = time.Time{}
	}
}

// arm sets the one timer to the first delay.
func (s *scheduler) arm() {
	if s.timer != nil {
		s.timer.Stop()
	}
	if len(s.delays) > 0 {
		s.timer = s.engine.cfg.Clock.AfterFunc(s.delays[0].due.Sub(s.now()), s.engine.ring)
	}
}

// ring fires the delays that are due.
func (e *Engine) ring() {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	for now := s.now(); len(s.delays) > 0 && !s.stopped && !s.delays[0].due.After(now); {
		d := s.delays[0]
		s.undelay(d)
		d.what.fire(s)
	}
	if !s.stopped {
		s.arm()
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
