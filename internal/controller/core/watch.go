package core

import (
	"context"
	"sync"

	"github.com/zonefold/zonefold/internal/zone"
)

// A Watch notes which versions of some objects the World has settled since it began.
type Watch struct {
	core *Core

	mu   sync.Mutex
	seen map[zone.ID]*Version // nil: none yet
	news chan struct{}        // closed when there is another one
}

// Watch begins to watch some objects, until End.
func (c *Core) Watch(ids ...zone.ID) *Watch {
	w := &Watch{core: c, seen: map[zone.ID]*Version{}, news: make(chan struct{})}
	for _, id := range ids {
		w.seen[id] = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches[w] = struct{}{}
	return w
}

// End ends the Watch.
func (w *Watch) End() {
	w.core.mu.Lock()
	defer w.core.mu.Unlock()
	delete(w.core.watches, w)
}

// note notes what was settled.
func (w *Watch) note(inputs []Input) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := false
	for _, in := range inputs {
		if _, watched := w.seen[in.ID]; watched {
			w.seen[in.ID], found = &in.Version, true
		}
	}
	if found {
		close(w.news)
		w.news = make(chan struct{})
	}
}

// Settled waits until everybody has been told of a step of the World with these versions of objects, or later ones; the
// zero Version: that the object is gone.
func (w *Watch) Settled(ctx context.Context, want map[zone.ID]Version) error {
	for {
		w.mu.Lock()
		news, have := w.news, true
		for id, version := range want {
			seen := w.seen[id]
			have = have && seen != nil && seen.UID == version.UID && seen.Generation >= version.Generation
		}
		w.mu.Unlock()
		if have {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
