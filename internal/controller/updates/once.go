package updates

import (
	"context"
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
type names struct{ guarded.Value[namesHeld] }

// namesHeld are the names that are not free.
type namesHeld struct {
	held  map[dnsname.Name]int // how many are done with a name before it is free
	freed chan struct{}        // closed when some are
}

func newNames() *names {
	n := &names{}
	now, unlock := n.Lock()
	defer unlock()
	now.held, now.freed = map[dnsname.Name]int{}, make(chan struct{})
	return n
}

// A hold keeps names until it is free, and each share of it.
type hold struct {
	names *names
	all   []dnsname.Name
}

// take waits until nobody is at any of some names.
func (n *names) take(ctx context.Context, all []dnsname.Name) (*hold, error) {
	h, _, err := n.takeFree(ctx, all, len(all))
	return h, err
}

// takeFree waits until at least so many of some names are free, and takes those that are. It returns the others, too.
func (n *names) takeFree(ctx context.Context, all []dnsname.Name, least int) (h *hold, busy []dnsname.Name, err error) {
	for {
		h, busy = &hold{names: n}, nil
		now, unlock := n.Lock()
		for _, name := range all {
			if now.held[name] > 0 {
				busy = append(busy, name)
			} else {
				h.all = append(h.all, name)
			}
		}
		if len(h.all) >= least {
			for _, name := range h.all {
				now.held[name] = 1
			}
			unlock()
			return h, busy, nil
		}
		freed := now.freed
		unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, all, ctx.Err()
		}
	}
}

// of is the part of a hold that keeps one name.
func (h *hold) of(name dnsname.Name) *hold { return &hold{h.names, []dnsname.Name{name}} }

// share has somebody else keep the names as well, who calls free.
func (h *hold) share() {
	now, unlock := h.names.Lock()
	defer unlock()
	for _, name := range h.all {
		now.held[name]++
	}
}

func (h *hold) free() {
	now, unlock := h.names.Lock()
	defer unlock()
	for _, name := range h.all {
		if now.held[name]--; now.held[name] == 0 {
			delete(now.held, name)
		}
	}
	close(now.freed)
	now.freed = make(chan struct{})
}
