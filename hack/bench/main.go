// Command bench measures the whole system: a real kube-apiserver with etcd, a real BIND and the operator's own binary,
// all started for it on loopback and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench -n 10000              the table; with BENCH_OUT=file also one JSON object
//	go run ./hack/bench -n 10000 -rounds 3    medians of three rounds
//	go run ./hack/bench -n 10000 -idle 15m    and an idle phase with audits every two minutes
//	go run ./hack/bench -n 10000 -cpuprofile cpu.pprof
package main

import (
	"context"
	"flag"
	"io"
	"os"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// options are the flags.
type options struct {
	rig.Options
	n       int
	rounds  int
	changes int
}

func main() {
	var o options
	rig.Main("bench", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 10000, "Records in the zone")
	f.IntVar(&o.rounds, "rounds", 1,
		"how often the creates are measured, without and with the operator; figures are medians")
	f.IntVar(&o.changes, "changes", 100, "single changes on the idle zone, and repetitions of the floor")
	f.DurationVar(&o.Idle, "idle", 0, "how long to watch the idle operator with audits every two minutes; 0: not at all")
	f.StringVar(&o.Profile, "cpuprofile", "", "`file` for a CPU profile of the operator under load; file.apiserver gets "+
		"the API server's, file.heap the operator's heap afterwards")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0", o.n > 0 && o.rounds > 0 && o.changes > 0
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o}
	if err := b.start(ctx); err != nil {
		return err
	}
	result, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := result.table(out); err != nil {
		return err
	}
	if file := os.Getenv("BENCH_OUT"); file != "" {
		return result.save(file)
	}
	return nil
}

// measure does all rounds, and after the last one what needs a loaded zone.
func (b *bench) measure(ctx context.Context) (*result, error) {
	load, err := figures.Load()
	if err != nil {
		return nil, err
	}
	result := &result{n: b.o.n, before: load}
	b.Say("warming up")
	if err := b.warmUp(ctx); err != nil {
		return nil, err
	}
	for i := range b.o.rounds {
		b.Say("round %d of %d: creating %d Records without the operator", i+1, b.o.rounds, b.o.n)
		alone, err := b.createsAlone(ctx)
		if err != nil {
			return nil, err
		}
		b.Say("%.1f s; now with the operator", alone.creates.Seconds())
		one, err := b.loaded(ctx, alone)
		if err != nil {
			return nil, err
		}
		b.Say("served after %.1f s, all statuses after %.1f s", one.served.Seconds(), one.status.Seconds())
		result.rounds = append(result.rounds, one)
		if i == b.o.rounds-1 {
			break
		}
		b.Say("deleting them")
		if err := b.unload(ctx); err != nil {
			return nil, err
		}
	}
	if err := b.onLoadedZone(ctx, result); err != nil {
		return nil, err
	}
	result.after, err = figures.Load()
	return result, err
}

// onLoadedZone measures single changes, the idle operator and the floor.
func (b *bench) onLoadedZone(ctx context.Context, result *result) (err error) {
	b.Say("%d single changes", b.o.changes)
	if result.changes, err = b.singleChanges(ctx); err != nil {
		return err
	}
	if b.o.Idle > 0 {
		b.Say("idle for %s", b.o.Idle)
		if result.idle, err = b.idle(ctx); err != nil {
			return err
		}
	}
	b.StopOperator()
	b.Say("the floor: the same changes by a bare client")
	result.floor, err = b.floor(ctx)
	return err
}
