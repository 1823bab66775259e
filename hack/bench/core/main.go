// Command core measures what decides and delivers, with as many Records as no API server takes in: it feeds the Core
// itself, whose zones the engine delivers to the embedded name server, in this process, and to a BIND beside it.
// docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/core -n 1000000 -zones 1000 -tenants 100 -rate 200 -for 10m
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
	"runtime/debug"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// options are the flags.
type options struct {
	n, zones, tenants, rate int
	lasts                   time.Duration
	profile                 string // a file; "": none
}

func main() { figures.Main("core", run) }

func parse(args []string, progress io.Writer) (o options, err error) {
	f := flag.NewFlagSet("core", flag.ContinueOnError)
	f.SetOutput(progress)
	f.IntVar(&o.n, "n", 1_000_000, "Records")
	f.IntVar(&o.zones, "zones", 1000, "Zones that they are in")
	f.IntVar(&o.tenants, "tenants", 100, "namespaces that these are in")
	f.IntVar(&o.rate, "rate", 200, "changes a second")
	f.DurationVar(&o.lasts, "for", 10*time.Minute, "how long they go on")
	f.StringVar(&o.profile, "cpuprofile", "", "`file` for a CPU profile of the cold start")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || min(o.tenants, o.rate, int(o.lasts/time.Second)) < 1 || o.zones < o.tenants || o.n < o.zones {
		return o, errors.New("flags need numbers above 0, a tenant a Zone, a Zone a Record, and there are no arguments; " +
			"see -help")
	}
	if o.lasts.Seconds()*float64(o.rate) > mostChanges {
		return o, fmt.Errorf("there are addresses for %d changes; have fewer a second, or a shorter -for", mostChanges)
	}
	return o, nil
}

// mostChanges is less than figures.NewAddress has addresses for.
const mostChanges = 900_000

// run measures and prints; everything that it starts is gone when it returns.
func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	debug.SetGCPercent(40) // as the operator has it with a heap of this size
	b := &bench{options: o, progress: progress, began: time.Now()}
	if b.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	end, err := b.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	found, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := found.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), found.figures())
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "%7.1f s  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}
