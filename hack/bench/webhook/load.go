package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// between is the pause before each change: the status of the one before is written by then.
const between = 200 * time.Millisecond

func recordName(i int) string { return fmt.Sprintf("r-%06d", i) }

func fqdn(i int) string { return recordName(i) + "." + domain + "." }

func record(i int) client.Object {
	return &v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: namespace},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "A", Domain: domain, Subdomain: recordName(i), Values: []string{figures.Address(i)},
			DNSClassRef: v1alpha1.DNSClassRef{Name: className},
		},
	}
}

// createsAlone creates the objects without an operator and deletes them again. A first few have caches, connections and
// etcd's file grow before.
func (b *bench) createsAlone(ctx context.Context) (time.Duration, error) {
	warm := min(b.o.n, 1000)
	if _, err := b.Create(ctx, warm, record); err != nil {
		return 0, err
	}
	if err := b.Remove(ctx, warm, record); err != nil {
		return 0, err
	}
	took, err := b.Create(ctx, b.o.n, record)
	if err != nil {
		return 0, err
	}
	return took, b.Remove(ctx, b.o.n, record)
}

// loaded creates the objects with the operator running, and waits for all that comes of it.
func (b *bench) loaded(ctx context.Context, out *result) error {
	before, err := b.usage(ctx)
	if err != nil {
		return err
	}
	profiled := b.ProfileCPU(ctx, "", out.alone)
	began := time.Now()
	if out.during, err = b.Create(ctx, b.o.n, record); err != nil {
		return err
	}
	if err := b.awaitServed(ctx); err != nil {
		return err
	}
	out.served = time.Since(began)
	if err := b.awaitStatus(ctx); err != nil {
		return err
	}
	out.status = time.Since(began)
	after, err := b.usage(ctx)
	out.used = after.since(before)
	return errors.Join(err, <-profiled, b.ProfileHeap(ctx, ""))
}

// awaitServed waits until BIND has every record, by transfers.
func (b *bench) awaitServed(ctx context.Context) error {
	left := b.o.n
	err := b.Until(ctx, patience, func() (_ bool, err error) {
		left, err = b.bind.Missing(ctx, b.o.n, fqdn)
		return left == 0 && err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d records that BIND does not have: %w", left, err)
	}
	return nil
}

// awaitStatus waits until each object says that it is ready. They are read when the last one is: to read them costs
// time that is to be measured.
func (b *bench) awaitStatus(ctx context.Context) error {
	left := b.o.n
	err := b.Until(ctx, patience, func() (bool, error) {
		var last v1alpha1.DNSRecord
		err := b.Kube.Get(ctx, client.ObjectKeyFromObject(record(b.o.n-1)), &last)
		if err != nil || !figures.Ready(last.Status.Conditions, last.Generation) {
			return false, err
		}
		left, err = b.unfinished(ctx)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d DNSRecords that are not ready: %w", left, err)
	}
	return nil
}

func (b *bench) unfinished(ctx context.Context) (int, error) {
	var list v1alpha1.DNSRecordList
	if err := b.Kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return b.o.n, err
	}
	left := b.o.n - len(list.Items)
	for i := range list.Items {
		if o := &list.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) {
			left++
		}
	}
	return left, nil
}

// unload deletes everything while the operator runs, and waits until it has let all of it go.
func (b *bench) unload(ctx context.Context, out *result) error {
	before, err := b.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.Remove(ctx, b.o.n, record); err != nil {
		return err
	}
	out.deletes = time.Since(began)
	err = b.Until(ctx, patience, func() (bool, error) {
		var list v1alpha1.DNSRecordList
		err := b.Kube.List(ctx, &list, client.InNamespace(namespace), client.Limit(1))
		return err == nil && len(list.Items) == 0, err
	})
	if err != nil {
		return err
	}
	out.gone = time.Since(began)
	after, err := b.usage(ctx)
	out.unused = after.since(before)
	return err
}

// singleChanges measures from the beginning of a write to the API server until BIND answers with what was written.
func (b *bench) singleChanges(ctx context.Context) (figures.Times, error) {
	asker, err := b.bind.Asker()
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	return asker.Time(ctx, b.o.changes, between, func(i int) rig.Change {
		which, to := i*7919%b.o.n, figures.NewAddress(i)
		body := fmt.Appendf(nil, `{"spec":{"values":[%q]}}`, to)
		return rig.Change{Name: fqdn(which), To: to, Write: func(ctx context.Context) error {
			return b.Kube.Patch(ctx, record(which), client.RawPatch("application/merge-patch+json", body))
		}}
	})
}
