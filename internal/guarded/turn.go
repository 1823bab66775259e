package guarded

import (
	"context"
	"fmt"
)

// A Turn has a T for one goroutine at a time, which may keep it while it waits for others, such as a server: whoever
// waits for it gives up when its context ends. It is not copied. The zero Turn never comes; see NewTurn.
type Turn[T any] struct {
	free chan *T // has the value while nobody else does
}

// NewTurn returns a Turn of a value.
func NewTurn[T any](value T) Turn[T] {
	t := Turn[T]{make(chan *T, 1)}
	t.free <- &value
	return t
}

// Take returns the value when nobody else has it. Who has it does not keep it, and calls done once when done. It fails
// when the context ends before.
func (t *Turn[T]) Take(ctx context.Context) (value *T, done func(), err error) {
	select {
	case value = <-t.free:
		return value, func() { t.free <- value }, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("waiting for another call to end: %w", context.Cause(ctx))
	}
}
