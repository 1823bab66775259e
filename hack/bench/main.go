// Command bench measures the whole system: a real kube-apiserver with etcd, a real BIND and the operator's own binary, all
// started for it on loopback and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench -n 10000              the table; with BENCH_OUT=file also one JSON object
//	go run ./hack/bench -n 10000 -rounds 3    medians of three rounds
//	go run ./hack/bench -n 10000 -idle 15m    and an idle phase with audits every two minutes
//	go run ./hack/bench -n 10000 -cpuprofile cpu.pprof
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
	rounds  int
	changes int
	idle    time.Duration
	profile string
	log     string
}

func main() { figures.Main("bench", run) }

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.n, "n", 10000, "Records in the zone")
	f.IntVar(&o.workers, "workers", 16, "creates at the same time")
	f.IntVar(&o.rounds, "rounds", 1, "how often the creates are measured, without and with the operator; figures are medians")
	f.IntVar(&o.changes, "changes", 100, "single changes on the idle zone, and repetitions of the floor")
	f.DurationVar(&o.idle, "idle", 0, "how long to watch the idle operator with audits every two minutes; 0: not at all")
	f.StringVar(&o.profile, "cpuprofile", "", "`file` for a CPU profile of the operator under load; file.apiserver gets the API server's, file.heap the operator's heap afterwards")
	f.StringVar(&o.log, "log", "", "`file` for the operator's log")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.n < 1 || o.workers < 1 || o.rounds < 1 || o.changes < 1 {
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
	result, err := measure(ctx, r, o)
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
func measure(ctx context.Context, r *rig, o options) (*result, error) {
	result := &result{n: o.n}
	r.say("warming up")
	if err := r.warmUp(ctx); err != nil {
		return nil, err
	}
	for i := range o.rounds {
		r.say("round %d of %d: creating %d Records without the operator", i+1, o.rounds, o.n)
		alone, err := r.createsAlone(ctx)
		if err != nil {
			return nil, err
		}
		r.say("%.1f s; now with the operator", alone.creates.Seconds())
		one, err := r.loaded(ctx, alone)
		if err != nil {
			return nil, err
		}
		r.say("served after %.1f s, all statuses after %.1f s", one.served.Seconds(), one.status.Seconds())
		result.rounds = append(result.rounds, one)
		if i == o.rounds-1 {
			break
		}
		r.say("deleting them")
		if err := r.unload(ctx); err != nil {
			return nil, err
		}
	}
	return result, r.onLoadedZone(ctx, result)
}

// onLoadedZone measures single changes, the idle operator and the floor.
func (r *rig) onLoadedZone(ctx context.Context, result *result) (err error) {
	r.say("%d single changes", r.o.changes)
	if result.changes, err = r.singleChanges(ctx); err != nil {
		return err
	}
	if r.o.idle > 0 {
		r.say("idle for %s", r.o.idle)
		if result.idle, err = r.idle(ctx); err != nil {
			return err
		}
	}
	r.stopOperator()
	r.say("the floor: the same changes by a bare client")
	result.floor, err = r.floor(ctx)
	return err
}
