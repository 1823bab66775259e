package guarded

import (
	"context"
	"fmt"
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

// An InTurn has a T for whoever has its turn, and who waits for that gives up when its context ends. The zero InTurn
// has the zero T. It is not copied.
type InTurn[T any] struct {
	turn  Turn
	value T
}

// NewInTurn returns an InTurn of a value.
func NewInTurn[T any](value T) *InTurn[T] { return &InTurn[T]{value: value} }

// Lock returns the value when nobody else has it. Who has it does not keep it, and calls unlock once when done. It
// fails when the context ends before.
func (v *InTurn[T]) Lock(ctx context.Context) (value *T, unlock func(), err error) {
	if err := v.turn.LockBefore(ctx); err != nil {
		return nil, nil, fmt.Errorf("waiting for another call to end: %w", err)
	}
	return &v.value, v.turn.Unlock, nil
}
