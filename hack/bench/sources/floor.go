package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// A floor is what it takes a bare client that keeps and judges nothing.
type floor struct {
	served  time.Duration // to list all Services and send their addresses in as few UPDATEs as hold them
	times   figures.Times // of single changes
	resting spent         // when nobody does anything
}

func (b *bench) floor(ctx context.Context) (f floor, err error) {
	updater, err := b.bind.Updater()
	if err != nil {
		return f, err
	}
	defer updater.Close()
	began := time.Now()
	var all corev1.ServiceList
	if err := b.Kube.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		return f, err
	}
	addresses := map[string]string{}
	for _, s := range all.Items {
		addresses[s.Name+"."+zoneName] = s.Status.LoadBalancer.Ingress[0].IP
	}
	if err := updater.Add(zoneName, addresses); err != nil {
		return f, err
	}
	if f.served, err = b.awaitServed(ctx, began); err != nil {
		return f, err
	}
	if f.times, err = b.bareChanges(ctx, updater); err != nil {
		return f, err
	}
	if f.resting, err = b.rest(ctx); err != nil {
		return f, err
	}
	return f, b.reset(ctx)
}

// bareChanges measures the least that anybody has to do: the write, the event of it, one signed UPDATE over a kept
// connection, and the query.
func (b *bench) bareChanges(ctx context.Context, updater *rig.Updater) (out figures.Times, err error) {
	asker, err := b.bind.Asker()
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	events, err := b.Watch(ctx, &corev1.ServiceList{}, namespace)
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	for i := range b.o.changes {
		if err := figures.Pause(ctx, pause(i)); err != nil {
			return nil, err
		}
		which, to := b.pick(i), figures.NewAddress(i)
		write := func(ctx context.Context) error { return b.balance(ctx, which, to) }
		began := time.Now()
		done, err := rig.Notice(ctx, events, write, func(s *corev1.Service) bool {
			in := s.Status.LoadBalancer.Ingress
			return s.Name == serviceName(which) && len(in) == 1 && in[0].IP == to
		})
		if err != nil {
			return nil, err
		}
		if err := updater.Change(zoneName, fqdn(which), to); err != nil {
			return nil, err
		}
		if err := asker.Await(ctx, fqdn(which), to); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
		if err := <-done; err != nil {
			return nil, err
		}
	}
	return out, nil
}
