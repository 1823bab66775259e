package main

import (
	"context"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// addAll is what it takes a bare client that keeps and judges nothing: it lists all objects and sends their addresses
// in as few UPDATEs as hold them.
func (b *bench) addAll(ctx context.Context) (pid int, err error) {
	updater, err := b.bind.Updater()
	if err != nil {
		return 0, err
	}
	defer updater.Close()
	all, err := b.objects(ctx)
	if err != nil {
		return 0, err
	}
	addresses := map[string]string{}
	for _, o := range all {
		addresses[o.GetName()+"."+zoneName] = b.address(o)
	}
	return os.Getpid(), updater.Add(zoneName, addresses)
}

// bareChanges measures the least that anybody has to do for a change.
func (b *bench) bareChanges(ctx context.Context) (figures.Times, error) {
	events, err := b.Watch(ctx, b.list(), namespace)
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	return rig.TimeBare(ctx, b.bind, events, b.o.changes, func(i int) rig.Bare[client.Object] {
		which := b.pick(i)
		change := b.readdressed(i)
		return rig.Bare[client.Object]{Change: change, Pause: pause(i), Written: func(o client.Object) bool {
			return o.GetName() == objectName(which) && b.address(o) == change.To
		}}
	})
}
