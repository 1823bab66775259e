// Command sources measures how Services come by their names: by the operator, and by external-dns itself, one after the
// other in one run, for the same Services, on the same kube-apiserver and the same BIND. All is started for it on
// loopback and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/sources -n 10000         the table; with BENCH_OUT=file also figures in one JSON object
//	go run ./hack/bench/sources -n 10000 -alone  without external-dns
//	go run ./hack/bench/sources -n 10000 -alone -cpuprofile cpu.pprof
package main

import (
	"context"
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
	changes int
	rest    time.Duration
	alone   bool
}

func main() {
	var o options
	rig.Main("sources", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 10000, "Services with a name each")
	f.IntVar(&o.changes, "changes", 30, "changes of one address, for each that is measured and for the floor")
	f.DurationVar(&o.rest, "rest", time.Minute, "how long each is watched when nothing changes")
	f.BoolVar(&o.alone, "alone", false, "without external-dns")
	f.StringVar(&o.Profile, "cpuprofile", "",
		"`file` for a CPU profile of the operator during single changes; file.apiserver gets the API server's")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0, and no more Services than a cluster has addresses",
		o.n > 0 && o.n <= 60000 && o.changes > 0 && o.rest > 0
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o}
	all, err := b.contenders(ctx)
	if err != nil {
		return err
	}
	load, err := figures.Load()
	if err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	b.Say("the floor: the same by a bare client")
	results := &results{n: o.n, load: load}
	if results.floor, err = b.floor(ctx); err != nil {
		return err
	}
	for _, c := range all {
		one, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		results.all = append(results.all, one)
	}
	if err := results.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), results.figures())
}
