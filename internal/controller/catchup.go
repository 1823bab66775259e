package controller

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

// A CatchUp waits, at the beginning of a term of leadership, until the cache holds what
// the former leader has written. A cache says that it has been filled, not that it is up
// to date: what it lacks would be taken for absent, withdrawn, and forgotten.
type CatchUp struct {
	Live   client.WithWatch // asks the API server
	Cached client.Client    // reads from the cache
	Cache  cache.Cache
	Log    *slog.Logger
	// Many is how many objects of a kind are too many to list them all; 0: ten thousand. A hundred thousand take the API
	// server ten seconds, with everybody waiting; the changes since the cache heard last take one.
	Many int64
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
			c.Log.Warn("the writes of the former leader cannot be read yet", "error", err)
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
	asked := false
	list := &metav1.PartialObjectMetadataList{}
	for more := true; more; more = list.Continue != "" {
		token := list.Continue
		list = metadataOf(gvk)
		if err := c.Live.List(ctx, list, client.Limit(catchUpPage), client.Continue(token)); err != nil {
			return fmt.Errorf("listing %s: %w", gvk.Kind, err)
		}
		if left := list.RemainingItemCount; !asked && left != nil && *left > cmp.Or(c.Many, 10_000) {
			asked = true
			if changed, ok := c.changes(ctx, kind, list); ok {
				list = changed
			}
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

func metadataOf(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return list
}

// changesFor is how long the API server is asked for changes, in seconds. Two seconds before the end it says how far it
// has told. It may, but need not: https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
const changesFor = 3

// changes returns the objects that have changed between what the cache has heard and a list. It reports false if the
// API server does not say that these are all.
func (c CatchUp) changes(ctx context.Context, kind client.Object,
	until *metav1.PartialObjectMetadataList) (*metav1.PartialObjectMetadataList, bool) {
	heard := c.heard(ctx, kind)
	if heard == "" {
		return nil, false
	}
	if reached(heard, until.ResourceVersion) {
		return &metav1.PartialObjectMetadataList{}, true
	}
	list := &metav1.PartialObjectMetadataList{TypeMeta: until.TypeMeta}
	events, err := c.Live.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: heard,
		AllowWatchBookmarks: true, TimeoutSeconds: new(int64(changesFor))}})
	if err != nil {
		return nil, false
	}
	defer events.Stop()
	for e := range events.ResultChan() {
		o, ok := e.Object.(*metav1.PartialObjectMetadata)
		switch {
		case !ok: // such as that the API server does not know any more what was before
			return nil, false
		case e.Type == watch.Added || e.Type == watch.Modified:
			list.Items = append(list.Items, *o)
		case e.Type == watch.Bookmark && reached(o.ResourceVersion, until.ResourceVersion):
			return list, true
		}
	}
	return nil, false
}

// heard is up to where the cache has heard of objects of a kind, and holds them; "" if that is not known.
func (c CatchUp) heard(ctx context.Context, kind client.Object) string {
	informer, err := c.Cache.GetInformer(ctx, kind)
	if err != nil {
		return ""
	}
	shared, ok := informer.(toolscache.SharedInformer)
	if !ok {
		return ""
	}
	return shared.GetStore().LastStoreSyncResourceVersion()
}

// reached reports whether a resourceVersion is another one or a later one.
func reached(version, until string) bool {
	order, err := resourceversion.CompareResourceVersion(version, until)
	return err == nil && order >= 0
}

// object waits until the cache has an object like that or newer, or it is gone.
func (c CatchUp) object(ctx context.Context, kind client.Object, want *metav1.PartialObjectMetadata) error {
	key := client.ObjectKeyFromObject(want)
	for tries := 1; ; tries++ {
		if tries%1000 == 0 {
			c.Log.Warn("nothing is decided yet because the cache is behind the API server", "kind", want.Kind, "object",
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
