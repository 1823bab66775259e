package main

import (
	"context"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

// between is the pause before each change: the status of the one before is written by then.
const between = 150 * time.Millisecond

// pick spreads changes over the zone.
func (r *rig) pick(i int) int { return i * 7919 % r.o.n }

func (r *rig) patch(ctx context.Context, i int, address string) error {
	body := fmt.Appendf(nil, `{"spec":{"rdata":%q}}`, address)
	return r.kube.Patch(ctx, record(i), client.RawPatch("application/merge-patch+json", body))
}

// singleChanges measures from the beginning of a write to the API server until BIND answers with what was written.
func (r *rig) singleChanges(ctx context.Context) (figures.Times, error) {
	asker, err := r.newAsker()
	if err != nil {
		return nil, err
	}
	defer asker.close()
	var out figures.Times
	for i := range r.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return nil, err
		}
		which, to := r.pick(i), figures.NewAddress(i)
		began := time.Now()
		if err := r.patch(ctx, which, to); err != nil {
			return nil, err
		}
		if err := asker.await(ctx, recordName(which)+"."+zoneName, to); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	return out, r.quiet(ctx)
}

// floor measures the least that any controller has to do: the write, the event of it, one signed UPDATE over a kept
// connection, and the query. The operator is stopped.
func (r *rig) floor(ctx context.Context) (figures.Times, error) {
	asker, err := r.newAsker()
	if err != nil {
		return nil, err
	}
	defer asker.close()
	updater, err := r.newUpdater()
	if err != nil {
		return nil, err
	}
	defer updater.close()
	events, err := r.watchFromNow(ctx)
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	var out figures.Times
	for i := range r.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return nil, err
		}
		which, to := r.pick(i), figures.NewAddress(r.o.changes+i)
		written := make(chan error, 1)
		began := time.Now()
		go func() { written <- r.patch(ctx, which, to) }()
		if err := awaitEvent(ctx, events, recordName(which), to); err != nil {
			return nil, err
		}
		name := recordName(which) + "." + zoneName
		if err := updater.change(name, to); err != nil {
			return nil, err
		}
		if err := asker.await(ctx, name, to); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
		if err := <-written; err != nil {
			return nil, err
		}
	}
	return out, nil
}

// watchFromNow follows all Records.
func (r *rig) watchFromNow(ctx context.Context) (watch.Interface, error) {
	var list kubizone.RecordList
	if err := r.kube.List(ctx, &list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return nil, err
	}
	return r.kube.Watch(ctx, &list, client.InNamespace(namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
}

func awaitEvent(ctx context.Context, events watch.Interface, name, rdata string) error {
	for {
		select {
		case e, ok := <-events.ResultChan():
			o, is := e.Object.(*kubizone.Record)
			if !ok || !is {
				return fmt.Errorf("the watch of the Records ended: %v", e.Object)
			}
			if o.Name == name && o.Spec.RData == rdata {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
