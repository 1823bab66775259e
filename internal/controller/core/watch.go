package core

import (
	"context"

	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Watch notes which versions of some objects the World has settled since it began.
type Watch struct {
	core  *Core
	state guarded.Value[seen]
}

// seen is what a Watch has seen.
type seen struct {
	versions map[zone.ID]*Version // nil: none yet
	news     chan struct{}        // closed when there is another one
}

// Watch begins to watch some objects, until End.
func (c *Core) Watch(ids ...zone.ID) *Watch {
	w := &Watch{core: c}
	own, unlock := w.state.Lock()
	own.versions, own.news = make(map[zone.ID]*Version, len(ids)), make(chan struct{})
	for _, id := range ids {
		own.versions[id] = nil
	}
	unlock()
	st, unlock := c.state.Lock()
	defer unlock()
	st.watches[w] = struct{}{}
	return w
}

// End ends the Watch.
func (w *Watch) End() {
	st, unlock := w.core.state.Lock()
	defer unlock()
	delete(st.watches, w)
}

// note notes what was settled.
func (w *Watch) note(inputs []Input) {
	own, unlock := w.state.Lock()
	defer unlock()
	found := false
	for _, in := range inputs {
		if _, watched := own.versions[in.ID]; watched {
			own.versions[in.ID], found = &in.Version, true
		}
	}
	if found {
		close(own.news)
		own.news = make(chan struct{})
	}
}

// Settled waits until everybody has been told of a step of the World with these versions of objects, or later ones; the
// zero Version: that the object is gone.
func (w *Watch) Settled(ctx context.Context, want map[zone.ID]Version) error {
	for {
		own, unlock := w.state.Lock()
		news, have := own.news, true
		for id, version := range want {
			last := own.versions[id]
			have = have && last != nil && last.UID == version.UID && last.Generation >= version.Generation
		}
		unlock()
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
