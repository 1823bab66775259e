package controller

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

// A CatchUp waits, at the beginning of a term of leadership, until the cache holds what
// the former leader has written. A cache says that it has been filled, not that it is up
// to date: what it lacks would be taken for absent, withdrawn, and forgotten.
type CatchUp struct {
	Live   client.Reader // asks the API server
	Cached client.Client // reads from the cache
	Log    *slog.Logger
}

// catchUpPage is how many objects are asked for at a time, without their specs.
const catchUpPage = 500

// Wait returns when the cache holds every object of these kinds as it was when Wait was
// called, or newer. It tries until ctx ends.
func (c CatchUp) Wait(ctx context.Context, kinds ...client.Object) error {
	for _, kind := range kinds {
		for {
			err := c.Try(ctx, kind)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.Log.Warn("what the former leader has written cannot be read yet", "error", err)
			if !Pause(ctx, time.Second) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// Try is Wait for one kind, and gives up if that cannot be listed.
func (c CatchUp) Try(ctx context.Context, kind client.Object) error {
	gvk, err := c.Cached.GroupVersionKindFor(kind)
	if err != nil {
		return fmt.Errorf("finding the kind of %T: %w", kind, err)
	}
	list := &metav1.PartialObjectMetadataList{}
	for more := true; more; more = list.Continue != "" {
		token := list.Continue
		list = &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := c.Live.List(ctx, list, client.Limit(catchUpPage), client.Continue(token)); err != nil {
			return fmt.Errorf("listing %s: %w", gvk.Kind, err)
		}
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(gvk)
			if err := c.object(ctx, kind, &list.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// object waits until the cache has an object like that or newer, or it is gone.
func (c CatchUp) object(ctx context.Context, kind client.Object, want *metav1.PartialObjectMetadata) error {
	key := client.ObjectKeyFromObject(want)
	for tries := 1; ; tries++ {
		if tries%1000 == 0 {
			c.Log.Warn("nothing is decided yet: the cache lacks what the API server has", "kind", want.Kind, "object",
				key.String())
		}
		have, _ := kind.DeepCopyObject().(client.Object)
		err := c.Cached.Get(ctx, key, have)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading %s %s from the cache: %w", want.Kind, key, err)
		}
		if err == nil {
			if objects.Version(have) >= objects.Version(want) {
				return nil
			}
		} else if err := c.Live.Get(ctx, key, want); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading %s %s: %w", want.Kind, key, err)
		}
		if !Pause(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// Pause lets time pass, and reports whether ctx goes on.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
