// Command updates measures dynamic updates (RFC 2136): clients send them to the operator's own name server, which makes
// Records of them, beside a real kube-apiserver with etcd; all is started for it on loopback and ended afterwards.
// docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/updates -n 5000
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

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// options are the flags. There are as many clients as workers.
type options struct {
	rig.Options
	n      int
	single int
}

func main() {
	var o options
	rig.Main("updates", &o.Options, &o)
}

// Flags implements [rig.Bench].
func (o *options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 5000, "updates that add a name, and as many that give it another address")
	f.IntVar(&o.single, "single", 100, "updates of one client alone, and repetitions of their floor")
	f.StringVar(&o.Profile, "cpuprofile", "",
		"`file` for a CPU profile of the operator while names are added; file.apiserver gets the API server's, and "+
			"file.changes what the operator does while addresses are changed")
}

// Check implements [rig.Bench].
func (o *options) Check() (need string, ok bool) { return "numbers above 0", o.n > 0 && o.single > 0 }

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
	out := &result{n: b.o.n, clients: b.o.Workers}
	var err error
	if out.load, err = figures.Load(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *result) error{b.measureFloor, b.measureAdds, b.measureChanges,
		b.measureSingle} {
		if err := step(ctx, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measureFloor has a bare client create the same Records, without an operator.
func (b *bench) measureFloor(ctx context.Context, out *result) error {
	b.Say("warming up")
	warm := min(b.o.n, 1000)
	if _, err := b.Create(ctx, warm, record); err != nil {
		return err
	}
	if err := b.Remove(ctx, warm, record); err != nil {
		return err
	}
	b.Say("%d Records by a bare client", b.o.n)
	before, err := figures.CPUTimes()
	if err != nil {
		return err
	}
	if out.floor, err = b.Create(ctx, b.o.n, record); err != nil {
		return err
	}
	after, err := figures.CPUTimes()
	if err != nil {
		return err
	}
	out.floorCPU = figures.Less(after, before)
	if out.floorChanges, err = b.changeBare(ctx); err != nil {
		return err
	}
	for i := range b.o.single {
		began := time.Now()
		if err := b.Kube.Create(ctx, record(b.o.n+i)); err != nil {
			return err
		}
		out.floorSingle = append(out.floorSingle, time.Since(began))
	}
	return b.Remove(ctx, b.o.n+b.o.single, record)
}

// changeBare gives every Record another address, and returns how long it takes.
func (b *bench) changeBare(ctx context.Context) (time.Duration, error) {
	return b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"rdata":%q}}`, figures.NewAddress(i)))
		return b.Kube.Patch(ctx, record(i), patch)
	})
}

// measureAdds has every client add names that are new, as DHCP servers do.
func (b *bench) measureAdds(ctx context.Context, out *result) (err error) {
	b.Say("%.1f s; now by updates of %d clients", out.floor.Seconds(), b.o.Workers)
	if err := b.startOperator(ctx); err != nil {
		return err
	}
	profiled := b.ProfileCPU(ctx, "", out.floor)
	out.adds, err = b.burst(ctx, func(i int) change { return change{add: true, i: i, to: figures.Address(i)} })
	return errors.Join(err, <-profiled)
}

// measureChanges gives every name another address.
func (b *bench) measureChanges(ctx context.Context, out *result) (err error) {
	b.Say("%.1f s; now every name gets another address", out.adds.took.Seconds())
	profiled := b.ProfileCPU(ctx, ".changes", out.floorChanges)
	out.changes, err = b.burst(ctx, func(i int) change { return change{i: i, to: figures.NewAddress(i)} })
	return errors.Join(err, <-profiled)
}

// measureSingle has one client add names, one at a time.
func (b *bench) measureSingle(ctx context.Context, out *result) error {
	b.Say("%.1f s; now one client alone", out.changes.took.Seconds())
	client, err := b.client()
	if err != nil {
		return err
	}
	defer client.close()
	for i := range b.o.single {
		if err := figures.Pause(ctx, between); err != nil {
			return err
		}
		took, err := client.send(change{add: true, i: b.o.n + i, to: figures.Address(b.o.n + i)})
		if err != nil {
			return err
		}
		out.single = append(out.single, took)
	}
	return nil
}
