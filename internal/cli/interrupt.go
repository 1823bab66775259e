package cli

import (
	"context"
	"errors"
	"time"
)

// errInterrupted says that somebody did not want to wait.
var errInterrupted = errors.New("interrupted")

// untilDone does work that only computes and prints, and returns at once when the context ends: the program ends then,
// and there is nothing that it would have to put in order. At a terminal it shows how far the work is.
func untilDone(ctx context.Context, env Env, work func(Env, *progress) error) error {
	p := &progress{out: env.Stderr}
	env.Stderr = p
	var looks <-chan time.Time
	if env.Terminal {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		looks = ticker.C
	}
	defer p.end()
	done := make(chan error, 1)
	go func() { done <- work(env, p) }()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return &exitError{code: exitInterrupted, err: errInterrupted}
		case at := <-looks:
			p.show(at)
		}
	}
}
