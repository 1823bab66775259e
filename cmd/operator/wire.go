package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/inspect"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/controller/sources"
)

// cacheOptions say what the caches hold: Secrets of the namespaces that they may be
// read from only, and nothing that no dialect reads.
func cacheOptions(o options) cache.Options {
	namespaces := map[string]cache.Config{o.namespace: {}}
	for _, name := range listed(o.credentials) {
		namespaces[name] = cache.Config{}
	}
	return cache.Options{
		DefaultTransform: kubizone.Compact(),
		ByObject:         map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: namespaces}},
	}
}

// parts are what an operator is put together from.
type parts struct {
	ctrl.Manager
	server *dnsServer     // nil: it is none
	at     netip.AddrPort // what the Lease says while this replica leads
	term   *term
	options
	process
	engine  *delivery.Engine
	fleets  delivery.Fleets    // that Backends may name, known before anything runs; nil: there are none
	classes controller.Classes // that Backends may name; nil: there are none

	newCache  cache.NewCacheFunc    // of the manager, and of dialects
	clients   *all.Pool             // see pool
	answers   *budget.Pool          // of what is read from all servers
	blind     *unread               // is told what sources cannot read
	examiners []controller.Examiner // of the dialects that are on
	resources []inspect.Resource    // likewise

	certificate certificate // that admission is served with; nil: nobody here knows
	ends        []func()    // what dialects do last, also when nothing has run
}

// end has the dialects end.
func (p *parts) end() {
	for _, end := range p.ends {
		end()
	}
}

// source is where Backends are read.
func (p *parts) source() backends.Source {
	return backends.Source{
		Client: p.GetClient(), Cache: p.GetCache(), Log: p.log, Namespace: p.namespace, Embedded: p.server != nil,
		Classes: p.classes,
	}
}

// pool returns the one pool of clients: what Backends and DNSRecords of Gardener reach with equal credentials is one
// account.
func (p *parts) pool() *all.Pool {
	if p.clients == nil {
		var own *embedded.Server
		if p.server != nil {
			own = p.server.Server
		}
		p.clients = all.NewPool(time.Now, own).Bound(p.answers).Over(p.services)
	}
	return p.clients
}

// leads says whether nobody else can have become the leader; nil: nobody else ever does.
func (p *parts) leads() func() bool {
	if !p.election {
		return nil
	}
	return p.term.Leads
}

// late says until when a message of who led before may arrive; nil: nobody did.
func (p *parts) late() func() time.Time {
	if !p.election {
		return nil
	}
	return p.term.Late
}

// watch has the cache hold objects from its beginning.
func (p *parts) watch(ctx context.Context, objects []client.Object) error {
	for _, object := range objects {
		if _, err := p.GetCache().GetInformer(ctx, object); err != nil {
			return fmt.Errorf("watching %T: %w", object, err)
		}
	}
	return nil
}

// addKubizone has the manager run the dialect kubi.zone while it leads. The caches fill
// before, so that a follower takes over at once.
func addKubizone(ctx context.Context, m *parts, numbers *controller.Metrics) error {
	if err := m.watch(ctx, slices.Concat(kubizone.Objects(), backends.Objects())); err != nil {
		return err
	}
	asked, err := m.asked()
	if err != nil {
		return err
	}
	if m.server != nil {
		if err := errors.Join(m.server.addTo(m, m.source()), m.server.addExternalDNS(m)); err != nil {
			return err
		}
	}
	connect, host := connects(m.pool()), hosts(m.pool())
	if m.connect != nil {
		connect = m.connect(connect)
	}
	inspection := &delivery.Inspection{}
	m.resources = append(m.resources, kubizone.Resources(inspection)...)
	foresight := &core.Foresight{}
	m.examiners = append(m.examiners, kubizone.Examiners(foresight)...)
	m.examiners = append(m.examiners, m.source().Examiner(foresight, m.dialects.has(dialectBindy)))
	catchUp, err := m.catchUp(m.GetCache(), m.GetClient())
	if err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		// Secrets are not waited for: nothing is withdrawn because of one.
		waited := append(kubizone.Objects(), &zonefold.Backend{}, &corev1.Namespace{})
		if err := catchUp.Wait(ctx, waited...); err != nil {
			return nil // the term is over before it has begun
		}
		recorder := m.GetEventRecorder("zonefold")
		clock := backend.SystemClock{}
		asking := sources.New(asked)
		zones := kubizone.New(kubizone.Config{
			Client: m.GetClient(), Live: m.GetAPIReader(), Cache: m.GetCache(), Events: recorder, Log: m.log, Metrics: numbers,
			Clock: clock, Rand: m.chance,
			MaxSet: m.maxSet, MaxEntries: m.maxEntries, History: m.history, Engine: m.engine, Fleets: m.fleets, Leads: m.leads(),
			Foresight: foresight, Inspection: inspection,
			RequireGrants: m.requireGrants, Judged: asking.Judged,
		})
		defer zones.End()
		asking.Core, asking.Zones = zones.Core, zones
		if m.server != nil {
			<-m.server.followed // from now on the engine alone changes what it holds
			zones.Deliveries.WhenDelivered(func() {
				m.server.open(zones.Deliveries.Everything())
				m.server.takeUpdates(ctx, m, zones) // not before: what is not known yet would count as not there
			})
			defer m.server.takeNoUpdates()
		}
		places := backends.New(backends.Config{
			Source: m.source(), Events: recorder, Clock: clock.Now, Metrics: numbers, Leads: m.leads(), Connect: connect,
			Host: host, Table: tables(m.pool()),
			Core: zones.Core, Places: zones.Deliveries.Places(), Busy: zones.Busy, Fleets: m.fleets,
			RequireGrants: m.requireGrants, ClientsHidden: m.clientsHidden,
		})
		defer places.End()
		if err := places.Gather(ctx); err != nil {
			return err
		}
		var writer sync.WaitGroup
		writer.Go(func() { _ = places.Run(ctx) })
		defer writer.Wait()
		writer.Go(func() { asking.Run(ctx) })
		return zones.Run(ctx, func(ctx context.Context) bool { return places.Ready(ctx) && asking.Ready(ctx) })
	}))
}
