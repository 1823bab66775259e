package backend

import (
	"slices"
	"sync"
)

// HoldZones keeps zones from being delivered through attachments of some kinds until the function that it returns is
// called. Sets of overlays are not sent again when an operator starts: they have to be known before zones are compared
// with what is there.
func (e *Engine) HoldZones(kinds ...string) (release func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held = kinds
	return sync.OnceFunc(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.held = nil
		for at, t := range e.targets {
			if !at.overlay && t.paused {
				t.paused, t.queued = false, false
				e.enqueue(t)
			}
		}
	})
}

// HoldsZones reports whether zones are held.
func (e *Engine) HoldsZones() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.held) > 0
}

// isHeld reports whether a worker has to wait until zones are delivered. Engine.mu is held.
func (t *target) isHeld() bool {
	if t.overlay || len(t.engine.held) == 0 {
		return false
	}
	a := t.holder()
	return a != nil && slices.Contains(t.engine.held, a.Kind)
}
