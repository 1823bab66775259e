package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// killLeaders kills leaders, one after the other, as a machine that is lost does.
func (b *bench) killLeaders(ctx context.Context, out *result) (err error) {
	for kill := range b.o.kills {
		b.Say("killing leader %d of %d", kill+1, b.o.kills)
		if err := b.startStandby(ctx, out); err != nil {
			return err
		}
		if err := b.kill(ctx, kill, out); err != nil {
			return err
		}
	}
	return nil
}

// startStandby starts the operator that will go on, and waits until it says that it is ready.
func (b *bench) startStandby(ctx context.Context, out *result) (err error) {
	began := time.Now()
	if b.standby, err = b.StartReplica(); err != nil {
		return err
	}
	err = b.Until(ctx, 10*time.Minute, func() (bool, error) { return b.standby.Ready(), nil })
	if err != nil {
		return fmt.Errorf("waiting for the second operator to be ready: %w", err)
	}
	out.ready = append(out.ready, time.Since(began))
	memory, _, err := figures.MemoryOf(b.standby.PID())
	out.waiting = max(out.waiting, memory)
	return err
}

func (b *bench) stopStandby() {
	if b.standby != nil {
		b.standby.Stop()
	}
}

// kill kills the leader, and changes Records at once. The time of each begins when the Lease of the dead one ends:
// until then it may still act, for all that anybody knows.
func (b *bench) kill(ctx context.Context, kill int, out *result) error {
	b.Operator.Kill()
	b.Operator, b.standby = b.standby, nil
	address := func(zone int) string { return figures.NewAddress(kill*b.o.changes + zone) }
	_, err := b.Each(ctx, b.o.changes, func(ctx context.Context, zone int) error {
		return b.Merge(ctx, b.record(zone), map[string]any{"spec": map[string]any{"rdata": address(zone)}})
	})
	if err != nil {
		return err
	}
	ends, err := b.leaseEnds(ctx)
	if err != nil {
		return err
	}
	if err := figures.Pause(ctx, time.Until(ends)); err != nil {
		return err
	}
	var longest time.Duration
	for zone := range b.o.changes {
		if err := b.bind.asker.Await(ctx, b.name(zone), address(zone)); err != nil {
			return err
		}
		longest = time.Since(ends)
		out.beyond = append(out.beyond, longest)
	}
	b.Say("all %d changes were served %.1f s after the end of its Lease", b.o.changes, longest.Seconds())
	return nil
}

// leaseEnds is when the leader, which is dead, is no leader any more.
func (b *bench) leaseEnds(ctx context.Context) (time.Time, error) {
	var lease coordinationv1.Lease
	key := client.ObjectKey{Namespace: testoperator.Namespace, Name: zonefold.LeaderLease}
	if err := b.Kube.Get(ctx, key, &lease); err != nil {
		return time.Time{}, err
	}
	if lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil {
		return time.Time{}, fmt.Errorf("the Lease %s does not say until when there is a leader", key)
	}
	return lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second), nil
}
