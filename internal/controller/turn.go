package controller

import (
	"context"
	"sync"
)

// A Turn is had by one at a time, over requests too: no mutex is held that long. Who waits for it waits at a channel,
// and may give up, and virtual time goes on meanwhile, as it does not beside a sync.Mutex. The zero value is free. A
// Turn is not copied.
type Turn struct {
	made  sync.Once
	taken chan struct{} // who has the turn has put something in
}

func (t *Turn) channel() chan struct{} {
	t.made.Do(func() { t.taken = make(chan struct{}, 1) })
	return t.taken
}

// Lock waits for the turn, and takes it.
func (t *Turn) Lock() { t.channel() <- struct{}{} }

// LockBefore is Lock until ctx ends: then nothing is taken, and the error is why.
func (t *Turn) LockBefore(ctx context.Context) error {
	select {
	case t.channel() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlock ends the turn.
func (t *Turn) Unlock() { <-t.channel() }
