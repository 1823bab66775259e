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

// A CatchUp waits, at the beginning of a term of leadership, until the cache holds what the former leader has written,
// and nothing that was deleted by then. A cache says that it has been filled, not that it is up to date: what it lacks
// would be taken for absent, withdrawn, and forgotten, and what is gone would be published again.
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

// Wait returns when the cache holds every object of these kinds as it was when Wait was called, or newer, and no other
// objects of that time. It tries until ctx ends.
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
	asked, since := false, ""
	live := map[client.ObjectKey]bool{}
	list := &metav1.PartialObjectMetadataList{}
	for more := true; more; more = list.Continue != "" {
		token := list.Continue
		list = metadataOf(gvk)
		if err := c.Live.List(ctx, list, client.Limit(catchUpPage), client.Continue(token)); err != nil {
			return fmt.Errorf("listing %s: %w", gvk.Kind, err)
		}
		since = cmp.Or(since, list.ResourceVersion)
		if left := list.RemainingItemCount; !asked && left != nil && *left > cmp.Or(c.Many, 10_000) {
			asked = true
			if changed, ok := c.changes(ctx, kind, list); ok {
				return c.heard(ctx, kind, changed)
			}
		}
		for i := range list.Items {
			live[client.ObjectKeyFromObject(&list.Items[i])] = true
			if err := c.object(ctx, kind, &list.Items[i], false); err != nil {
				return err
			}
		}
	}
	return c.forgotten(ctx, kind, live, since)
}

// heard waits until the cache knows of these changes.
func (c CatchUp) heard(ctx context.Context, kind client.Object, changed []watch.Event) error {
	for _, e := range changed {
		if o, ok := e.Object.(*metav1.PartialObjectMetadata); ok {
			if err := c.object(ctx, kind, o, e.Type == watch.Deleted); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgotten waits until the cache has no object that was gone at a version: those of then that were not live.
func (c CatchUp) forgotten(ctx context.Context, kind client.Object, live map[client.ObjectKey]bool,
	version string) error {
	store := c.store(ctx, kind)
	if store == nil {
		return nil
	}
	for _, cached := range store.List() {
		o, ok := cached.(client.Object)
		if !ok || live[client.ObjectKeyFromObject(o)] {
			continue
		}
		was := &metav1.PartialObjectMetadata{}
		was.SetNamespace(o.GetNamespace())
		was.SetName(o.GetName())
		was.SetResourceVersion(version)
		if err := c.object(ctx, kind, was, true); err != nil {
			return err
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

// changes returns the events between what the cache has heard and a list. It reports false if the API server does not
// say that these are all.
func (c CatchUp) changes(ctx context.Context, kind client.Object,
	until *metav1.PartialObjectMetadataList) ([]watch.Event, bool) {
	heard := ""
	if store := c.store(ctx, kind); store != nil {
		heard = store.LastStoreSyncResourceVersion() // and it holds all until then
	}
	if heard == "" {
		return nil, false
	}
	if reached(heard, until.ResourceVersion) {
		return nil, true
	}
	events, err := c.Live.Watch(ctx, &metav1.PartialObjectMetadataList{TypeMeta: until.TypeMeta},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: heard,
			AllowWatchBookmarks: true, TimeoutSeconds: new(int64(changesFor))}})
	if err != nil {
		return nil, false
	}
	defer events.Stop()
	var all []watch.Event
	for e := range events.ResultChan() {
		o, ok := e.Object.(*metav1.PartialObjectMetadata)
		if !ok { // such as that the API server does not know any more what was before
			return nil, false
		}
		if e.Type != watch.Bookmark {
			all = append(all, e)
		}
		if reached(o.ResourceVersion, until.ResourceVersion) { // no bookmark follows an event of its version
			return all, true
		}
	}
	return nil, false
}

// store is what the cache has of a kind; nil if that is not known.
func (c CatchUp) store(ctx context.Context, kind client.Object) toolscache.Store {
	informer, err := c.Cache.GetInformer(ctx, kind)
	if err != nil {
		return nil
	}
	if shared, ok := informer.(toolscache.SharedInformer); ok {
		return shared.GetStore()
	}
	return nil
}

// reached reports whether a resourceVersion is another one or a later one.
func reached(version, until string) bool {
	order, err := resourceversion.CompareResourceVersion(version, until)
	return err == nil && order >= 0
}

// object waits until the cache has an object like that or newer, or the object is gone: then the cache is to have none,
// or one that was made later.
func (c CatchUp) object(ctx context.Context, kind client.Object, want *metav1.PartialObjectMetadata, gone bool) error {
	key := client.ObjectKeyFromObject(want)
	gvk, err := c.Cached.GroupVersionKindFor(kind)
	if err != nil {
		return fmt.Errorf("finding the kind of %T: %w", kind, err)
	}
	want.SetGroupVersionKind(gvk)
	for tries := 1; ; tries++ {
		if tries%1000 == 0 {
			c.Log.Warn("nothing is decided yet because the cache is behind the API server", "kind", gvk.Kind, "object",
				key.String())
		}
		have, _ := kind.DeepCopyObject().(client.Object)
		err := c.Cached.Get(ctx, key, have)
		switch {
		case err == nil && objects.Version(have) >= objects.Version(want), apierrors.IsNotFound(err) && gone:
			return nil
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("reading %s %s from the cache: %w", gvk.Kind, key, err)
		case err != nil:
			if err := c.Live.Get(ctx, key, want); apierrors.IsNotFound(err) {
				return nil
			} else if err != nil {
				return fmt.Errorf("reading %s %s: %w", gvk.Kind, key, err)
			}
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
