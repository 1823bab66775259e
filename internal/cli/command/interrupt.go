package command

import (
	"context"
	"errors"
	"time"
)

// errInterrupted says that somebody did not want to wait.
var errInterrupted = errors.New("interrupted")

// UntilDone does work that only computes and prints, and returns at once when the context ends: the program ends then,
// and there is nothing that it would have to put in order. At a terminal it shows how far the work is.
func UntilDone(ctx context.Context, env Env, work func(Env, *Progress) error) error {
	p := NewProgress(env.Stderr)
	env.Stderr = p
	var looks <-chan time.Time
	if env.Terminal {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		looks = ticker.C
	}
	defer p.End()
	done := make(chan error, 1)
	go func() { done <- work(env, p) }()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return &ExitError{Code: ExitInterrupted, Err: errInterrupted}
		case at := <-looks:
			p.show(at)
		}
	}
}
