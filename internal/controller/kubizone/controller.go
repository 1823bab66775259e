package kubizone

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/history"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=kubi.zone,resources=zones;records,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kubi.zone,resources=zones/status;records/status,verbs=patch
// +kubebuilder:rbac:groups=kubi.zone,resources=zones/finalizers,verbs=update
// +kubebuilder:rbac:groups=zonefold.dev,resources=zoneslices,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=zonefold.dev,resources=zonerevisions,verbs=list;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=zones.kubi.zone;records.kubi.zone;backends.zonefold.dev;zoneslices.zonefold.dev,verbs=get

// Schemas are what the dialect needs of the cluster.
func Schemas() []controller.Schema {
	return []controller.Schema{
		{CRD: "zones.kubi.zone", Version: "v1alpha1", Fields: []string{
			"spec.delegations.namespace", "status.conditions", "status.backends.fqdn", "status.serialCeiling", "status.slices",
			"status.held",
		}},
		{CRD: "records.kubi.zone", Version: "v1alpha1", Fields: []string{"status.conditions", "status.observedGeneration"}},
		// Without one of them the status of a Backend would never be as it was written, and be written again and again, or
		// forget what it alone knows.
		{CRD: "backends.zonefold.dev", Version: "v1alpha1", Fields: []string{"status.conditions", "status.observedGeneration",
			"status.type", "status.zones", "status.leftBehind.uid", "status.leftBehind.text"}},
	}
}

// Config is what the dialect needs from outside.
type Config struct {
	Client        client.Client // reads from Cache
	Live          client.Reader // asks the API server
	Cache         cache.Cache
	Events        events.EventRecorder
	Log           *slog.Logger
	Metrics       *controller.Metrics
	Clock         backend.Clock
	Rand          func() float64 // from 0 to less than 1
	Engine        *delivery.Engine
	Fleets        delivery.Fleets      // that Backends may name; nil: there are none
	MaxSet        int                  // records in a set; 0: zone.DefaultMaxSet
	RequireGrants bool                 // nobody has a root Zone without a grant, also while no Backend has any
	History       int                  // ZoneRevisions that a Zone keeps; 0: none
	MaxEntries    int                  // in status.entries before ZoneSlices are used; 0: as many as there is room for
	Leads         func() bool          // whether nobody else can have become the leader; nil: nobody else ever does
	Foresight     *core.Foresight      // is told what to ask; nil: nobody asks
	Inspection    *delivery.Inspection // is told what knows the servers; nil: nobody asks
	// Judged is told what was decided about claims that others have put into the Core; nil: nobody has.
	Judged func(claim zone.ID, v zone.Verdict)
}

// Controller is the dialect at work. It is made for one term of leadership.
type Controller struct {
	Config
	Core       *core.Core
	Deliveries *delivery.Deliveries

	ceilings *controller.Ceilings
	backlog  *delivery.Backlog
	objects  *objects.Writer
	past     *past
	ledgers  *ledgers
	states   *objectStates

	zones   *controller.Writer
	records *controller.Writer

	outgoing guarded.Turn // to ask for what is published of a Zone, and keep it; before memory
	memory   guarded.Value[memory]
}

// memory is what is known of Zones beyond the cache.
type memory struct {
	zoneStates map[zone.ID]*zoneState
}

// objectStates has what is known about objects beyond the cache.
type objectStates struct {
	clock func() time.Time
	known guarded.Value[stateByID]
}

type stateByID map[zone.ID]*written

// written is what is known about an object beyond the cache.
type written struct {
	taken   core.Version // what the verdict is about
	refused bool         // a server refuses it: what pending is about
	reason  zone.Reason

	pending    int64 // since when it may settle by itself, Unix nanoseconds; 0: it does not
	generation int64 // of the object that is on its way
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	k := &Controller{Config: c, states: &objectStates{clock: c.Clock.Now}}
	m, unlock := k.memory.Lock()
	*m = memory{zoneStates: map[zone.ID]*zoneState{}}
	unlock()
	k.objects = &objects.Writer{Client: c.Client, Leads: c.Leads, Wrote: c.Metrics.Wrote, Now: c.Clock.Now}
	k.past = &past{Keeper: history.New(history.Config{Keep: c.History, Live: c.Live, Objects: k.objects,
		Clock: c.Clock.Now, Log: c.Log, KindOf: kindOf})}
	k.ledgers = &ledgers{client: c.Client, live: c.Live, objects: k.objects, events: c.Events, log: c.Log,
		term:  fmt.Sprintf("%08x", uint32(c.Rand()*(1<<32))),
		learn: func(id zone.ID, sets rr.Sets) { k.Deliveries.Learn(id, sets) }, look: k.enqueue}
	k.ceilings = newCeilings(k.objects, c.Live)
	k.Core = core.New(core.Config{
		Options: zone.Options{MaxSet: c.MaxSet, RequireGrants: c.RequireGrants, PublicSuffix: dialect.PublicSuffix},
		Clock:   c.Clock.Now, Metrics: c.Metrics, Log: c.Log, Settled: k.settled,
	})
	deliveries := delivery.Config{
		Store: (*store)(k), Clock: c.Clock.Now, Log: c.Log, Metrics: c.Metrics,
		Changed: k.enqueue, Settled: k.enqueueAll, Republished: k.republished, Earlier: k.earlier,
		Refresh:     func(id zone.ID) { k.enqueueAll(k.Core.Served(id)) },
		RefreshSets: func(id zone.ID, keys []rr.Key) { k.enqueueAll(k.Core.ServedAt(id, keys)) },
	}
	if f := c.Fleets; f != nil {
		deliveries.Behind = f.Behind
		deliveries.Changed = func(id zone.ID) {
			k.enqueue(id)
			f.Reassigned(id)
		}
	}
	k.Deliveries = delivery.New(deliveries)
	if c.Fleets != nil {
		c.Fleets.Host(k.Deliveries.Servers())
	}
	k.backlog = delivery.NewBacklog(c.Clock.Now, func() int { return k.Deliveries.Waiting() + k.Engine.Waiting() },
		k.Core.Busy)
	k.zones = controller.NewWriter(4, c.Log, k.writeZone)
	k.zones.Busy = k.backlog.Busy
	k.records = controller.NewWriter(16, c.Log, k.writeRecord)
	k.records.Busy = k.backlog.Busy
	return k
}

// Busy reports whether statuses have to wait for what is on its way to servers.
func (k *Controller) Busy() bool { return k.backlog.Busy() }

// Objects returns what writes to the objects of the dialect.
func (k *Controller) Objects() *objects.Writer { return k.objects }

// End ends a Controller whose Run has returned, or was never called: its queues have goroutines from the beginning.
func (k *Controller) End() {
	k.zones.ShutDown()
	k.records.ShutDown()
	k.Deliveries.ShutDown()
}

// Run follows the cluster and delivers until ctx ends. Nothing is delivered before ready returns true; it is asked when
// all Zones and Records have been put into the Core. When ctx ends, Run finishes what is under
// way and returns, so that the lease is released after the last write.
func (k *Controller) Run(ctx context.Context, ready func(context.Context) bool) error {
	synced, err := gatherer{k}.gather(ctx)
	if err != nil {
		return err
	}
	var parts sync.WaitGroup
	parts.Go(func() { _ = k.zones.Run(ctx) })
	parts.Go(func() { _ = k.records.Run(ctx) })
	parts.Go(func() { _ = k.Deliveries.Run(ctx, k.Engine) })
	if k.Foresight != nil {
		k.Foresight.Use(k.Core, k.Deliveries.Places())
		defer k.Foresight.Use(nil, nil)
	}
	if k.Inspection != nil {
		defer k.Inspection.Use(delivery.InspectorOf(k.Core, k.Deliveries))()
	}
	err = k.Core.Run(ctx, func(ctx context.Context) bool {
		return toolscache.WaitForCacheSync(ctx.Done(), synced...) && ready(ctx)
	})
	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	k.Engine.Stop(stop)
	parts.Wait()
	return err
}

// settled hands one step of the World on.
func (k *Controller) settled(s core.Settlement) {
	k.states.take(s.Inputs)
	k.past.settled(s)
	k.Deliveries.Settle(s)
	k.follow(s)
	for _, id := range s.Delta.Verdicts {
		k.judge(id, s.View)
	}
}

// take notes what the verdicts are about from now on, before anybody writes them down.
func (t *objectStates) take(touched []core.Input) {
	m, unlock := t.known.Lock()
	defer unlock()
	for _, o := range touched {
		if _, known := (*m)[o.ID]; known || o.Version != (core.Version{}) {
			m.of(o.ID).taken = o.Version
		}
	}
}

// judge keeps the metric of verdicts.
func (k *Controller) judge(id zone.ID, w *zone.World) {
	v, ok := w.Verdict(id)
	if k.Judged != nil && ok && id.Kind != zone.KindZone && id.Kind != zone.KindRecord {
		k.Judged(id, v)
	}
	k.Metrics.Judged(id.Kind, string(k.states.judge(id, v.Reason, ok)), string(v.Reason))
	if !ok {
		k.enqueue(id)
	}
}

// judge notes why an object is not accepted, if the World knows it, and returns what was noted before.
func (t *objectStates) judge(id zone.ID, now zone.Reason, known bool) (before zone.Reason) {
	m, unlock := t.known.Lock()
	defer unlock()
	state := m.of(id)
	before, state.reason = state.reason, now
	if !known {
		delete(*m, id)
	}
	return before
}

// of returns what is known about an object beyond the cache.
func (m *stateByID) of(id zone.ID) *written {
	if *m == nil {
		*m = stateByID{}
	}
	w := (*m)[id]
	if w == nil {
		w = &written{}
		(*m)[id] = w
	}
	return w
}

func (k *Controller) enqueue(id zone.ID) {
	switch id.Kind {
	case zone.KindZone:
		k.zones.Enqueue(id)
	case zone.KindRecord:
		k.records.Enqueue(id)
	}
}

func (k *Controller) enqueueAll(ids []zone.ID) {
	for _, id := range ids {
		k.enqueue(id)
	}
}

// grace is how long something may be on its way before that is worth a write.
const grace = 2 * time.Second

// unjudged reports whether the World has not judged an object as it is in the cache: somebody looks again when it has.
func (t *objectStates) unjudged(id zone.ID, o client.Object) bool {
	m, unlock := t.known.Lock()
	defer unlock()
	var taken core.Version
	if w := (*m)[id]; w != nil {
		taken = w.taken
	}
	return taken != core.VersionOf(o) && o.GetDeletionTimestamp().IsZero()
}

// forget drops what is known about an object that is gone, unless the World has another of its name by now.
func (t *objectStates) forget(id zone.ID) {
	m, unlock := t.known.Lock()
	defer unlock()
	if w := (*m)[id]; w != nil && w.taken == (core.Version{}) {
		delete(*m, id)
	}
}
