// Command leaders measures many Records in many Zones of many namespaces: a real kube-apiserver with etcd that has them
// all, an operator that finds them, a real BIND, and what it takes when a leader dies and another operator goes on.
// docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/leaders -n 100000 -zones 1000 -tenants 100 -kills 10
//	go run ./hack/bench/leaders -n 300000 -kills 0 -statuses=false
//
// With BENCH_OUT=file the figures are added to the JSON object in that file.
package main

import (
	"context"
	"flag"
	"io"
	"os"

	coordinationv1 "k8s.io/api/coordination/v1"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// options are the flags.
type options struct {
	rig.Options
	n, zones, tenants, kills, changes int
	statuses                          bool
}

func main() {
	var o options
	rig.Main("leaders", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 100_000, "Records")
	f.IntVar(&o.zones, "zones", 1000, "Zones that they are in")
	f.IntVar(&o.tenants, "tenants", 100, "namespaces that these are in")
	f.IntVar(&o.kills, "kills", 10, "how often a leader is killed")
	f.IntVar(&o.changes, "changes", 100, "Records that change while there is no leader, each in another Zone")
	f.BoolVar(&o.statuses, "statuses", true, "wait until all labels and statuses are written")
	f.StringVar(&o.Profile, "cpuprofile", "", "`file` for a CPU profile of the first operator, and with .heap its heap")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) {
	return "numbers above 0, a tenant a Zone, a Zone a Record, and no more changes than Zones",
		min(o.tenants, o.changes) > 0 && o.kills >= 0 && o.tenants <= o.zones && o.changes <= o.zones && o.zones <= o.n
}

// Run implements [rig.Bench].
func (o *options) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	b := &bench{Rig: r, o: o}
	r.AtEnd(b.stopStandby)
	b.Say("building the operator")
	if err := b.Start(ctx, kubizone.AddToScheme, coordinationv1.AddToScheme); err != nil {
		return err
	}
	if err := b.startBIND(ctx); err != nil {
		return err
	}
	found, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := found.print(out); err != nil {
		return err
	}
	return figures.Add(os.Getenv("BENCH_OUT"), found.figures())
}

// A bench is everything that is measured. The leader is the Rig's operator.
type bench struct {
	*rig.Rig
	o       *options
	bind    *server
	standby *testoperator.Process // nil while there is none
}

// measure does everything once.
func (b *bench) measure(ctx context.Context) (*result, error) {
	out := &result{options: b.o}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *result) error{b.fill, b.list, b.begin, b.settle,
		b.killLeaders} {
		if err := step(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}
