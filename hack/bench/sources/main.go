// Command sources measures how Services or DNSEndpoints come by their names: by the operator, and by external-dns
// itself, one after the other in one run, for the same objects, on the same kube-apiserver and the same BIND. All is
// started for it on loopback and ended afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/sources -n 10000         the table; with BENCH_OUT=file also figures in one JSON object
//	go run ./hack/bench/sources -source service  Services instead of DNSEndpoints
//	go run ./hack/bench/sources -rounds 5        everybody five times, in turns; figures are medians
//	go run ./hack/bench/sources -n 10000 -alone  without external-dns
//	go run ./hack/bench/sources -n 10000 -alone -cpuprofile cpu.pprof
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
	n       int
	source  string
	rounds  int
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
	f.IntVar(&o.n, "n", 10000, "objects with a name each")
	f.StringVar(&o.source, "source", "crd", "`kind` of the objects, as in --source: crd or service")
	f.IntVar(&o.rounds, "rounds", 1, "how often each is measured, in turns; figures are medians")
	f.IntVar(&o.changes, "changes", 20, "changes of one address in a round")
	f.DurationVar(&o.rest, "rest", 30*time.Second, "how long each is watched in a round when nothing changes")
	f.BoolVar(&o.alone, "alone", false, "without external-dns")
	f.StringVar(&o.Profile, "cpuprofile", "",
		"`file` for a CPU profile of the operator during single changes; file.apiserver gets the API server's")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	k, known := kinds()[o.source]
	return "numbers above 0, -source crd or service, and no more Services than a cluster has addresses",
		known && o.n > 0 && o.n <= k.most && o.rounds > 0 && o.changes > 0 && o.rest > 0
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o, kind: kinds()[o.source]}
	all, err := b.contenders(ctx)
	if err != nil {
		return err
	}
	seen := results{bench: b, contenders: all, rounds: make([][]*result, len(all))}
	if seen.before, err = figures.Load(); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	for round := range o.rounds {
		for i, c := range all {
			b.Say("round %d of %d: %s", round+1, o.rounds, c.Name)
			one, err := b.measure(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			seen.rounds[i] = append(seen.rounds[i], one)
		}
	}
	if seen.after, err = figures.Load(); err != nil {
		return err
	}
	comparison := seen.comparison()
	comparison.Markdown(out, 1, "")
	return figures.Add(os.Getenv("BENCH_OUT"), comparison.Figures())
}
