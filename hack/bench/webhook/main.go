// Command webhook measures DNSRecords of one DNSClass: a real kube-apiserver with etcd, the operator's own binary, the reference server of
// the webhook protocol and a real BIND behind it, all started for it on loopback and ended afterwards. docs/performance.md says what
// the figures mean.
//
//	go run ./hack/bench/webhook -n 10000
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
	changes int
	log     string
	marks   bool
}

func main() { figures.Main("webhook", run) }

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("webhook", flag.ContinueOnError)
	f.SetOutput(usage)
	f.IntVar(&o.n, "n", 10000, "DNSRecords of the class")
	f.IntVar(&o.workers, "workers", 16, "creates at the same time")
	f.IntVar(&o.changes, "changes", 100, "single changes when nothing else happens")
	f.StringVar(&o.log, "log", "", "`file` for the operator's log")
	f.BoolVar(&o.marks, "marks", false, "have the API server mark new DNSRecords, as the chart does with homelab.marks")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.n < 1 || o.workers < 1 || o.changes < 1 {
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
	out := &result{n: r.o.n}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	r.say("creating %d DNSRecords without the operator", r.o.n)
	if out.alone, err = r.createsAlone(ctx); err != nil {
		return nil, err
	}
	r.say("%.1f s; now with the operator", out.alone.Seconds())
	if err := r.startOperator(ctx); err != nil {
		return nil, err
	}
	if err := r.startMarks(ctx); err != nil {
		return nil, err
	}
	if err := r.loaded(ctx, out); err != nil {
		return nil, err
	}
	r.say("at BIND after %.1f s, all statuses after %.1f s; %d single changes", out.served.Seconds(), out.status.Seconds(), r.o.changes)
	if out.changes, err = r.singleChanges(ctx); err != nil {
		return nil, err
	}
	r.say("deleting all")
	began := time.Now()
	err = r.unload(ctx)
	out.gone = time.Since(began)
	return out, err
}
