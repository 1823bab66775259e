// Command fleet measures zones and records of the dialect bindy on fleets of BIND: a real control plane with a real node, whose Pods
// are BIND and the sidecar, and the operator's own binary beside it with the rights that the chart gives. It needs Linux and root.
// Everything is started for it and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/fleet                       one zone of 10,000 ARecords, then 1,000 zones of 10
//	go run ./hack/bench/fleet -n 1000 -zones 100    smaller ones
//	go run ./hack/bench/fleet -idle 15m             and an idle phase with audits every two minutes
//	go run ./hack/bench/fleet -cpuprofile cpu       cpu.one and cpu.many
//
// With BENCH_OUT=file the figures are added to the JSON object in that file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// options are the flags.
type options struct {
	n           int
	zones       int
	records     int
	primaries   int
	secondaries int
	workers     int
	changes     int
	idle        time.Duration
	profile     string
	log         string
}

func main() { figures.Main("fleet", run) }

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("fleet", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.n, "n", 10000, "ARecords in one zone; 0: leave that out")
	f.IntVar(&o.zones, "zones", 1000, "zones in the second part; 0: leave that out")
	f.IntVar(&o.records, "records", 10, "ARecords in each of these")
	f.IntVar(&o.primaries, "primaries", 2, "primary servers")
	f.IntVar(&o.secondaries, "secondaries", 2, "secondary servers")
	f.IntVar(&o.workers, "workers", 16, "creates at the same time")
	f.IntVar(&o.changes, "changes", 100, "single changes when nothing else happens, and repetitions of the floor")
	f.DurationVar(&o.idle, "idle", 0, "how long to watch the idle operator after each part, with audits every two minutes; 0: not at all")
	f.StringVar(&o.profile, "cpuprofile", "", "`file` for CPU profiles of the operator under load: file.one, file.many; .heap: its heap afterwards")
	f.StringVar(&o.log, "log", "", "`file` for the operator's log")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.n+o.zones < 1 || o.records < 1 || o.primaries < 1 || o.workers < 1 || o.changes < 1 {
		return o, errors.New("flags need numbers above 0, and there are no arguments; see -help")
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
	for _, l := range []load{{"one", 1, o.n}, {"many", o.zones, o.records}} {
		if l.zones*l.records == 0 {
			continue
		}
		result, err := r.measure(ctx, l)
		if err != nil {
			return fmt.Errorf("with %s: %w", l, err)
		}
		if err := result.print(out); err != nil {
			return err
		}
		if err := figures.Add(os.Getenv("BENCH_OUT"), result.figures()); err != nil {
			return err
		}
	}
	return nil
}

// measure does everything with one load, and removes it.
func (r *rig) measure(ctx context.Context, l load) (*result, error) {
	out := &result{load: l, o: r.o}
	r.stopOperator()
	r.say("%s: creating them without the operator", l)
	var err error
	if out.alone, err = r.createsAlone(ctx, l); err != nil {
		return nil, err
	}
	r.say("%.1f s; now with the operator", out.alone.creates.Seconds())
	if out.loaded, err = r.loaded(ctx, l, out.alone.creates); err != nil {
		return nil, err
	}
	r.say("served after %.1f s, all statuses after %.1f s; %d single changes", out.loaded.served.Seconds(), out.loaded.status.Seconds(), r.o.changes)
	if out.changes, err = r.singleChanges(ctx, l); err != nil {
		return nil, err
	}
	if r.o.idle > 0 {
		r.say("idle for %s", r.o.idle)
		if out.idle, err = r.during(ctx, func() error { return figures.Pause(ctx, r.o.idle) }); err != nil {
			return nil, err
		}
	}
	r.say("the operator starts again")
	r.stopOperator()
	if out.restart, err = r.during(ctx, func() error { return r.startOperator(ctx) }); err != nil {
		return nil, err
	}
	r.stopOperator()
	r.say("the floor: the same changes by a bare client")
	if out.floor, err = r.floor(ctx, l); err != nil {
		return nil, err
	}
	if err := r.startOperator(ctx); err != nil {
		return nil, err
	}
	r.say("deleting all")
	began := time.Now()
	err = r.unload(ctx, l)
	out.gone = time.Since(began)
	return out, err
}
