// Package fleet runs the servers of the dialect bindy.firestoned.io: it makes Bind9Clusters of ClusterBind9Providers,
// Bind9Instances of Bind9Clusters, and Deployments with all that their pods need of Bind9Instances. Each reconciler
// makes, watches and repairs its immediate children only. It also rotates the keys of servers, replaces their pods one
// server at a time, and declares to each pod what it is to have before it is ready. It writes nothing while nothing has
// changed, and destroys nothing that runs because a spec cannot be understood. What zones hold, and at which servers
// they are, it does not know: it asks [Zones].
//
// Each reconciler is a type: providers, clusters, instances, accounts and bindings. All have owners, which reads and
// writes what is reconciled and applies its children. A visit is one look at an instance. It asks a keeper for keys,
// rollouts for new pods, and declarations to tell pods what they are to have.
package fleet

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// Zones is what the reconciler of instances asks of the zones that these are to have.
type Zones interface {
	// Wakes is a source of instances to look at because of their zones.
	Wakes(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error
	// Look has zones delivered to the pods that an instance has now, and to no others.
	Look(ctx context.Context, instance client.ObjectKey) error
	// Sweep removes from the pods of an instance the zones that it is not to have any more. It returns what the status of
	// the instance is to say, and when to look again; 0: an event will tell.
	Sweep(ctx context.Context, i *v1beta1.Bind9Instance, pods []corev1.Pod) ([]v1beta1.InstanceZone, time.Duration)
	// Stored takes over what the status of an instance says now.
	Stored(instance client.ObjectKey, zones []v1beta1.InstanceZone)
	// ContentOf says what a pod has to have before it is ready, and whether it has all of it. If it has not, the instance
	// is woken when that may have changed.
	ContentOf(instance client.ObjectKey, pod types.UID) (names []string, complete bool)
}

// Config is what the reconcilers need from outside.
type Config struct {
	dialect.Settings
	Client  client.Client // reads from Cache
	Live    client.Reader // asks the API server
	Cache   cache.Cache
	Events  events.EventRecorder
	Log     *slog.Logger
	Clock   func() time.Time
	Rand    func() float64 // from 0 to less than 1
	Objects *objects.Writer
	Servers *servers.Servers
	Zones   Zones // nil: servers get no zones
}

// Controller is the reconcilers at work, for one term of leadership.
type Controller struct {
	Config
	providers *providers
	clusters  *clusters
	instances *instances
	accounts  *accounts
	bindings  *bindings
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	o := &owners{
		client: c.Client, live: c.Live, objects: c.Objects, events: c.Events, log: c.Log, clock: c.Clock,
		children: &objects.Applier{Writer: c.Objects, Live: c.Live, Annotation: v1beta1.AppliedAnnotation,
			Custom: v1beta1.GroupVersion.Group, Takes: takes},
	}
	keys := &keeper{owners: o, servers: c.Servers}
	account := &accounts{owners: o}
	return &Controller{
		Config: c, providers: &providers{o, c.DefaultNamespace}, clusters: &clusters{o, keys}, accounts: account,
		bindings: &bindings{o},
		instances: &instances{
			owners: o, servers: c.Servers, zones: c.Zones, keys: keys, accounts: account,
			rollouts: &rollouts{owners: o, settings: c.Settings, servers: c.Servers,
				users: contents{client: c.Client, live: c.Live}},
			declared: &declarations{servers: c.Servers, zones: c.Zones, clock: c.Clock},
		},
	}
}

// Objects are what has to be in the cache before the reconcilers can work.
func Objects() (out []client.Object) {
	for _, p := range New(Config{}).parts() {
		out = append(out, p.kind)
		out = append(out, p.owns...)
		for _, w := range p.watches {
			out = append(out, w.object)
		}
	}
	return out
}
