// Command gardener measures DNSRecords of Gardener in two accounts, of which one may make five requests a second, as at Route 53: a real
// kube-apiserver with etcd, the operator's own binary, a real PowerDNS, and a server that behaves as Route 53 does, all started for it
// on loopback and ended afterwards. docs/performance.md says what the figures mean.
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
)

// options are the flags.
type options struct {
	n       int
	workers int
	zones   int
	changes int
	rate    float64
	log     string
}

func main() { figures.Main("gardener", run) }

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("gardener", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.n, "n", 5000, "DNSRecords, half of them in each account")
	f.IntVar(&o.workers, "workers", 16, "creates at the same time")
	f.IntVar(&o.zones, "zones", 50, "hosted zones of the account with a limit")
	f.IntVar(&o.changes, "changes", 50, "single changes in the account without a limit, twice: alone, and while the other account is busy")
	f.Float64Var(&o.rate, "rate", 5, "requests a second that the account with a limit takes")
	f.StringVar(&o.log, "log", "", "`file` for the operator's log")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.n < 2 || o.workers < 1 || o.changes < 1 || o.zones < 1 || o.rate <= 0 {
		return o, errors.New("flags need numbers above 0, -n above 1, and there are no arguments; see -help")
	}
	return o, nil
}

// run measures and prints; everything that it starts is gone when it returns.
func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	r, err := newRig(ctx, o, progress)
	defer func() { err = errors.Join(err, r.close()) }()
	if err != nil {
		return err
	}
	result, err := r.measure(ctx)
	if err != nil {
		return err
	}
	if err := result.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), result.figures())
}

// measure does everything once.
func (r *rig) measure(ctx context.Context) (*result, error) {
	out := &result{n: r.o.n, zones: r.o.zones, rate: r.o.rate}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *result) error{r.measureAlone, r.measureBoth, r.measureBusy, r.measureRestart, r.measureEnd} {
		if err := step(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measureAlone has the account without a limit for itself.
func (r *rig) measureAlone(ctx context.Context, out *result) error {
	r.say("%d DNSRecords in the account without a limit, alone", r.half())
	began := time.Now()
	if err := r.create(ctx, free); err != nil {
		return err
	}
	if err := r.awaitDone(ctx, free); err != nil {
		return err
	}
	out.alone = time.Since(began)
	var err error
	if out.idle, err = r.singleChanges(ctx); err != nil {
		return err
	}
	clear(r.single)
	return r.remove(ctx, free)
}

// measureBoth creates all objects, those of both accounts in turn.
func (r *rig) measureBoth(ctx context.Context, out *result) error {
	r.say("%.1f s; now %d in two accounts", out.alone.Seconds(), r.o.n)
	before := r.calls()
	began := time.Now()
	if err := r.create(ctx, free, limited); err != nil {
		return err
	}
	out.creates = time.Since(began)
	if err := r.awaitDone(ctx, free); err != nil {
		return err
	}
	out.free = time.Since(began)
	if err := r.awaitDone(ctx, limited); err != nil {
		return err
	}
	out.limited = time.Since(began)
	out.calls = r.calls().since(before)
	var err error
	if _, out.peak, err = figures.MemoryOf(r.operator.PID()); err != nil {
		return err
	}
	return r.compare(ctx, 0)
}

// measureBusy changes all objects of the account with a limit, and meanwhile single ones of the other.
func (r *rig) measureBusy(ctx context.Context, out *result) error {
	r.say("%.1f s and %.1f s; now all of the account with a limit change", out.free.Seconds(), out.limited.Seconds())
	before := r.calls()
	began := time.Now()
	changed := make(chan error, 1)
	go func() { changed <- r.change(ctx, limited, 1) }()
	var err error
	out.busy, err = r.singleChanges(ctx)
	if err := errors.Join(err, <-changed); err != nil {
		return err
	}
	if err := r.awaitDone(ctx, limited); err != nil {
		return err
	}
	out.changed = time.Since(began)
	out.changeCalls = r.calls().since(before)
	return r.compare(ctx, 1)
}

// measureRestart starts the operator again: it has nothing to do.
func (r *rig) measureRestart(ctx context.Context, out *result) error {
	r.say("%.1f s; now the operator starts again", out.changed.Seconds())
	before := r.calls()
	r.operator.Stop()
	if err := r.startOperator(ctx); err != nil {
		return err
	}
	if err := figures.Pause(ctx, quiet); err != nil {
		return err
	}
	out.restartCalls = r.calls().since(before)
	return r.compare(ctx, 1)
}

// measureEnd deletes everything.
func (r *rig) measureEnd(ctx context.Context, out *result) error {
	r.say("deleting all")
	before := r.calls()
	began := time.Now()
	if err := r.remove(ctx, free, limited); err != nil {
		return err
	}
	out.gone = time.Since(began)
	out.goneCalls = r.calls().since(before)
	return r.compareGone(ctx)
}
