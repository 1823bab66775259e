package cli

import (
	"context"
	"errors"
)

// errInterrupted says that somebody did not want to wait.
var errInterrupted = errors.New("interrupted")

// untilDone does work that only computes and prints, and returns at once when the context ends: the program ends then, and there is
// nothing that it would have to put in order.
func untilDone(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &exitError{code: exitInterrupted, err: errInterrupted}
	}
}
