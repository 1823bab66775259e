package follow

import (
	"sync"

	"github.com/zonefold/zonefold/internal/backend/embedded"
)

// A queue holds members that may have changed, each once. A member that one worker is at is not given to another.
type queue struct {
	mu       sync.Mutex
	some     sync.Cond
	order    []embedded.Member
	states   map[embedded.Member]*state // of those that wait, are worked at, or have failed
	finished bool
}

type state struct {
	waiting, busy bool
	failures      int // in a row
}

func newQueue() *queue {
	q := &queue{states: map[embedded.Member]*state{}}
	q.some.L = &q.mu
	return q
}

// add has a member looked at.
func (q *queue) add(m embedded.Member) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.states[m]
	if s == nil {
		s = &state{}
		q.states[m] = s
	}
	if s.waiting {
		return
	}
	if s.waiting = true; !s.busy {
		q.order = append(q.order, m)
		q.some.Signal()
	}
}

// next waits for a member to look at. It returns false when the queue is closed.
func (q *queue) next() (embedded.Member, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.order) == 0 && !q.finished {
		q.some.Wait()
	}
	if q.finished {
		return embedded.Member{}, false
	}
	m := q.order[0]
	q.order = q.order[1:]
	s := q.states[m]
	s.waiting, s.busy = false, true
	return m, true
}

// done says what came of looking at a member, and returns how often in a row it has failed.
func (q *queue) done(m embedded.Member, failed bool) (failures int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.states[m]
	s.busy = false
	if s.failures++; !failed {
		s.failures = 0
	}
	switch {
	case s.waiting:
		q.order = append(q.order, m)
		q.some.Signal()
	case !failed:
		delete(q.states, m)
	}
	return s.failures
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.some.Broadcast()
}
