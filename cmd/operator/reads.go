package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reads gives a dialect a cache of its own and a client that reads from it. The cache fills before the operator leads, so that
// a follower takes over at once, and the operator is not ready before.
func (p *parts) reads(ctx context.Context, dialect string, o cache.Options, watched []client.Object) (cache.Cache, client.Client, error) {
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

// live reads at the API server what the dialects may read there.
func (p *parts) live() client.Reader { return p.secrets.reader(p.GetAPIReader(), p.GetClient()) }

// cached makes a cache that runs in every replica, and a client that reads from it.
func (p *parts) cached(o cache.Options) (cache.Cache, client.Client, error) {
	o.HTTPClient, o.Scheme, o.Mapper = p.GetHTTPClient(), p.GetScheme(), p.GetRESTMapper()
	objects, err := cache.New(p.GetConfig(), o)
	if err != nil {
		return nil, nil, fmt.Errorf("making the cache: %w", err)
	}
	c, err := client.New(p.GetConfig(), client.Options{
		HTTPClient: p.GetHTTPClient(), Scheme: p.GetScheme(), Mapper: p.GetRESTMapper(), Cache: &client.CacheOptions{Reader: objects},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("making the client: %w", err)
	}
	return objects, c, p.Add(everywhere{objects.Start})
}
