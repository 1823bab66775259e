package main

import (
	"cmp"
	"context"
	"flag"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	bindydialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/version"
)

// fleetFlags are those of the dialect bindy.
func fleetFlags(f *flag.FlagSet, s *bindydialect.Settings, env func(string) string) {
	f.StringVar(&s.DefaultNamespace, "bindy-namespace", "dns-system",
		"`namespace` for clusters of ClusterBind9Providers without a namespace")
	f.StringVar(&s.ServiceAccount, "service-account", cmp.Or(env("POD_SERVICE_ACCOUNT"), "zonefold-operator"),
		"`name` of the operator's ServiceAccount, which may call the sidecars of name servers")
	f.StringVar(&s.BIND9Image, "bind9-image", "internetsystemsconsortium/bind9",
		"`image` of BIND, without a tag; the tag is the version in a spec")
	f.StringVar(&s.BindcarImage, "bindcar-image", "zonefold/bindcar:"+version.Release(),
		"`image` of the sidecar of name servers")
}

// addBindy has the manager run the dialect bindy while it leads.
func addBindy(ctx context.Context, m *parts, numbers *controller.Metrics) error {
	records, err := bindy.Served(m.GetRESTMapper())
	if err != nil {
		return err
	}
	if len(records) < len(bindy.RecordKinds()) {
		m.log.Warn("PTRRecords are ignored: their CustomResourceDefinition is not installed; apply zonefold's from " +
			"config/crd and restart the operator")
	}
	objects, c, err := m.reads(ctx, dialectBindy, bindy.CacheOptions(m.GetScheme()), bindy.Objects(records))
	if err != nil {
		return err
	}
	catchUp, err := m.catchUp(objects, c)
	if err != nil {
		return err
	}
	inspection := &delivery.Inspection{}
	m.resources = append(m.resources, bindy.Resources(inspection)...)
	fleets := bindy.New(bindy.Config{
		Settings: m.fleet, Client: c, Live: m.live(), Cache: objects, CatchUp: catchUp,
		Events: m.GetEventRecorder("zonefold"), Log: m.log, Metrics: numbers, Clock: time.Now, Rand: m.chance,
		Leads: m.leads(), DNS: fleetDNS(all.NewPool(time.Now, nil).Bound(m.answers), m), Sidecars: m.pods.HTTP,
		Records: records, Inspection: inspection, History: m.history,
	})
	if m.fleets = fleets.Fleets(); m.dialects.has(dialectKubizone) && m.fleets != nil {
		m.fleets.Await(kubizone.GroupVersion.String())
	}
	m.examiners = append(m.examiners, fleets.Examiners()...)
	m.ends = append(m.ends, fleets.End)
	return m.Add(manager.RunnableFunc(fleets.Run))
}
