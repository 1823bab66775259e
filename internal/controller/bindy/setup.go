package bindy

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/fleet"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/bindy/zones"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clusterbind9providers.bindy.firestoned.io;bind9clusters.bindy.firestoned.io;bind9instances.bindy.firestoned.io;dnszones.bindy.firestoned.io,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Schemas are what the dialect needs of the cluster.
func Schemas() []controller.Schema {
	return []controller.Schema{
		{CRD: "clusterbind9providers." + v1beta1.GroupVersion.Group, Version: v1beta1.GroupVersion.Version,
			Fields: []string{"spec.namespaces", "spec.primaryReplicas", "status.conditions.observedGeneration"}},
		{CRD: "bind9clusters." + v1beta1.GroupVersion.Group, Version: v1beta1.GroupVersion.Version,
			Fields: []string{"spec.primaryReplicas", "status.conditions.observedGeneration"}},
		{CRD: "bind9instances." + v1beta1.GroupVersion.Group, Version: v1beta1.GroupVersion.Version,
			Fields: []string{"spec.role", "status.conditions.observedGeneration"}},
		{CRD: "dnszones." + v1beta1.GroupVersion.Group, Version: v1beta1.GroupVersion.Version,
			Fields: []string{"spec.soa", "status.serialCeiling", "status.bind9Instances.zoneNames"}},
	}
}

// What the makers of clients of pods know of zones.
type (
	DNS      = zones.DNS      // what delivers to pods
	Pod      = zones.Pod      // a server that runs
	Follower = zones.Follower // a secondary server
)

// Config is what the dialect needs from outside.
type Config struct {
	dialect.Settings
	Client  client.Client      // reads from Cache
	Live    client.Reader      // asks the API server
	Cache   cache.Cache        // made with CacheOptions
	CatchUp controller.CatchUp // of Cache
	Events  events.EventRecorder
	Log     *slog.Logger
	Metrics *controller.Metrics
	Clock   func() time.Time
	Rand    func() float64 // from 0 to less than 1
	Leads   func() bool    // whether nobody else can have become the leader; nil: nobody else ever does
	// Token is what the sidecars of a namespace know the operator by; nil: a token of its ServiceAccount, for their
	// Audience.
	Token func(ctx context.Context, namespace string) (string, error)
	DNS   *DNS // nil: servers are made, and get no zones
	// Sidecars is the way to those; nil: the machine's.
	Sidecars http.RoundTripper
	// Records are the kinds of records that are Served; nil: all.
	Records []client.Object
	History int // ZoneRevisions that a zone keeps; 0: none
	// Inspection is told what knows the servers of zones; nil: nobody asks.
	Inspection *delivery.Inspection
}

// Controller is the dialect at work. It is made for one term of leadership.
type Controller struct {
	Config
	servers *servers.Servers
	fleet   *fleet.Controller
	zones   *zones.Zones // nil: servers get no zones
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	if c.Records == nil {
		c.Records = RecordKinds()
	}
	b := &Controller{Config: c, servers: servers.New(servers.Config{
		Settings: c.Settings, Client: c.Client, Live: c.Live, Clock: c.Clock, Log: c.Log, Token: c.Token,
		Sidecars: c.Sidecars, Leads: c.Leads,
	})}
	writer := &objects.Writer{Client: c.Client, Leads: c.Leads, Wrote: c.Metrics.Wrote, Now: c.Clock}
	var content fleet.Zones // of no type where there are none
	if c.DNS != nil {
		b.zones = zones.New(zones.Config{
			DNS: *c.DNS, Client: c.Client, Live: c.Live, Cache: c.Cache, Events: c.Events, Log: c.Log, Metrics: c.Metrics,
			Objects: writer, Servers: b.servers, Records: c.Records, Inspection: c.Inspection,
			History: c.History,
		})
		content = b.zones
	}
	b.fleet = fleet.New(fleet.Config{
		Settings: c.Settings, Client: c.Client, Live: c.Live, Cache: c.Cache, Events: c.Events, Log: c.Log, Clock: c.Clock,
		Rand: c.Rand, Objects: writer, Servers: b.servers, Zones: content,
	})
	return b
}

// End ends a Controller whose Run has returned, or was never called: its queues have goroutines from the beginning.
func (b *Controller) End() {
	if b.zones != nil {
		b.zones.End()
	}
}

// CacheOptions say what the cache of the dialect holds.
func CacheOptions(scheme *runtime.Scheme) cache.Options { return fleet.CacheOptions(scheme) }

// Objects are what has to be in the cache before the dialect can work with these kinds of records, so that a follower
// takes over at once.
func Objects(records []client.Object) []client.Object {
	return append(fleet.Objects(), zones.Objects(records)...)
}

// Fleets are the servers of the dialect for Backends; nil if it delivers nothing.
func (b *Controller) Fleets() delivery.Fleets {
	if b.zones == nil {
		return nil
	}
	return b.zones.Fleets()
}

// Run reconciles until ctx ends; then it finishes what is under way and returns, so that the lease is released after
// the last write.
func (b *Controller) Run(ctx context.Context) error {
	// A cache that lags behind the former leader would have instances removed that were wanted meanwhile.
	kinds := []client.Object{&v1beta1.ClusterBind9Provider{}, &v1beta1.Bind9Cluster{}, &v1beta1.Bind9Instance{}}
	if b.zones != nil {
		kinds = append(kinds, zones.Objects(b.Records)...)
	}
	if err := b.CatchUp.Wait(ctx, kinds...); err != nil {
		return nil // the term is over before it has begun
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2)
	running.Go(func() { failed <- b.fleet.Run(ctx) })
	if b.zones != nil {
		running.Go(func() { failed <- b.zones.Run(ctx) })
	}
	select {
	case err := <-failed:
		if ctx.Err() == nil && err != nil {
			return fmt.Errorf("running the dialect bindy: %w", err)
		}
	case <-ctx.Done():
	}
	return nil
}
