package backends

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=zonefold.dev,resources=backends,verbs=get;list;watch
// +kubebuilder:rbac:groups=zonefold.dev,resources=backends/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",namespace=zonefold-system,resources=secrets,verbs=get;list;watch;create

// Kind is the kind of Backends in a zone.ID.
const Kind = "Backend"

// A Source is where Backends and what they refer to are read.
type Source struct {
	Client    client.Client // reads from Cache
	Cache     cache.Cache
	Log       *slog.Logger
	Namespace string             // the operator's
	Embedded  bool               // the operator is a name server
	Classes   controller.Classes // nil: there are none

	fleets   bool // it runs some
	examines bool // it is no controller: classes are read when they are asked for, and no server is
}

// Config is what the controller needs from outside.
type Config struct {
	Source
	Events  events.EventRecorder
	Clock   func() time.Time
	Metrics *controller.Metrics
	Leads   func() bool // whether nobody else can have become the leader; nil: nobody else ever does
	// Connect makes the clients of a Backend, the same ones for the same settings.
	Connect func(Settings) ([]delivery.Server, error)
	Fleets  delivery.Fleets // nil: there are none
	// Host opens the account of a provider; nothing is asked yet.
	Host func(ProviderSettings) (Hosting, error)
	// Table opens the registry of external-dns in a table, and says how a client shows it; nothing is asked yet.
	Table func(TableSettings) (func(backend.Backend) backend.Backend, error)
	// RequireGrants: nobody has a root Zone without a grant, also while no Backend has any.
	RequireGrants bool
	// ClientsHidden: the Service of the name server shows it addresses of nodes in the place of those outside of the
	// cluster.
	ClientsHidden bool

	Core   *core.Core
	Places *delivery.Places
	Busy   func() bool // whether statuses wait; each looks at all zones, of which each has news; nil: never
}

// Controller follows Backends and what they refer to.
type Controller struct {
	Config
	objects *objects.Writer
	writer  *controller.Writer
	synced  []toolscache.InformerSynced
	looked  guarded.Turn // one look at a time: grants and Places belong together
	state   guarded.Value[state]
}

// state is what is known of Backends, by name.
type state struct {
	known map[string]known
	left  map[string]leftAt
}

// known is what a Backend was last resolved to.
type known struct {
	settings Settings
	servers  []delivery.Server
	trouble  *controller.Outcome
	stopped  bool // for that trouble nothing is sent to the servers
	warnings []string
	host     *host // of a provider
	grants   []zone.Grant
	access   access
	catalog  dnsname.Name // the catalog zone that it asks for; zero: none
}

// lookup returns what a Backend was last resolved to, if it has been.
func (b *Controller) lookup(name string) (known, bool) {
	st, unlock := b.state.Lock()
	defer unlock()
	k, ok := st.known[name]
	return k, ok
}

// replace takes the place of what was known before.
func (b *Controller) replace(name string, k *known) {
	st, unlock := b.state.Lock()
	defer unlock()
	if old := st.known[name].host; old != nil && (k == nil || k.host != old) {
		old.stop()
	}
	if k == nil {
		delete(st.known, name)
	} else {
		st.known[name] = *k
	}
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	b := &Controller{Config: c}
	st, unlock := b.state.Lock()
	st.known, st.left = map[string]known{}, map[string]leftAt{}
	unlock()
	b.objects = &objects.Writer{Client: c.Client, Leads: c.Leads, Wrote: c.Metrics.Wrote, Now: c.Clock}
	b.writer = controller.NewWriter(1, c.Log, b.write)
	b.writer.Busy = c.Busy
	c.Places.OnNews(func(name string) { b.writer.Enqueue(id(name)) })
	c.Places.KeepLeft((*left)(b))
	b.Source.fleets = c.Fleets != nil
	return b
}

// End ends a Controller whose Run has returned, or was never called.
func (b *Controller) End() { b.writer.ShutDown() }

func id(name string) zone.ID { return zone.ID{Kind: Kind, Name: name} }

// Objects are what the controller reads from the cache.
func Objects() []client.Object {
	return []client.Object{&v1alpha1.Backend{}, &corev1.Secret{}, &corev1.Namespace{}}
}

// Gather follows Backends, Secrets and Namespaces from now on.
func (b *Controller) Gather(ctx context.Context) error {
	all := func(any) { b.everyBackend(ctx) }
	selecting := func(any) {
		b.every(ctx, func(backend *v1alpha1.Backend) {
			if selects(&backend.Spec) {
				b.look(ctx, backend.Name)
			}
		})
	}
	each := eachBackend(func(name string) { b.look(ctx, name) })
	tell := eachBackend(func(name string) { b.retell(ctx, name) })
	var err error
	b.synced, err = b.follow(ctx, b.objects, []followed{{object: &corev1.Namespace{}, look: selecting, later: true},
		{object: &corev1.Secret{}, look: all, later: true}, {object: &v1alpha1.Backend{}, look: each, notify: tell}})
	if b.Fleets != nil {
		b.Fleets.OnFleet(func(cluster types.NamespacedName) { b.onFleet(ctx, cluster) })
	}
	if err == nil && b.Classes != nil {
		err = b.Classes.Follow(ctx, func(class string) { b.onClass(ctx, class) })
	}
	return err
}

// retell looks at a Backend whose status or metadata somebody has written.
func (b *Controller) retell(ctx context.Context, name string) {
	var backend v1alpha1.Backend
	if err := b.Client.Get(ctx, client.ObjectKey{Name: name}, &backend); err == nil {
		b.takeLeft(name, &backend)
	}
	b.writer.Enqueue(id(name))
}

// onClass looks again at the Backends that a DNSClass is.
func (b *Controller) onClass(ctx context.Context, class string) {
	b.every(ctx, func(backend *v1alpha1.Backend) {
		if backend.Spec.DNSClass != nil && backend.Spec.DNSClass.Name == class {
			b.look(ctx, backend.Name)
		}
	})
}

// onFleet looks again at the Backends that a cluster is.
func (b *Controller) onFleet(ctx context.Context, cluster types.NamespacedName) {
	for _, name := range b.ofFleet(cluster) {
		b.look(ctx, name)
	}
}

// ofFleet are the Backends that a cluster is. A look that is under way has asked for the servers already, perhaps, and
// what comes of it is known only when it is over.
func (b *Controller) ofFleet(cluster types.NamespacedName) (names []string) {
	b.looked.Lock()
	defer b.looked.Unlock()
	st, unlock := b.state.Lock()
	defer unlock()
	for name, k := range st.known {
		if k.settings.Cluster == cluster {
			names = append(names, name)
		}
	}
	return names
}

// followed is a kind of objects and what is done when one of them changes.
type followed struct {
	object client.Object
	look   func(any)
	notify func(any) // of a change that Backends do not depend on, such as one of a status; nil: nobody
	later  bool      // what is there at first is no news: every Backend is looked at once all of that is known
}

// eachBackend calls look with the name of the Backend that an event is about.
func eachBackend(look func(name string)) func(any) {
	return func(o any) {
		if backend, ok := o.(*v1alpha1.Backend); ok {
			look(backend.Name)
		} else if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			look(gone.Key)
		}
	}
}

// follow calls look for what exists and for what changes, until ctx ends. The Writer is that of controller.Follow.
func (s Source) follow(ctx context.Context, w *objects.Writer, kinds []followed) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, f := range kinds {
		has, err := controller.Follow(ctx, s.Cache, w, f.object, toolscache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(o any, initial bool) {
				if !initial || !f.later {
					f.look(o)
				}
			},
			UpdateFunc: func(before, after any) {
				switch {
				case relevant(before, after):
					f.look(after)
				case f.notify != nil:
					f.notify(after)
				}
			},
			DeleteFunc: f.look,
		})
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

// relevant reports whether a change is one that Backends depend on.
func relevant(before, after any) bool {
	switch was := before.(type) {
	case *corev1.Namespace:
		is, ok := after.(*corev1.Namespace)
		return !ok || !reflect.DeepEqual(was.Labels, is.Labels)
	case *corev1.Secret:
		is, ok := after.(*corev1.Secret)
		return !ok || !reflect.DeepEqual(was.Data, is.Data) || !reflect.DeepEqual(was.Labels, is.Labels)
	case *v1alpha1.Backend:
		is, ok := after.(*v1alpha1.Backend)
		return !ok || was.Generation != is.Generation || was.UID != is.UID
	}
	return true
}

// Ready waits until every Backend that existed has been put where it belongs.
func (b *Controller) Ready(ctx context.Context) bool {
	if !toolscache.WaitForCacheSync(ctx.Done(), b.synced...) || b.Fleets != nil && !b.Fleets.Known(ctx) {
		return false
	}
	b.everyBackend(ctx)
	if b.Fleets != nil {
		b.Fleets.Protected()
	}
	if b.Classes != nil { // those that the Backends have named by now
		if !b.Classes.Known(ctx) {
			return false
		}
		b.everyBackend(ctx)
	}
	b.hostsHeard(ctx)
	return true
}

// Run writes statuses until ctx ends.
func (b *Controller) Run(ctx context.Context) error { return b.writer.Run(ctx) }

func (b *Controller) everyBackend(ctx context.Context) {
	b.every(ctx, func(backend *v1alpha1.Backend) { b.look(ctx, backend.Name) })
}

// every calls look with each Backend that there is.
func (s Source) every(ctx context.Context, look func(*v1alpha1.Backend)) {
	var list v1alpha1.BackendList
	if err := s.Client.List(ctx, &list); err != nil {
		s.Log.Error("listing Backends", "error", err)
		return
	}
	for i := range list.Items {
		look(&list.Items[i])
	}
}

// look resolves one Backend anew.
func (b *Controller) look(ctx context.Context, name string) {
	b.looked.Lock()
	defer b.looked.Unlock()
	was, _ := b.lookup(name)
	var backend v1alpha1.Backend
	err := b.Client.Get(ctx, client.ObjectKey{Name: name}, &backend)
	switch {
	case apierrors.IsNotFound(err):
		b.protect(name, nil)
		b.takeLeft(name, nil)
		b.Places.Delete(name)
		b.Core.PutGrants(name, nil)
		b.replace(name, nil)
		b.enqueueAll(ctx, was, known{})
		return
	case err != nil:
		b.Log.Error("reading a Backend", "backend", name, "error", err)
		return
	}
	b.takeLeft(name, &backend)
	namespaces, err := b.namespaces(ctx)
	if err != nil {
		b.Log.Error("listing Namespaces", "error", err)
		return
	}
	grants, warnings := grantsOf(&backend, namespaces)
	place := &delivery.Place{
		Name: name, Created: backend.CreationTimestamp.Time, Kind: kind(&backend.Spec),
		Default: backend.Spec.Default, Keep: keeps(&backend.Spec),
		Observe: backend.Spec.Mode == v1alpha1.ModeObserve, Grants: grants, Closed: len(backend.Spec.Grants) > 0,
		Protection: dialect.Protection(backend.Spec.Protection),
		LeaveAfter: dialect.LeaveBehindAfter(backend.Spec.LeaveBehindAfter),
	}
	if backend.Spec.AuditInterval != nil {
		place.Audit = backend.Spec.AuditInterval.Duration
	}
	b.protect(name, &backend.Spec)
	settings, registries, table, trouble := b.settings(ctx, &backend)
	k := known{trouble: trouble}
	switch {
	case trouble == nil:
		k = b.connect(ctx, name, settings)
	case backend.Spec.Embedded != nil && b.Embedded: // who may copy or change zones is nothing to those who ask
		k = b.connect(ctx, name, Settings{Embedded: &EmbeddedSettings{Name: name}})
		k.trouble = trouble
	}
	catalog, _ := catalogOf(backend.Spec.Embedded) // one that cannot be is a trouble
	k.warnings, k.grants, k.access, k.catalog = warnings, grants, accessOf(&backend), catalog
	place.Registry = registries // also while there is trouble: zones that are known go on being written
	place.Servers, place.Problem = b.besideTable(k.servers, table, k.trouble)
	k.trouble = place.Problem
	k.stopped = place.Stopped()
	place.Fleet, place.Passing = k.settings.Cluster, backend.Spec.Bind9 != nil
	place.Hosted = backend.Spec.Provider != nil
	b.replace(name, &k)
	b.Places.Put(place)
	b.Core.PutGrants(name, grants) // and with it a step of the World, which finds out what they allow
	b.writer.Enqueue(id(name))
	b.enqueueAll(ctx, was, k)
}

// protect tells those who run fleets what a Backend holds of deletions there; nil: it is gone.
func (b *Controller) protect(name string, spec *v1alpha1.BackendSpec) {
	switch {
	case b.Fleets == nil:
	case spec == nil || spec.Bind9 == nil:
		b.Fleets.Protect(name, types.NamespacedName{}, plan.Protection{})
	default:
		ref := spec.Bind9.ClusterRef
		b.Fleets.Protect(name, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name},
			dialect.Protection(spec.Protection))
	}
}

// selects reports whether what a Backend grants depends on the labels of Namespaces.
func selects(s *v1alpha1.BackendSpec) bool {
	return slices.ContainsFunc(s.Grants, func(g v1alpha1.Grant) bool { return g.NamespaceSelector != nil })
}

// grantsOf are what a Backend grants. Grants that cannot be read grant nothing, and close the Backend all the same.
func grantsOf(backend *v1alpha1.Backend, namespaces map[string]labels.Set) ([]zone.Grant, []string) {
	grants, problems := dialect.ConvertGrants(backend, namespaces)
	if len(backend.Spec.Grants) > 0 && grants == nil {
		grants = []zone.Grant{{}}
	}
	return grants, problems
}

// resolver reads what specs refer to.
func (s Source) resolver(ctx context.Context) resolver {
	r := resolver{namespace: s.Namespace, embedded: s.Embedded, fleets: s.fleets,
		secrets: func(namespace, name string) (*corev1.Secret, error) {
			var secret corev1.Secret
			if err := s.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
				return nil, err
			}
			return &secret, nil
		}}
	switch {
	case s.Classes == nil:
	case s.examines:
		r.class = func(name string) (controller.ClassServer, *controller.Outcome) {
			return controller.ClassServer{}, s.Classes.Examine(ctx, name)
		}
	default:
		r.class = s.Classes.Class
	}
	return r
}

// settings resolves the spec of a Backend, or says why it cannot be used: without the registries nobody knows what is
// others'.
func (s Source) settings(ctx context.Context, backend *v1alpha1.Backend) (Settings, *registry.Registry, *TableSettings,
	*controller.Outcome) {
	r := s.resolver(ctx)
	registries, trouble := r.registries(&backend.Spec)
	if trouble != nil {
		return Settings{}, nil, nil, trouble
	}
	var table *TableSettings
	if registries != nil {
		if table, trouble = r.table(&backend.Spec, registries.Owners); trouble != nil {
			return Settings{}, nil, nil, trouble
		}
	}
	settings, trouble := r.settings(&backend.Spec)
	if settings.Embedded != nil {
		settings.Embedded.Name = backend.Name
	}
	return settings, registries, table, trouble
}

// connect makes the clients of a Backend. When it cannot be used any more, it has none.
func (b *Controller) connect(ctx context.Context, name string, settings Settings) known {
	if settings.Cluster.Name != "" {
		servers, trouble := b.Fleets.Fleet(settings.Cluster)
		return known{settings: settings, servers: servers, trouble: trouble}
	}
	old, _ := b.lookup(name)
	if settings.Provider != nil {
		return b.provider(ctx, name, settings, old)
	}
	if old.trouble == nil && reflect.DeepEqual(old.settings, settings) {
		return known{settings: settings, servers: old.servers}
	}
	servers, err := b.Connect(settings)
	if err != nil {
		return known{trouble: problem(controller.ReasonInvalidSpec, "The Backend cannot be used: %v.", err)}
	}
	return known{settings: settings, servers: servers}
}

func (s Source) namespaces(ctx context.Context) (map[string]labels.Set, error) {
	var list corev1.NamespaceList
	if err := s.Client.List(ctx, &list); err != nil {
		return nil, err
	}
	out := make(map[string]labels.Set, len(list.Items))
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].Labels
	}
	return out, nil
}

// keeps reports whether foreign sets stay, so that a ledger tells what is ours. Zones of servers of ours have none. The
// server of a DNSClass shows a set only to who names it: without a ledger nobody would find what is to go.
func keeps(s *v1alpha1.BackendSpec) bool {
	switch {
	case s.Embedded != nil, s.Bind9 != nil:
		return false
	case s.DNSClass != nil:
		return true
	}
	return s.Foreign != v1alpha1.ForeignDelete
}
