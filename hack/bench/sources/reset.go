package main

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// reset leaves everything as it was before the first contender, for whoever is next: the objects with their first
// addresses and without notes that somebody has seen them, an empty zone at BIND, and a Zone for which zonefold
// has stored nothing.
func (b *bench) reset(ctx context.Context) error {
	_, err := b.Each(ctx, b.o.changes, func(ctx context.Context, i int) error {
		return b.readdress(ctx, b.Kube, b.pick(i), figures.Address(b.pick(i)))
	})
	if err != nil {
		return err
	}
	if err := b.forgetAll(ctx); err != nil {
		return err
	}
	if err := b.bind.Clear(ctx); err != nil {
		return err
	}
	z := &kubizone.Zone{ObjectMeta: metav1.ObjectMeta{Name: "bench", Namespace: namespace}}
	err = b.Kube.Patch(ctx, z, mergePatch([]byte(`{"metadata":{"finalizers":null}}`)))
	if err == nil {
		err = b.Kube.Delete(ctx, z)
	}
	if err != nil {
		return err
	}
	if err := b.Kube.DeleteAllOf(ctx, &zonefold.ZoneSlice{}, client.InNamespace(namespace)); err != nil {
		return err
	}
	return b.Apply(ctx, zone)
}

// forgetAll takes the notes away that somebody has seen objects.
func (b *bench) forgetAll(ctx context.Context) error {
	if b.seen == nil {
		return nil
	}
	all, err := b.objects(ctx)
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(all, func(o client.Object) bool { return !b.seen(o) })
	_, err = b.Each(ctx, len(seen), func(ctx context.Context, i int) error { return b.forget(ctx, b.Kube, seen[i]) })
	return err
}
