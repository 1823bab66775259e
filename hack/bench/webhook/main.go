// Command webhook measures DNSRecords of one DNSClass: a real kube-apiserver with etcd, the operator's own binary, the
// reference server of the webhook protocol and a real BIND behind it, all started for it on loopback and ended
// afterwards. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/webhook -n 10000
//
// With BENCH_OUT=file the figures are added to the JSON object in that file.
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
	changes int
	marks   bool
}

func main() {
	var o options
	rig.Main("webhook", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 10000, "DNSRecords of the class")
	f.IntVar(&o.changes, "changes", 100, "single changes when nothing else happens")
	f.BoolVar(&o.marks, "marks", false, "have the API server mark new DNSRecords, as the chart does with homelab.marks")
	f.StringVar(&o.Profile, "cpuprofile", "", "`file` for a CPU profile of the operator under load; file.apiserver gets "+
		"the API server's, file.heap the operator's heap afterwards")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0", o.n > 0 && o.changes > 0
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
	if err := result.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), result.figures())
}

// measure does everything once.
func (b *bench) measure(ctx context.Context) (*result, error) {
	out := &result{n: b.o.n}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	b.Say("creating %d DNSRecords without the operator", b.o.n)
	if out.alone, err = b.createsAlone(ctx); err != nil {
		return nil, err
	}
	b.Say("%.1f s; now a bare client makes the operator's writes too", out.alone.Seconds())
	if out.bare, err = b.bareWrites(ctx); err != nil {
		return nil, err
	}
	b.Say("creates and marks %.1f s, with statuses %.1f s, deletions %.1f s; now with the operator",
		out.bare.marked.Seconds(), out.bare.status.Seconds(), out.bare.gone.Seconds())
	if err := b.startOperator(ctx); err != nil {
		return nil, err
	}
	if err := b.startMarks(ctx); err != nil {
		return nil, err
	}
	if err := b.loaded(ctx, out); err != nil {
		return nil, err
	}
	b.Say("at BIND after %.1f s, all statuses after %.1f s; %d single changes", out.served.Seconds(), out.status.Seconds(),
		b.o.changes)
	if out.changes, err = b.singleChanges(ctx); err != nil {
		return nil, err
	}
	b.Say("deleting all")
	return out, b.unload(ctx, out)
}
