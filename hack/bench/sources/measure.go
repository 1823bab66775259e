package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// patience is how long it may take until all is served.
const patience = 30 * time.Minute

// A result is what was measured of one contender in one round.
type result struct {
	served   time.Duration // from its start until BIND has all
	starting spent         // from its start until it has nothing left to do
	resting  spent         // while nothing changes
	changing spent         // by all changes
	whole    spent         // of all that
	times    figures.Times // from the write of an address to the new answer
	peak     int64         // octets
}

// measure has one deliver everything that there is, then rest, and then deliver single changes.
func (b *bench) measure(ctx context.Context, c contender) (*result, error) {
	r := &result{}
	before, err := b.usage(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	pid, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	if r.served, err = b.awaitServed(ctx, began); err != nil {
		return nil, err
	}
	if err := b.awaitQuiet(ctx); err != nil {
		return nil, err
	}
	if r.starting, err = b.since(ctx, before); err != nil {
		return nil, err
	}
	b.Say("all served after %.1f s; now at rest, then %d single changes", r.served.Seconds(), b.o.changes)
	if r.resting, err = b.rest(ctx); err != nil {
		return nil, err
	}
	if err := b.change(ctx, c, r); err != nil {
		return nil, err
	}
	if r.whole, err = b.since(ctx, before); err != nil {
		return nil, err
	}
	if _, r.peak, err = figures.MemoryOf(pid); err != nil {
		return nil, err
	}
	b.Say("p50 %.1f ms", figures.Milliseconds(r.times.Percentile(50)))
	c.stop()
	return r, b.reset(ctx)
}

// rest is what is used while nothing changes.
func (b *bench) rest(ctx context.Context) (spent, error) {
	before, err := b.usage(ctx)
	if err != nil {
		return spent{}, err
	}
	if err := figures.Pause(ctx, b.o.rest); err != nil {
		return spent{}, err
	}
	return b.since(ctx, before)
}

func (b *bench) change(ctx context.Context, c contender, r *result) error {
	before, err := b.usage(ctx)
	if err != nil {
		return err
	}
	var profiled <-chan error
	if c.program == "operator" {
		profiled = b.ProfileCPU(ctx, "", time.Duration(b.o.changes)*time.Second/5)
	}
	if r.times, err = c.change(ctx); err != nil {
		return err
	}
	if err := b.awaitQuiet(ctx); err != nil {
		return err
	}
	if r.changing, err = b.since(ctx, before); err != nil || profiled == nil {
		return err
	}
	return <-profiled
}

// awaitServed asks for some of the names until they are served, and makes sure of the others by transfers.
func (b *bench) awaitServed(ctx context.Context, began time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("not all is served in time"))
	defer cancel()
	asker, err := b.bind.Asker()
	if err != nil {
		return 0, err
	}
	defer asker.Close()
	for i := range min(b.o.n, 100) {
		if err := asker.Await(ctx, fqdn(b.pick(i)), figures.Address(b.pick(i))); err != nil {
			return 0, err
		}
	}
	for {
		took := time.Since(began)
		missing, err := b.bind.Missing(ctx, b.o.n, fqdn)
		if missing == 0 || err != nil {
			return took, err
		}
		if figures.Pause(ctx, 100*time.Millisecond) != nil {
			return 0, fmt.Errorf("waiting for %d of %d names: %w", missing, b.o.n, context.Cause(ctx))
		}
	}
}

// awaitQuiet waits until no UPDATE has come for a while, and the operator, if it runs, has written nothing to the API
// server. external-dns never writes there.
func (b *bench) awaitQuiet(ctx context.Context) error {
	return b.Quiet(ctx, patience, func() (float64, error) {
		n, err := b.bind.Updates(ctx)
		if err != nil || b.Operator == nil {
			return float64(n), err
		}
		const writes = "zonefold_api_writes_total"
		m, err := b.Operator.Metrics(writes)
		return float64(n) + figures.Sum(m, writes), err
	})
}

// pick spreads changes over the objects.
func (b *bench) pick(i int) int { return i * 7919 % b.o.n }

// pause is the one before a change. They differ by up to a second, evenly spread: some look at changes once a second,
// and none is to be found always at the same moment of it.
func pause(i int) time.Duration {
	return 150*time.Millisecond + time.Duration(i*618%1000)*time.Millisecond
}

// readdressed is a change that gives one of the objects another address.
func (b *bench) readdressed(i int) rig.Change {
	which, to := b.pick(i), figures.NewAddress(i)
	return rig.Change{Name: fqdn(which), To: to, Write: func(ctx context.Context) error {
		return b.readdress(ctx, b.Kube, which, to)
	}}
}

func (b *bench) singleChanges(ctx context.Context) (out figures.Times, err error) {
	asker, err := b.bind.Asker()
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	for i := range b.o.changes {
		one, err := asker.Time(ctx, 1, pause(i), func(int) rig.Change { return b.readdressed(i) })
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}
