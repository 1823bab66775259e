// Package zones has DNSZones and their records served by the pods of Bind9Instances. It puts them into a Core of their
// own, finds out which instances have a zone and which of these signs it, has the engine deliver it to primaries, makes
// secondaries follow these, and writes the statuses of zones and records. What an instance may have is in its status
// before a pod is given it, and stays there until all pods have lost it. It makes no pods and changes nothing about
// servers but what they serve: package fleet does that, and asks for what this one knows through its interface Zones.
// Zones of other dialects, which Backends put on a cluster, are here as well, as assignments: an assigner is the part
// for whoever has Backends.
//
// A look finds the pods of one instance and their keys. allocating decides which instances have a zone. A visit brings
// what a zone is at one pod, beside its content, to what it should be, and a sweep removes from the pods of an instance
// what it is not to have. Reports say what the status of a zone or a record is to be. protections are what Backends
// hold of deletions. All of them share the state.
package zones

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/history"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// DNS is what the dialect needs to deliver zones: the controllers know no backend, so who puts the parts together makes
// the clients of pods.
type DNS struct {
	// Primary makes the client of a primary server, the same one for the same Pod. The Backend may be a Primary.
	Primary func(*Pod) (delivery.Server, error)
	// Secondary makes the client of a secondary server.
	Secondary func(*Pod) (Follower, error)
	Clock     backend.Clock
	Engine    *delivery.Engine
	MaxSet    int // records in a set; 0: zone.DefaultMaxSet
	// Patience is how long a zone that is being deleted waits for servers that do not answer, which lose it when they are
	// back. 0: a minute.
	Patience time.Duration
}

// A Follower is a secondary server: it is told which zones to follow, and asked how far it is.
type Follower interface {
	engine.Reader // of what it has of a zone

	// Follow has it follow the primaries, with the transfer key of a name; "": with none. Anew, what it has from when it
	// was a primary itself goes first; else that is ErrConflict.
	Follow(ctx context.Context, zone dnsname.Name, primaries []netip.AddrPort, key string, anew bool) (changed bool,
		err error)
	Remove(ctx context.Context, zone dnsname.Name) error
	// Serial is the one that it has of a zone.
	Serial(ctx context.Context, zone dnsname.Name) (uint32, error)
	// Holds reads all that it has of a zone, and reports whether that is what is wanted.
	Holds(ctx context.Context, zone dnsname.Name, want rr.Sets) (bool, error)
	// Renew has it transfer the whole zone.
	Renew(ctx context.Context, zone dnsname.Name) error
	// Refresh has it ask the primaries.
	Refresh(ctx context.Context, zone dnsname.Name) error
}

// Config is what the zones need from outside.
type Config struct {
	DNS
	Client  client.Client // reads from Cache
	Live    client.Reader // asks the API server
	Cache   cache.Cache
	Events  events.EventRecorder
	Log     *slog.Logger
	Metrics *controller.Metrics
	Objects *objects.Writer
	Servers *servers.Servers
	Records []client.Object // the kinds of records that there are
	History int             // ZoneRevisions that a zone keeps; 0: none
	// Inspection is told what knows the servers of zones; nil: nobody asks.
	Inspection *delivery.Inspection
}

// Zones has DNSZones and records served by the pods of instances. It is made for one term of leadership.
type Zones struct {
	Config
	ceilings   *controller.Ceilings
	foresight  core.Foresight
	deliveries *delivery.Deliveries
	past       *history.Keeper
	backlog    *delivery.Backlog

	protections *protections

	queues
	servers *controller.Writer // what a zone is at one pod, beside its content

	assigner *assigner
	pending  pendingInstances

	// Whoever has one of these two may lock the state as well, never the other way round.
	settling   guarded.Value[settling]
	allocating guarded.Value[allocating]
	state      guarded.Value[state]

	beginning
}

// beginning is how far a term of leadership has begun.
type beginning struct {
	looked chan struct{} // closed when it is known which servers there are
	first  atomic.Bool   // the World has settled
}

// state is what the Zones know.
type state struct {
	z        *Zones
	homes    *dialect.Homes
	known    map[zone.ID]*known      // DNSZones and records
	counted  map[zone.ID]zone.Reason // by what metrics say of these
	fleets   map[zone.ID]fleetOf     // of DNSZones, and of assignments
	hosts    map[client.ObjectKey]*host
	parting  map[client.ObjectKey][]v1beta1.InstanceZone // zones that go when the status of an instance lists them
	follows  map[zone.ID]map[types.UID]*follow           // of zones, by pod
	notified map[zone.ID]uint32                          // the serial that secondaries were told of last
	telling  map[telling]int
	names    nameIndex
	gone     map[zone.ID]zone.ID            // the zones of records that were deleted, until the World has settled
	due      map[client.ObjectKey]time.Time // when instances are, or were, looked at because of their zones
	assigned
	wake workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// assigned is what is known of the zones of the other dialect.
type assigned struct {
	assignments map[zone.ID]assignment
	takenOver   map[zone.ID]bool           // by assigner.reconcile; nil: all that there were when it began
	onFleet     func(types.NamespacedName) // nil: nobody asks
}

// known is what is known of an object beyond the cache.
type known struct {
	zone    *v1beta1.DNSZone // of a zone: as it was gathered last
	record  dialect.Record   // of a record: likewise
	taken   core.Version
	held    []delivery.Delivered
	holding bool      // held is what we wrote last, the cache may lag behind
	pending time.Time // since when it may settle by itself; zero: it does not
	written time.Time // of a zone: when its status was

	signs      client.ObjectKey    // of a zone: the instance that signs it
	keysIn     string              // of a zone: what has the keys of that; "": it has none, or that is not known
	signatures *backend.Signatures // of a zone: what that has shown last; nil: nothing yet
}

// New returns Zones that have not begun.
func New(c Config) *Zones {
	z := &Zones{Config: c, beginning: beginning{looked: make(chan struct{})}}
	z.knowNothing()
	z.ceilings = newCeilings(c)
	z.past = history.New(history.Config{Keep: c.History, Live: c.Live, Objects: c.Objects, Clock: c.Clock.Now,
		Log: c.Log, KindOf: kindOf})
	z.Patience = cmp.Or(z.Patience, time.Minute)
	z.core = core.New(core.Config{
		Options: zone.Options{MaxSet: c.MaxSet}, Clock: c.Clock.Now, Metrics: c.Metrics, Log: c.Log,
		Settled: z.settled,
	})
	z.foresight.Use(z.core, nil)
	z.deliveries = delivery.New(delivery.Config{
		Store: (*zoneStore)(z), Clock: c.Clock.Now, Log: c.Log, Metrics: c.Metrics,
		Changed: z.changed, Settled: z.enqueueAll, Refresh: z.refresh, RefreshSets: z.refreshSets,
		OnDrift: drifts{z}.report, Republished: histories{z}.republished, Earlier: histories{z}.earlier,
	})
	z.protections = newProtections(z.deliveries.Places())
	z.deliveries.Places().OnNews(z.wakePlace)
	z.deliveries.Servers().OnDrift(drifts{z}.suspect)
	z.backlog = delivery.NewBacklog(c.Clock.Now,
		func() int { return z.deliveries.Waiting() + z.Engine.Waiting() + z.servers.Len() }, z.core.Busy)
	z.zones = controller.NewWriter(4, c.Log, z.writeZone)
	z.zones.Busy = z.backlog.Busy
	z.records = controller.NewWriter(16, c.Log, z.writeRecord)
	z.records.Busy = z.backlog.Busy
	z.servers = controller.NewWriter(8, c.Log, z.serve)
	z.assigner.queue = controller.NewWriter(2, c.Log, z.assigner.reconcile)
	return z
}

// knowNothing has nothing be known.
func (z *Zones) knowNothing() {
	a, unlock := z.allocating.Lock()
	defer unlock()
	s, unlock := z.settling.Lock()
	defer unlock()
	a.z, s.z = z, z
	z.assigner, z.pending.z = &assigner{z: z}, z
	st, unlock := z.state.Lock()
	defer unlock()
	*st = state{
		z: z, homes: dialect.NewHomes(), known: map[zone.ID]*known{}, counted: map[zone.ID]zone.Reason{},
		fleets: map[zone.ID]fleetOf{},
		hosts:  map[client.ObjectKey]*host{}, follows: map[zone.ID]map[types.UID]*follow{}, notified: map[zone.ID]uint32{},
		parting: map[client.ObjectKey][]v1beta1.InstanceZone{}, telling: map[telling]int{},
		names: newNameIndex(), gone: map[zone.ID]zone.ID{}, due: map[client.ObjectKey]time.Time{},
		assigned: assigned{assignments: map[zone.ID]assignment{}, takenOver: map[zone.ID]bool{}},
	}
}

// idsWhere returns the IDs of what something is true of, sorted: the same happens each time.
func idsWhere[V any](all map[zone.ID]V, is func(zone.ID, V) bool) (ids []zone.ID) {
	for id, v := range all {
		if is(id, v) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, zone.ID.Compare)
	return ids
}

// writers are those of the Zones.
func (z *Zones) writers() []*controller.Writer {
	return []*controller.Writer{z.zones, z.records, z.servers, z.assigner.queue}
}

// End ends what New has begun.
func (z *Zones) End() {
	for _, w := range z.writers() {
		w.ShutDown()
	}
	z.deliveries.ShutDown()
}

// Run gathers and delivers until ctx ends.
func (z *Zones) Run(ctx context.Context) error {
	synced, err := gatherer{z}.gather(ctx)
	if err != nil {
		return err
	}
	var parts sync.WaitGroup
	for _, w := range z.writers() {
		parts.Go(func() { _ = w.Run(ctx) })
	}
	parts.Go(func() { _ = z.deliveries.Run(ctx, z.Engine) })
	if z.Inspection != nil {
		defer z.Inspection.Use(inspector{z})()
	}
	err = z.core.Run(ctx, func(ctx context.Context) bool {
		return toolscache.WaitForCacheSync(ctx.Done(), synced...) && z.lookAtAll(ctx)
	})
	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	z.Engine.Stop(stop)
	parts.Wait()
	return err
}

// lookAtAll finds the servers that there are, before anything is decided about zones: what is unknown is not gone.
func (z *Zones) lookAtAll(ctx context.Context) bool {
	for {
		var all v1beta1.Bind9InstanceList
		err := z.Client.List(ctx, &all)
		for i := range all.Items {
			if err == nil {
				err = z.Look(ctx, client.ObjectKeyFromObject(&all.Items[i]))
			}
		}
		if err == nil || ctx.Err() != nil {
			z.allocate((*allocating).all)
			close(z.looked)
			return ctx.Err() == nil
		}
		z.Log.Warn("the servers cannot be found yet", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// settled hands one step of the World on.
func (z *Zones) settled(s core.Settlement) {
	st, unlock := z.state.Lock()
	for _, o := range s.Inputs {
		if k := st.known[o.ID]; k != nil {
			k.taken = o.Version
		}
	}
	for _, id := range s.Delta.Verdicts {
		st.count(id, s.View)
	}
	news := st.judged(s)
	unlock()
	t, done := z.settling.Lock()
	t.settle(s)
	done()
	z.revisit(news)
	if z.first.CompareAndSwap(false, true) { // what waited until anything is known
		st, unlock := z.state.Lock()
		hosts := slices.Collect(maps.Keys(st.hosts))
		unlock()
		z.wakeInstances(hosts...)
	}
	for _, delta := range s.Delta.Zones {
		z.enqueue(delta.ID)
	}
	z.enqueueAll(s.Delta.Adopters) // they count their records, of which two may ask for the same
	z.enqueueAll(s.Delta.Verdicts)
	for _, o := range s.Inputs { // a server that hangs reports nothing
		if o.ID.Kind != v1beta1.KindZone {
			z.records.EnqueueAfter(o.ID, grace)
		}
	}
}

// count keeps the metric of verdicts.
func (st *state) count(id zone.ID, w *zone.World) {
	v, ok := w.Verdict(id)
	st.z.Metrics.Judged(id.Kind, string(st.counted[id]), string(v.Reason))
	if st.counted[id] = v.Reason; !ok {
		delete(st.counted, id)
	}
}

// changed is told whenever the outcome of a zone may have changed.
func (z *Zones) changed(id zone.ID) {
	z.news(id)
	z.visitServers(id)
}

// revisit has zones looked at that may have other servers now.
func (z *Zones) revisit(ids []zone.ID) {
	for _, id := range ids {
		z.changed(id)
		z.wakeInstances(z.fleetOf(id).all()...)
	}
}

// Wakes is a source of instances to look at.
func (z *Zones) Wakes(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	st, unlock := z.state.Lock()
	defer unlock()
	st.wake = queue
	return nil
}

func (z *Zones) wakePlace(name string) {
	if key, ok := instanceOf(name); ok {
		z.wakeInstances(key)
	}
}

// know returns what is known of an object.
func (st *state) know(id zone.ID) *known {
	k := st.known[id]
	if k == nil {
		k = &known{}
		st.known[id] = k
	}
	return k
}

func (z *Zones) zone(ctx context.Context, id zone.ID) (*v1beta1.DNSZone, error) {
	var o v1beta1.DNSZone
	if err := z.Client.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &o); err != nil {
		return nil, fmt.Errorf("reading %s: %w", id, err)
	}
	return &o, nil
}
