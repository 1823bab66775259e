package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
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

func record(i int) *kubizone.Record {
	return &kubizone.Record{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: namespace},
		Spec:       kubizone.RecordSpec{DomainName: recordName(i) + "." + zoneName, Type: "A", RData: figures.Address(i)},
	}
}

// each calls f for every number below n, by some workers, in order.
func (r *rig) each(ctx context.Context, n int, f func(context.Context, int) error) error {
	return figures.Each(ctx, r.o.workers, n, f)
}

func (r *rig) create(ctx context.Context, n int) (time.Duration, error) {
	began := time.Now()
	err := r.each(ctx, n, func(ctx context.Context, i int) error { return r.kube.Create(ctx, record(i)) })
	return time.Since(began), err
}

func (r *rig) remove(ctx context.Context, n int) error {
	return r.each(ctx, n, func(ctx context.Context, i int) error { return client.IgnoreNotFound(r.kube.Delete(ctx, record(i))) })
}

// warmUp has caches, connections and etcd's file grow before anything is measured.
func (r *rig) warmUp(ctx context.Context) error {
	n := min(r.o.n, 1000)
	if _, err := r.create(ctx, n); err != nil {
		return err
	}
	return r.remove(ctx, n)
}

// createsAlone creates the Records without an operator and deletes them again.
func (r *rig) createsAlone(ctx context.Context) (one round, err error) {
	before, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	if one.creates, err = r.create(ctx, r.o.n); err != nil {
		return one, err
	}
	after, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	one.cpu = figures.Less(after, before)
	wrote, err := r.writeAlone(ctx)
	if err != nil {
		return one, err
	}
	one.bare = one.creates + wrote
	return one, r.remove(ctx, r.o.n)
}

// loaded creates the Records with the operator running.
func (r *rig) loaded(ctx context.Context, one round) (round, error) {
	if err := r.startOperator(ctx); err != nil {
		return one, err
	}
	profiled := r.profile(ctx, one.creates)
	before, err := r.usage(ctx)
	if err != nil {
		return one, err
	}
	began := time.Now()
	if one.during, err = r.create(ctx, r.o.n); err != nil {
		return one, err
	}
	if one.served, err = r.awaitServed(ctx, began); err != nil {
		return one, err
	}
	serving, err := figures.CPUTimes()
	if err != nil {
		return one, err
	}
	one.serving = figures.Less(serving, before.cpu)
	if one.status, err = r.awaitStatus(ctx, began); err != nil {
		return one, err
	}
	err = r.until(ctx, 5*time.Minute, func() (bool, error) {
		z, err := r.zone(ctx)
		return err == nil && z.Status.EntryCount > int32(r.o.n) && figures.Ready(z.Status.Conditions, z.Generation), err
	})
	if err != nil {
		return one, fmt.Errorf("waiting for the status of the Zone: %w", err)
	}
	one.zone = time.Since(began)
	if err := r.quiet(ctx); err != nil {
		return one, err
	}
	after, err := r.usage(ctx)
	if err != nil {
		return one, err
	}
	one.used = after.since(before)
	return one, errors.Join(<-profiled, r.profileHeap(ctx))
}

// awaitServed asks for the Records that were created last until they are all served, and makes sure of the others by a transfer.
func (r *rig) awaitServed(ctx context.Context, began time.Time) (time.Duration, error) {
	asker, err := r.newAsker()
	if err != nil {
		return 0, err
	}
	defer asker.close()
	for i := r.o.n - 1; i >= max(0, r.o.n-3*r.o.workers); i-- {
		if err := asker.await(ctx, recordName(i)+"."+zoneName, figures.Address(i)); err != nil {
			return 0, err
		}
	}
	for {
		took := time.Since(began)
		missing, err := r.missing(ctx)
		if missing == 0 || err != nil {
			return took, err
		}
		if err := figures.Pause(ctx, 20*time.Millisecond); err != nil {
			return 0, fmt.Errorf("waiting for %d Records to be served: %w", missing, err)
		}
	}
}

// missing transfers the zone and counts the Records that it does not have.
func (r *rig) missing(ctx context.Context) (int, error) {
	zone, err := dnsname.Parse(zoneName)
	if err != nil {
		return 0, err
	}
	sets, err := r.bind.Transfer(ctx, zone)
	if err != nil {
		return 0, err
	}
	found := map[string]string{}
	for _, s := range sets {
		if s.Type == rr.Type(dns.TypeA) {
			found[s.Name.String()] = s.Data[0]
		}
	}
	missing := 0
	for i := range r.o.n {
		if found[recordName(i)+"."+zoneName] != figures.Address(i) {
			missing++
		}
	}
	return missing, nil
}

// unload deletes the Records while the operator runs, waits until BIND has let them go, and stops the operator.
func (r *rig) unload(ctx context.Context) error {
	if err := r.remove(ctx, r.o.n); err != nil {
		return err
	}
	err := r.until(ctx, 5*time.Minute, func() (bool, error) {
		missing, err := r.missing(ctx)
		return missing == r.o.n, err
	})
	if err != nil {
		return fmt.Errorf("waiting for BIND to have none of the Records: %w", err)
	}
	if err := r.quiet(ctx); err != nil {
		return err
	}
	r.stopOperator()
	return nil
}
