package bindy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
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

// Config is what the dialect needs from outside.
type Config struct {
	dialect.Settings
	Client  client.Client // reads from Cache
	Live    client.Reader // asks the API server
	Cache   cache.Cache   // made with CacheOptions
	Events  events.EventRecorder
	Log     *slog.Logger
	Metrics *controller.Metrics
	Clock   func() time.Time
	Leads   func() bool // whether nobody else can have become the leader; nil: nobody else ever does
	// Token is what the sidecars of a namespace know the operator by; nil: a token of its ServiceAccount, for their
	// Audience.
	Token func(ctx context.Context, namespace string) (string, error)
	DNS   *DNS // nil: servers are made, and get no zones
	// Sidecars is the way to those; nil: the machine's.
	Sidecars http.RoundTripper
	// Records are the kinds of records that are Served; nil: all.
	Records []client.Object
	// Inspection is told what knows the servers of zones; nil: nobody asks.
	Inspection *controller.Inspection
}

// Controller is the dialect at work. It is made for one term of leadership.
type Controller struct {
	Config
	objects  *objects.Writer
	children *objects.Applier
	keys     keyset
	sidecars sidecars
	tokens   tokens
	http     *http.Client // to sidecars

	accounting controller.Turn // held while a ServiceAccount is made or removed
	rolling    controller.Turn // held while it is decided whose pods are replaced
	line       line
	users      contents
	zones      *Zones // nil: servers get no zones
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	writer := &objects.Writer{Client: c.Client, Leads: c.Leads, Wrote: c.Metrics.Wrote}
	b := &Controller{Config: c, http: sidecarHTTP(c.Sidecars), objects: writer, children: newChildren(writer, c.Live)}
	if c.DNS != nil {
		b.zones = newZones(b, *c.DNS)
	}
	return b
}

// newChildren returns what brings children to what is wanted.
func newChildren(w *objects.Writer, live client.Reader) *objects.Applier {
	return &objects.Applier{Writer: w, Live: live, Annotation: v1beta1.AppliedAnnotation,
		Custom: v1beta1.GroupVersion.Group, Takes: takes}
}

// End ends a Controller whose Run has returned, or was never called: its queues have goroutines from the beginning.
func (b *Controller) End() {
	if b.zones != nil {
		b.zones.end()
	}
}

// A part is one reconciler and what wakes it.
type part struct {
	kind    client.Object   // what it reconciles
	owns    []client.Object // its children, each of which wakes what controls it
	watches []watch         // what else wakes it
	workers int             // how many objects at a time; 0: one
	// reconcile brings one object to what its spec asks for. It is called for every change of the object and of what wakes
	// it, and again after a while if it says so; 0 means that an event will tell.
	reconcile func(ctx context.Context, key client.ObjectKey) (time.Duration, error)
}

// A watch says which objects a change of another one wakes.
type watch struct {
	object client.Object
	wakes  func(ctx context.Context, o client.Object) []client.ObjectKey
}

// parts are the reconcilers of the dialect.
func (b *Controller) parts() []part {
	return []part{b.providers(), b.clusters(), b.instances(), b.accounts(), b.bindings()}
}

// Objects are what has to be in the cache before the dialect can work with these kinds of records, so that a follower
// takes over at once.
func Objects(records []client.Object) []client.Object {
	b := &Controller{Config: Config{Records: records}}
	var out []client.Object
	for _, p := range b.parts() {
		out = append(out, p.kind)
		out = append(out, p.owns...)
		for _, w := range p.watches {
			out = append(out, w.object)
		}
	}
	return append(out, b.zoneObjects()...)
}

// Run reconciles until ctx ends; then it finishes what is under way and returns, so that the lease is released after
// the last write.
func (b *Controller) Run(ctx context.Context) error { return b.run(ctx, b.parts()) }

func (b *Controller) run(ctx context.Context, parts []part) error {
	// A cache that lags behind the former leader would have instances removed that were wanted meanwhile.
	catchUp := controller.CatchUp{Live: b.Live, Cached: b.Client, Log: b.Log}
	kinds := []client.Object{&v1beta1.ClusterBind9Provider{}, &v1beta1.Bind9Cluster{}, &v1beta1.Bind9Instance{}}
	if b.zones != nil {
		kinds = append(kinds, b.zoneObjects()...)
	}
	if err := catchUp.Wait(ctx, kinds...); err != nil {
		return nil // the term is over before it has begun
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, len(parts)+1)
	for _, p := range parts {
		c, err := b.build(p)
		if err != nil {
			return err
		}
		running.Go(func() { failed <- c.Start(ctx) })
	}
	if b.zones != nil {
		running.Go(func() { failed <- b.zones.run(ctx) })
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

// build makes the controller of a part.
func (b *Controller) build(p part) (ctrlcontroller.Controller, error) {
	gvk, err := b.Client.GroupVersionKindFor(p.kind)
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", p.kind, err)
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 5*time.Minute)
	c, err := ctrlcontroller.NewUnmanaged(gvk.Kind, ctrlcontroller.Options{
		Reconciler: b.guard(gvk.Kind, p), MaxConcurrentReconciles: p.workers, RateLimiter: jittered{limiter},
		Logger:             logr.FromSlogHandler(b.Log.Handler()),
		SkipNameValidation: ptr.To(true), // there is one for each term
	})
	if err != nil {
		return nil, fmt.Errorf("making the controller of %s: %w", gvk.Kind, err)
	}
	sources := []source.Source{source.Kind(b.Cache, p.kind, &handler.EnqueueRequestForObject{}, b.changed())}
	for _, child := range p.owns {
		wakesOwner := handler.EnqueueRequestForOwner(b.Client.Scheme(), b.Client.RESTMapper(), p.kind,
			handler.OnlyControllerOwner())
		sources = append(sources, source.Kind(b.Cache, child, wakesOwner, b.changed()))
	}
	for _, w := range p.watches {
		sources = append(sources, source.Kind(b.Cache, w.object, handler.EnqueueRequestsFromMapFunc(w.requests), b.changed()))
	}
	if b.zones != nil && gvk.Kind == v1beta1.KindInstance {
		sources = append(sources, source.Func(b.zones.wakes))
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return nil, fmt.Errorf("watching for %s: %w", gvk.Kind, err)
		}
	}
	return c, nil
}

func (w watch) requests(ctx context.Context, o client.Object) []reconcile.Request {
	keys := w.wakes(ctx, o)
	out := make([]reconcile.Request, 0, len(keys))
	for _, key := range keys {
		out = append(out, reconcile.Request{NamespacedName: key})
	}
	return out
}

// changed keeps out what a cache repeats. Who writes hears of everything first.
func (b *Controller) changed() predicate.Predicate {
	differs := predicate.ResourceVersionChangedPredicate{}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { b.objects.Saw(e.Object); return true },
		UpdateFunc: func(e event.UpdateEvent) bool { b.objects.Saw(e.ObjectNew); return differs.Update(e) },
		DeleteFunc: func(e event.DeleteEvent) bool { b.objects.Forget(e.Object); return true },
	}
}

// How long after a failure that no event may end we look again: a conflict ends with the next version of the object;
// what belongs to somebody else may not be watched; a kind that is new is known soon; what the API server refuses stays
// refused until somebody changes a rule.
const (
	afterConflict = 50 * time.Millisecond
	afterNotOwned = time.Minute
	afterUnmapped = 5 * time.Second
	afterRefusal  = 5 * time.Minute
)

// guard turns the errors of a reconciler into when to try again.
func (b *Controller) guard(kind string, p part) reconcile.Func {
	return func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		after, err := p.reconcile(ctx, r.NamespacedName)
		if errors.Is(err, objects.ErrNotLeading) || ctx.Err() != nil {
			return reconcile.Result{}, nil //nolint:nilerr // whoever leads now does it
		}
		for _, one := range leaves(err) {
			pause, known := waitAfter(one)
			if !known {
				return reconcile.Result{}, err
			}
			if pause == afterRefusal {
				b.Log.Error("the API server refuses what is needed; it is tried again in a while", "kind", kind, "object",
					r.String(), "error", one)
			}
			if after == 0 || pause < after {
				after = pause
			}
		}
		return reconcile.Result{RequeueAfter: wait.Jitter(after, 0.1)}, nil
	}
}

// waitAfter is when to try again after an error; others are retried at once, and then less and less often.
func waitAfter(err error) (time.Duration, bool) {
	var notOwned *objects.NotOwnedError
	switch {
	case apierrors.IsConflict(err), errors.As(err, new(*objects.Behind)):
		return afterConflict, true
	case errors.As(err, &notOwned):
		return afterNotOwned, true
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot find RESTMapping"):
		// The admission plugin OwnerReferencesPermissionEnforcement learns of new definitions half a minute later.
		return afterUnmapped, true
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return afterRefusal, true
	}
	return 0, false
}

// leaves are the errors that were joined.
func leaves(err error) []error {
	var joined interface{ Unwrap() []error }
	if err == nil {
		return nil
	}
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// jittered spreads retries, so that what failed together does not return together.
type jittered struct {
	workqueue.TypedRateLimiter[reconcile.Request]
}

// When implements workqueue.TypedRateLimiter.
func (j jittered) When(r reconcile.Request) time.Duration {
	return wait.Jitter(j.TypedRateLimiter.When(r), 0.2)
}
