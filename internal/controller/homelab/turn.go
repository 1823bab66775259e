package homelab

import "sync"

// A turn is what one of several has at a time, over requests too. Who waits for it waits at a channel, which virtual time goes on
// beside, as it does not beside a sync.Mutex. The zero value is free.
type turn struct {
	mu   sync.Mutex
	over chan struct{} // closed at the end of the turn that somebody has; nil: nobody has it
}

// Lock waits for the turn, and takes it.
func (t *turn) Lock() {
	for {
		t.mu.Lock()
		over := t.over
		if over == nil {
			t.over = make(chan struct{})
		}
		t.mu.Unlock()
		if over == nil {
			return
		}
		<-over
	}
}

// Unlock ends the turn.
func (t *turn) Unlock() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.over)
	t.over = nil
}
