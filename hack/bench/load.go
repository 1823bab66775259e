package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A round is one measurement of the creates.
type round struct {
	creates time.Duration            // without the operator
	bare    time.Duration            // the same, and label and status of each written by the same bare client
	cpu     map[string]time.Duration // of all programs, for that
	during  time.Duration            // the same with it
	served  time.Duration            // from the first create until BIND serves all
	status  time.Duration            // until every Record has its label and says that it is ready
	zone    time.Duration            // until the Zone's own status holds all
	serving map[string]time.Duration // CPU of all programs until then
	used    usage                    // of the operator, from the first create until it has nothing to write any more
}

func recordName(i int) string { return fmt.Sprintf("r-%06d", i) }

func fqdn(i int) string { return recordName(i) + "." + zoneName }

func record(i int) client.Object {
	return &kubizone.Record{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: namespace},
		Spec:       kubizone.RecordSpec{DomainName: fqdn(i), Type: "A", RData: figures.Address(i)},
	}
}

// warmUp has caches, connections and etcd's file grow before anything is measured.
func (b *bench) warmUp(ctx context.Context) error {
	n := min(b.o.n, 1000)
	if _, err := b.Create(ctx, n, record); err != nil {
		return err
	}
	return b.Remove(ctx, n, record)
}

// createsAlone creates the Records without an operator and deletes them again.
func (b *bench) createsAlone(ctx context.Context) (one round, err error) {
	before, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	if one.creates, err = b.Create(ctx, b.o.n, record); err != nil {
		return one, err
	}
	after, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	one.cpu = figures.Less(after, before)
	wrote, err := b.writeAlone(ctx)
	if err != nil {
		return one, err
	}
	one.bare = one.creates + wrote
	return one, b.Remove(ctx, b.o.n, record)
}

// loaded creates the Records with the operator running.
func (b *bench) loaded(ctx context.Context, one round) (round, error) {
	if err := b.startOperator(ctx); err != nil {
		return one, err
	}
	profiled := b.ProfileCPU(ctx, "", one.creates)
	before, err := b.usage(ctx)
	if err != nil {
		return one, err
	}
	began := time.Now()
	if one.during, err = b.Create(ctx, b.o.n, record); err != nil {
		return one, err
	}
	if one.served, err = b.awaitServed(ctx, began); err != nil {
		return one, err
	}
	serving, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	one.serving = figures.Less(serving, before.cpu)
	if one.status, err = b.awaitStatus(ctx, began); err != nil {
		return one, err
	}
	if err := b.awaitZone(ctx); err != nil {
		return one, err
	}
	one.zone = time.Since(began)
	if err := b.quiet(ctx); err != nil {
		return one, err
	}
	after, err := b.usage(ctx)
	if err != nil {
		return one, err
	}
	one.used = after.since(before)
	return one, errors.Join(<-profiled, b.ProfileHeap(ctx, ""))
}

// awaitServed asks for the Records that were created last until they are all served, and makes sure of the others by a
// transfer.
func (b *bench) awaitServed(ctx context.Context, began time.Time) (time.Duration, error) {
	asker, err := b.bind.Asker()
	if err != nil {
		return 0, err
	}
	defer asker.Close()
	for i := b.o.n - 1; i >= max(0, b.o.n-3*b.o.Workers); i-- {
		if err := asker.Await(ctx, fqdn(i), figures.Address(i)); err != nil {
			return 0, err
		}
	}
	for {
		took := time.Since(began)
		missing, err := b.bind.Missing(ctx, b.o.n, fqdn)
		if missing == 0 || err != nil {
			return took, err
		}
		if err := figures.Pause(ctx, 20*time.Millisecond); err != nil {
			return 0, fmt.Errorf("waiting for %d Records to be served: %w", missing, err)
		}
	}
}

// awaitZone waits until the Zone's own status holds all Records.
func (b *bench) awaitZone(ctx context.Context) error {
	err := b.Until(ctx, 5*time.Minute, func() (bool, error) {
		z, err := b.zone(ctx)
		return err == nil && z.Status.EntryCount > int32(b.o.n) && figures.Ready(z.Status.Conditions, z.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the status of the Zone: %w", err)
	}
	return nil
}

// unload deletes the Records while the operator runs, waits until BIND has let them go, and stops the operator.
func (b *bench) unload(ctx context.Context) error {
	if err := b.Remove(ctx, b.o.n, record); err != nil {
		return err
	}
	err := b.Until(ctx, 5*time.Minute, func() (bool, error) {
		missing, err := b.bind.Missing(ctx, b.o.n, fqdn)
		return err == nil && missing == b.o.n, err
	})
	if err != nil {
		return fmt.Errorf("waiting for BIND to have none of the Records: %w", err)
	}
	if err := b.quiet(ctx); err != nil {
		return err
	}
	b.StopOperator()
	return nil
}
