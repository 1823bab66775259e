// Command gardener measures DNSRecords of Gardener in two accounts, of which one may make five requests a second, as at
// Route 53: a real kube-apiserver with etcd, the operator's own binary, a real PowerDNS, and a server that behaves as
// Route 53 does, all started for it on loopback and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/gardener -n 5000
//
// With BENCH_OUT=file the figures are added to the JSON object in that file.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// options are the flags.
type options struct {
	rig.Options
	n       int
	zones   int
	changes int
	rate    float64
}

func main() {
	var o options
	rig.Main("gardener", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 5000, "DNSRecords, half of them in each account")
	f.IntVar(&o.zones, "zones", 50, "hosted zones of the account with a limit")
	f.IntVar(&o.changes, "changes", 50,
		"single changes in the account without a limit, twice: alone, and while the other account is busy")
	f.Float64Var(&o.rate, "rate", 5, "requests a second that the account with a limit takes")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0, -n above 1", o.n > 1 && o.changes > 0 && o.zones > 0 && o.rate > 0
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o, single: map[int]string{}}
	if err := b.start(ctx); err != nil {
		return err
	}
	result, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := result.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), result.figures())
}

// measure does everything once.
func (b *bench) measure(ctx context.Context) (*result, error) {
	out := &result{n: b.o.n, zones: b.o.zones, rate: b.o.rate}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *result) error{b.measureBare, b.measureAlone, b.measureBoth,
		b.measureBusy, b.measureRestart, b.measureEnd} {
		if err := step(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measureAlone has the account without a limit for itself.
func (b *bench) measureAlone(ctx context.Context, out *result) error {
	b.Say("%d DNSRecords in the account without a limit, alone", b.half())
	began := time.Now()
	if err := b.create(ctx, free); err != nil {
		return err
	}
	if err := b.awaitDone(ctx, free); err != nil {
		return err
	}
	out.alone = time.Since(began)
	var err error
	if out.idle, err = b.singleChanges(ctx); err != nil {
		return err
	}
	clear(b.single)
	return b.remove(ctx, free)
}

// measureBoth creates all objects, those of both accounts in turn.
func (b *bench) measureBoth(ctx context.Context, out *result) error {
	b.Say("%.1f s; now %d in two accounts", out.alone.Seconds(), b.o.n)
	before := b.calls()
	began := time.Now()
	if err := b.create(ctx, free, limited); err != nil {
		return err
	}
	out.creates = time.Since(began)
	if err := b.awaitDone(ctx, free); err != nil {
		return err
	}
	out.free = time.Since(began)
	if err := b.awaitDone(ctx, limited); err != nil {
		return err
	}
	out.limited = time.Since(began)
	out.calls = b.calls().since(before)
	var err error
	if _, out.peak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return err
	}
	return b.compare(ctx, 0)
}

// measureBusy changes all objects of the account with a limit, and meanwhile single ones of the other.
func (b *bench) measureBusy(ctx context.Context, out *result) error {
	b.Say("%.1f s and %.1f s; now all of the account with a limit change", out.free.Seconds(), out.limited.Seconds())
	before := b.calls()
	began := time.Now()
	changed := make(chan error, 1)
	go func() { changed <- b.change(ctx, limited, 1) }()
	var err error
	out.busy, err = b.singleChanges(ctx)
	if err := errors.Join(err, <-changed); err != nil {
		return err
	}
	if err := b.awaitDone(ctx, limited); err != nil {
		return err
	}
	out.changed = time.Since(began)
	out.changeCalls = b.calls().since(before)
	return b.compare(ctx, 1)
}

// measureRestart starts the operator again: it has nothing to do.
func (b *bench) measureRestart(ctx context.Context, out *result) error {
	b.Say("%.1f s; now the operator starts again", out.changed.Seconds())
	before := b.calls()
	b.StopOperator()
	if err := b.startOperator(ctx); err != nil {
		return err
	}
	if err := figures.Pause(ctx, quiet); err != nil {
		return err
	}
	out.restartCalls = b.calls().since(before)
	return b.compare(ctx, 1)
}

// measureEnd deletes everything.
func (b *bench) measureEnd(ctx context.Context, out *result) error {
	b.Say("deleting all")
	before := b.calls()
	began := time.Now()
	if err := b.remove(ctx, free, limited); err != nil {
		return err
	}
	out.gone = time.Since(began)
	out.goneCalls = b.calls().since(before)
	return b.compareGone(ctx)
}
