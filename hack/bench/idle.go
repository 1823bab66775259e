package main

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// idleResult is what happened while nothing was to be done.
type idleResult struct {
	took time.Duration
	used usage
}

func (b *bench) idle(ctx context.Context) (*idleResult, error) {
	before, err := b.usage(ctx)
	if err != nil {
		return nil, err
	}
	if err := figures.Pause(ctx, b.o.Idle); err != nil {
		return nil, err
	}
	after, err := b.usage(ctx)
	return &idleResult{b.o.Idle, after.since(before)}, err
}
