package updates

import (
	"context"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/update"
)

// answers are those of the last messages. Clients repeat over UDP what is not answered at once, with the same
// signature: that holds for no longer than keep.
type answers struct {
	clock backend.Clock
	given guarded.Value[remembered]
}

// remembered are the answers that are given again.
type remembered struct {
	by    map[[32]byte]*answer
	order []*answer // the oldest first
}

type answer struct {
	id    [32]byte
	began time.Time
	done  chan struct{} // closed when there is one
	Answer
}

const (
	keep    = 10 * time.Minute // twice the fudge of a signature (RFC 8945 §10)
	keepMax = 100_000
)

// once has a message be carried out, unless it has been or is being.
func (a *answers) once(ctx context.Context, id [32]byte, do func() Answer) Answer {
	g, unlock := a.given.Lock()
	if g.by == nil {
		g.by = map[[32]byte]*answer{}
	}
	g.forget(a.clock.Now())
	if before := g.by[id]; before != nil {
		unlock()
		select {
		case <-before.done:
			return before.Answer
		case <-ctx.Done():
			return Answer{update.ServerFailure, "It is still being carried out"}
		}
	}
	mine := &answer{id: id, began: a.clock.Now(), done: make(chan struct{})}
	g.by[id], g.order = mine, append(g.order, mine)
	unlock()
	mine.Answer = do()
	close(mine.done)
	if mine.Rcode == update.ServerFailure { // the next time it may succeed
		g, unlock := a.given.Lock()
		defer unlock()
		if g.by[id] == mine {
			delete(g.by, id)
		}
	}
	return mine.Answer
}

// forget forgets what nobody asks for again.
func (g *remembered) forget(now time.Time) {
	for len(g.order) > 0 && (len(g.order) > keepMax || now.Sub(g.order[0].began) > keep) {
		if g.by[g.order[0].id] == g.order[0] {
			delete(g.by, g.order[0].id)
		}
		g.order = g.order[1:]
	}
}

// names are those that updates are at: two of one name take turns, others do not wait for each other.
type names struct {
	mu    sync.Mutex
	held  map[dnsname.Name]struct{}
	freed chan struct{} // closed when some are
}

func newNames() *names { return &names{held: map[dnsname.Name]struct{}{}, freed: make(chan struct{})} }

// A hold keeps names until everybody who has it is done.
type hold struct {
	names *names
	all   []dnsname.Name
	users int
}

// take waits until nobody is at any of some names.
func (n *names) take(ctx context.Context, all []dnsname.Name) (*hold, error) {
	for {
		n.mu.Lock()
		busy := false
		for _, name := range all {
			_, held := n.held[name]
			busy = busy || held
		}
		if !busy {
			break
		}
		freed := n.freed
		n.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer n.mu.Unlock()
	for _, name := range all {
		n.held[name] = struct{}{}
	}
	return &hold{n, all, 1}, nil
}

// share has somebody else keep the names as well, who calls free.
func (h *hold) share() {
	h.names.mu.Lock()
	defer h.names.mu.Unlock()
	h.users++
}

func (h *hold) free() {
	n := h.names
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.users--; h.users > 0 {
		return
	}
	for _, name := range h.all {
		delete(n.held, name)
	}
	close(n.freed)
	n.freed = make(chan struct{})
}
