// Command fleet measures zones and records of the dialect bindy on fleets of BIND: a real control plane with a real
// node, whose Pods are BIND and the sidecar, and the operator's own binary beside it with the rights that the chart
// gives. It needs Linux and root. Everything is started for it and ended afterwards. docs/performance.md says what the
// figures mean.
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
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// options are the flags.
type options struct {
	rig.Options
	n           int
	zones       int
	records     int
	primaries   int
	secondaries int
	changes     int
}

func main() {
	var o options
	rig.Main("fleet", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 10000, "ARecords in one zone; 0: leave that out")
	f.IntVar(&o.zones, "zones", 1000, "zones in the second part; 0: leave that out")
	f.IntVar(&o.records, "records", 10, "ARecords in each of these")
	f.IntVar(&o.primaries, "primaries", 2, "primary servers")
	f.IntVar(&o.secondaries, "secondaries", 2, "secondary servers")
	f.IntVar(&o.changes, "changes", 100, "single changes when nothing else happens, and repetitions of the floor")
	f.DurationVar(&o.Idle, "idle", 0,
		"how long to watch the idle operator after each part, with audits every two minutes; 0: not at all")
	f.StringVar(&o.Profile, "cpuprofile", "",
		"`file` for CPU profiles of the operator under load: file.one, file.many; .heap: its heap afterwards")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0", o.n+o.zones > 0 && o.records > 0 && o.primaries > 0 && o.changes > 0
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o}
	if err := b.start(ctx); err != nil {
		return err
	}
	for _, l := range []load{{"one", 1, o.n}, {"many", o.zones, o.records}} {
		if l.zones*l.records == 0 {
			continue
		}
		result, err := b.measure(ctx, l)
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
func (b *bench) measure(ctx context.Context, l load) (_ *result, err error) {
	out := &result{load: l, o: b.o}
	b.StopOperator()
	b.Say("%s: creating them without the operator", l)
	if out.alone, err = b.createsAlone(ctx, l); err != nil {
		return nil, err
	}
	b.Say("%.1f s; now with the operator", out.alone.creates.Seconds())
	if out.loaded, err = b.loaded(ctx, l, out.alone.creates); err != nil {
		return nil, err
	}
	b.Say("served after %.1f s, all statuses after %.1f s; %d single changes", out.loaded.served.Seconds(),
		out.loaded.status.Seconds(), b.o.changes)
	if out.changes, err = b.singleChanges(ctx, l); err != nil {
		return nil, err
	}
	if b.o.Idle > 0 {
		b.Say("idle for %s", b.o.Idle)
		if out.idle, err = b.during(ctx, func() error { return figures.Pause(ctx, b.o.Idle) }); err != nil {
			return nil, err
		}
	}
	b.Say("the operator starts again")
	b.StopOperator()
	if out.restart, err = b.during(ctx, func() error { return b.startOperator(ctx) }); err != nil {
		return nil, err
	}
	b.StopOperator()
	b.Say("the floor: the same changes by a bare client")
	if out.floor, err = b.floor(ctx, l); err != nil {
		return nil, err
	}
	if err := b.startOperator(ctx); err != nil {
		return nil, err
	}
	b.Say("deleting all")
	began := time.Now()
	err = b.unload(ctx, l)
	out.gone = time.Since(began)
	return out, err
}
