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
	if f.times, err = b.bareChanges(ctx); err != nil {
		return f, err
	}
	if f.resting, err = b.rest(ctx); err != nil {
		return f, err
	}
	return f, b.reset(ctx)
}

// bareChanges measures the least that anybody has to do for a change.
func (b *bench) bareChanges(ctx context.Context) (figures.Times, error) {
	events, err := b.Watch(ctx, &corev1.ServiceList{}, namespace)
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	return rig.TimeBare(ctx, b.bind, events, b.o.changes, func(i int) rig.Bare[*corev1.Service] {
		which := b.pick(i)
		change := b.readdressed(i)
		return rig.Bare[*corev1.Service]{Change: change, Pause: pause(i), Written: func(s *corev1.Service) bool {
			in := s.Status.LoadBalancer.Ingress
			return s.Name == serviceName(which) && len(in) == 1 && in[0].IP == change.To
		}}
	})
}
