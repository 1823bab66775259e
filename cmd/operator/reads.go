package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
)

// reads gives a dialect a cache of its own and a client that reads from it. The cache fills before the operator leads,
// so that a follower takes over at once, and the operator is not ready before.
func (p *parts) reads(ctx context.Context, dialect string, o cache.Options,
	watched []client.Object) (cache.Cache, client.Client, error) {
	p.secrets.byNamespace(&o)
	objects, c, err := p.cached(o)
	if err != nil {
		return nil, nil, err
	}
	c = p.secrets.restrict(c)
	for _, object := range watched {
		if _, err := objects.GetInformer(ctx, object); err != nil {
			return nil, nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	return objects, c, p.AddReadyzCheck(dialect, filled(objects))
}

// endsWith makes caches for whose content nobody waits any more when the process ends. A manager that begins waits for
// it in a loop without a pause, and does not end before it is there (controller-runtime 0.25, runnableGroup.Start).
func endsWith(process context.Context) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		o.NewInformer = informers(process)
		c, err := cache.New(config, o)
		if err != nil {
			return nil, err
		}
		return &ending{c, process}, nil
	}
}

type ending struct {
	cache.Cache
	process context.Context
}

// WaitForCacheSync implements cache.Cache. It reports true as well when the process ends.
func (c *ending) WaitForCacheSync(ctx context.Context) bool {
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.process, cancel)()
	return c.Cache.WaitForCacheSync(either) || c.process.Err() != nil
}

// live reads at the API server what the dialects may read there.
func (p *parts) live() client.Reader { return p.secrets.reader(p.GetAPIReader(), p.GetClient()) }

// catchUp is how a dialect makes sure, when this replica leads, that its cache has what the former leader has written.
func (p *parts) catchUp(objects cache.Cache, c client.Client) (controller.CatchUp, error) {
	live, err := client.NewWithWatch(p.GetConfig(), client.Options{
		HTTPClient: p.GetHTTPClient(), Scheme: p.GetScheme(), Mapper: p.GetRESTMapper()})
	if err != nil {
		return controller.CatchUp{}, fmt.Errorf("making the client that watches: %w", err)
	}
	return controller.CatchUp{Live: live, Cached: c, Cache: objects, Log: p.log}, nil
}

// cached makes a cache that runs in every replica, and a client that reads from it.
func (p *parts) cached(o cache.Options) (cache.Cache, client.Client, error) {
	o.HTTPClient, o.Scheme, o.Mapper = p.GetHTTPClient(), p.GetScheme(), p.GetRESTMapper()
	objects, err := p.newCache(p.GetConfig(), o)
	if err != nil {
		return nil, nil, fmt.Errorf("making the cache: %w", err)
	}
	c, err := client.New(p.GetConfig(), client.Options{
		HTTPClient: p.GetHTTPClient(), Scheme: p.GetScheme(), Mapper: p.GetRESTMapper(),
		Cache: &client.CacheOptions{Reader: objects, Unstructured: true},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("making the client: %w", err)
	}
	return objects, c, p.Add(everywhere{objects.Start})
}
