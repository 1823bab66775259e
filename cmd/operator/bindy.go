package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy"
)

// fleetFlags are those of the dialect bindy.
func fleetFlags(f *flag.FlagSet, s *bindy.Settings, env func(string) string) {
	f.StringVar(&s.DefaultNamespace, "bindy-namespace", "dns-system", "`namespace` of the cluster of a ClusterBind9Provider that names none")
	f.StringVar(&s.ServiceAccount, "service-account", cmp.Or(env("POD_SERVICE_ACCOUNT"), "zonefold-operator"), "`name` of the operator's ServiceAccount, which the sidecars of name servers obey")
	f.StringVar(&s.BIND9Image, "bind9-image", "internetsystemsconsortium/bind9", "`image` of BIND, without a tag: that is the version that a spec asks for")
	f.StringVar(&s.BindcarImage, "bindcar-image", "zonefold/bindcar:"+version, "`image` of the sidecar of name servers")
}

// addBindy has the manager run the dialect bindy while it leads. Its cache fills before, so that a follower takes over at once.
func addBindy(ctx context.Context, m parts, numbers *controller.Metrics) error {
	o := bindy.CacheOptions(m.GetScheme())
	o.HTTPClient, o.Mapper = m.GetHTTPClient(), m.GetRESTMapper()
	objects, err := cache.New(m.GetConfig(), o)
	if err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	for _, object := range bindy.Objects() {
		if _, err := objects.GetInformer(ctx, object); err != nil {
			return fmt.Errorf("watching %T: %w", object, err)
		}
	}
	c, err := client.New(m.GetConfig(), client.Options{
		HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(), Cache: &client.CacheOptions{Reader: objects},
	})
	if err != nil {
		return fmt.Errorf("making the client: %w", err)
	}
	if err := m.Add(everywhere{objects.Start}); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("bindy", filled(objects)); err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return bindy.New(bindy.Config{
			Settings: m.fleet, Client: c, Live: m.GetAPIReader(), Cache: objects, Events: m.GetEventRecorder("zonefold"),
			Log: m.log, Metrics: numbers, Clock: time.Now, Leads: m.leads(),
		}).Run(ctx)
	}))
}
