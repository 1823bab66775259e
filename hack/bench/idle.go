package main

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// auditEvery is how often the zone is read back in a run with an idle phase.
const auditEvery = 2 * time.Minute

// idleResult is what happened while nothing was to be done.
type idleResult struct {
	took time.Duration
	used usage
}

func (r *rig) idle(ctx context.Context) (*idleResult, error) {
	before, err := r.usage(ctx)
	if err != nil {
		return nil, err
	}
	if err := figures.Pause(ctx, r.o.idle); err != nil {
		return nil, err
	}
	after, err := r.usage(ctx)
	return &idleResult{r.o.idle, after.since(before)}, err
}
