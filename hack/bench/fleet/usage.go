package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// usage is what the operator has used, and done to others, since they started.
type usage struct {
	took     time.Duration
	cpu      map[string]time.Duration // of every program that takes part
	rss      int64                    // octets, now
	peak     int64                    // octets
	calls    map[string]float64       // of the API server, by method
	writes   map[string]float64       // by kind and what was written
	sidecars map[string]float64       // calls of the sidecars, by method and path
	updates  int                      // UPDATE messages, by BIND's count
	settles  float64                  // steps of the World
	readings float64                  // of zones
}

// during measures what happens meanwhile. An operator that is not there yet has done nothing.
func (b *bench) during(ctx context.Context, f func() error) (usage, error) {
	before, err := b.usage(ctx)
	if err != nil {
		return before, err
	}
	began := time.Now()
	if err := f(); err != nil {
		return before, err
	}
	took := time.Since(began)
	after, err := b.usage(ctx)
	after.took = took
	after.cpu = figures.Less(after.cpu, before.cpu)
	after.calls, after.writes = figures.Less(after.calls, before.calls), figures.Less(after.writes, before.writes)
	after.sidecars = figures.Less(after.sidecars, before.sidecars)
	after.updates -= before.updates
	after.settles -= before.settles
	after.readings -= before.readings
	return after, err
}

// by adds up the samples of a metric by some of their labels.
func by(samples map[string]float64, name string, labels ...string) map[string]float64 {
	out := map[string]float64{}
	for sample, n := range samples {
		if !strings.HasPrefix(sample, name+"{") {
			continue
		}
		has := figures.Labels(sample)
		var words []string
		for _, l := range labels {
			words = append(words, has[l])
		}
		out[strings.Join(words, " ")] += n
	}
	return out
}

func (b *bench) usage(ctx context.Context) (u usage, err error) {
	if u.cpu, err = figures.CPUTimes(); err != nil {
		return u, err
	}
	u.sidecars = map[string]float64{}
	for _, s := range b.servers {
		requests, err := s.requests(ctx)
		if err != nil {
			return u, err
		}
		for what, n := range requests {
			u.sidecars[what] += n
		}
		n, err := s.updates(ctx)
		if err != nil {
			return u, err
		}
		u.updates += n
	}
	if b.Operator == nil {
		return u, nil
	}
	if u.rss, u.peak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return u, err
	}
	m, err := b.Operator.Metrics("")
	if err != nil {
		return u, err
	}
	u.calls = by(m, "rest_client_requests_total", "method")
	u.writes = by(m, "zonefold_api_writes_total", "kind", "what")
	u.settles = figures.Sum(m, "zonefold_settle_seconds_count")
	u.readings = figures.Sum(m, "zonefold_backend_read_seconds_count")
	return u, nil
}

func total(counts map[string]float64) (n float64) {
	for _, count := range counts {
		n += count
	}
	return n
}

// busy is what moves while the operator has something to do.
func (b *bench) busy() (float64, error) {
	m, err := b.Operator.Metrics("")
	calls := by(m, "rest_client_requests_total", "method")
	delete(calls, "PUT") // of leader election
	delete(calls, "GET") // watches
	return total(calls) + figures.Sum(m, "zonefold_backend_apply_seconds_count") + figures.Sum(m,
		"zonefold_settle_seconds_count"), err
}

// quiet waits until the operator writes nothing anywhere any more. That time is no part of what is measured if its end
// is taken from the last write.
func (b *bench) quiet(ctx context.Context) error {
	if err := b.Quiet(ctx, patience, b.busy); err != nil {
		return fmt.Errorf("waiting for the operator to have nothing to do: %w", err)
	}
	return nil
}
