package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// between is the pause before each change: the status of the one before is written by then.
const between = 150 * time.Millisecond

// pick spreads changes over the zone.
func (b *bench) pick(i int) int { return i * 7919 % b.o.n }

func (b *bench) patch(ctx context.Context, i int, address string) error {
	body := fmt.Appendf(nil, `{"spec":{"rdata":%q}}`, address)
	return b.Kube.Patch(ctx, record(i), client.RawPatch("application/merge-patch+json", body))
}

// singleChanges measures from the beginning of a write to the API server until BIND answers with what was written.
func (b *bench) singleChanges(ctx context.Context) (figures.Times, error) {
	asker, err := b.bind.Asker()
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	out, err := asker.Time(ctx, b.o.changes, between, func(i int) rig.Change {
		return b.change(i, figures.NewAddress(i))
	})
	if err != nil {
		return nil, err
	}
	return out, b.quiet(ctx)
}

// floor measures the least that any controller has to do for a change. The operator is stopped.
func (b *bench) floor(ctx context.Context) (figures.Times, error) {
	events, err := b.Watch(ctx, &kubizone.RecordList{}, namespace)
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	return rig.TimeBare(ctx, b.bind, events, b.o.changes, func(i int) rig.Bare[*kubizone.Record] {
		which := b.pick(i)
		change := b.change(i, figures.NewAddress(b.o.changes+i))
		return rig.Bare[*kubizone.Record]{Change: change, Pause: between, Written: func(o *kubizone.Record) bool {
			return o.Name == recordName(which) && o.Spec.RData == change.To
		}}
	})
}

// change gives one of the Records another address.
func (b *bench) change(i int, to string) rig.Change {
	which := b.pick(i)
	return rig.Change{Name: fqdn(which), To: to, Write: func(ctx context.Context) error {
		return b.patch(ctx, which, to)
	}}
}
