package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// Each calls f for every number below n, by the workers, in order, and returns how long that took.
func (r *Rig) Each(ctx context.Context, n int, f func(context.Context, int) error) (time.Duration, error) {
	began := time.Now()
	err := figures.Each(ctx, r.o.Workers, n, f)
	return time.Since(began), err
}

// Create creates n objects, and returns how long that took.
func (r *Rig) Create(ctx context.Context, n int, object func(int) client.Object) (time.Duration, error) {
	return r.Each(ctx, n, func(ctx context.Context, i int) error { return r.Kube.Create(ctx, object(i)) })
}

// Remove deletes those of n objects that there are.
func (r *Rig) Remove(ctx context.Context, n int, object func(int) client.Object) error {
	_, err := r.Each(ctx, n, func(ctx context.Context, i int) error {
		return client.IgnoreNotFound(r.Kube.Delete(ctx, object(i)))
	})
	return err
}

// Merge writes fields of an object, but for those of its status.
func (r *Rig) Merge(ctx context.Context, o client.Object, fields map[string]any) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return r.Kube.Patch(ctx, o, client.RawPatch(types.MergePatchType, body))
}

// MergeStatus writes the status of an object.
func (r *Rig) MergeStatus(ctx context.Context, o client.Object, status any) error {
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	return r.Kube.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, body))
}

// Watch follows the objects of a list's kind, from now on.
func (r *Rig) Watch(ctx context.Context, list client.ObjectList, namespace string) (watch.Interface, error) {
	if err := r.Kube.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return nil, err
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	return r.Kube.Watch(ctx, list, client.InNamespace(namespace), from)
}

// Notice writes, and returns when a watch of objects of one kind brings what was written, as a controller learns of it.
// The channel yields what came of the write.
func Notice[T client.Object](ctx context.Context, events watch.Interface, write func(context.Context) error,
	written func(T) bool) (<-chan error, error) {
	done := make(chan error, 1)
	go func() { done <- write(ctx) }()
	for {
		select {
		case e, ok := <-events.ResultChan():
			o, is := e.Object.(T)
			if !ok || !is {
				return nil, fmt.Errorf("the watch of %T ended: %v", o, e.Object)
			}
			if written(o) {
				return done, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
