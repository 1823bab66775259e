package delivery

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Store keeps in the cluster what has to survive the operator. A dialect has one.
// Methods return when it is stored.
type Store interface {
	// Load returns what is stored about a Zone, false if there is no such object.
	Load(id zone.ID) (Stored, bool)
	// Hold stores where a Zone is delivered and sees to it that the object cannot vanish
	// before that has been withdrawn. An empty list lets the object go.
	Hold(ctx context.Context, id zone.ID, where []Delivered) error
	// Raise stores the highest serial that the Zone may have used.
	Raise(ctx context.Context, id zone.ID, ceiling uint32) error
	// Record stores that sets are about to be published among foreign ones.
	Record(ctx context.Context, id zone.ID, sets []rr.Set) error
}

// Deliveries has every accepted Zone sent to the Backends that it belongs to, and withdrawn from where it belongs no
// more. Content goes to the engine at once; what needs the API server first goes through a queue. Its methods are
// for whose Zones these are. Who has Backends, or runs servers, has no more to do with it than Places, or Servers, let
// them.
type Deliveries struct {
	*outside
	state guarded.Value[state]
}

// outside is what Deliveries use, and whom they tell. It does not change once they run.
type outside struct {
	store   Store
	clock   func() time.Time
	log     *slog.Logger
	behind  func(zone.ID, uint32) *controller.Outcome
	history Earlier   // nil: there is none
	left    LeftStore // nil: Zones wait until they are withdrawn
	metrics *controller.Metrics
	queue   *controller.Writer
	listeners
}

// listeners are called with what is news.
type listeners struct {
	changed      func(zone.ID) // the outcome of a Zone may have changed
	dialectDrift func(Drift)
	// onDrift is for whoever runs the servers.
	onDrift     func(Drift)
	settled     func([]zone.ID)         // the outcome of claims may have changed
	refresh     func(zone.ID)           // the outcome of every claim of a Zone may have changed
	refreshSets func(zone.ID, []rr.Key) // the outcome of the claims to some sets of a Zone may have changed
	onPlace     func(string)
	republished func(zone.ID) // what is published of a Zone may be otherwise than the World's last step told
}

// state is where Zones are delivered and are to be. It is what the lock of Deliveries guards, with all that it leads
// to: deliveries, their feeds, and what is attached.
type state struct {
	*outside
	engine *Engine

	places places
	// Places have changed, so what their grants allow has to be found anew. Until it is,
	// no Zone is refused, it is only unknown.
	regrant bool
	asked   []zone.ID // meanwhile
	zones   map[zone.ID]*delivery
	judged  bool               // the World has settled: before, no Zone is refused, it is only unknown
	earlier map[zone.ID]Stored // what earlier runs have stored, until it is taken over
	asks    map[zone.ID]Freeze // Zones whose objects ask to be frozen
	feeds   map[string]*zoneFeed
	opening opening
	heirs   heirs

	attachings uint64 // so far
	follower   core.Follower
}

// Config is what Deliveries need.
type Config struct {
	Store   Store
	Clock   func() time.Time
	Log     *slog.Logger
	Metrics *controller.Metrics
	Changed func(zone.ID)
	Settled func([]zone.ID)
	Refresh func(zone.ID)
	// RefreshSets is Refresh for the claims of some sets of a Zone.
	RefreshSets func(zone.ID, []rr.Key)
	// Behind says who is to have a serial besides, and does not; nil: nobody.
	Behind func(id zone.ID, serial uint32) *controller.Outcome
	// OnDrift hears that somebody else has changed a Zone at a server; nil: nobody does.
	OnDrift func(Drift)
	// Republished hears that Outgoing returns something else, as a Zone was frozen or thawed; nil: nobody does.
	Republished func(zone.ID)
	Earlier     Earlier // of a Zone that is rolled back; nil: there is no history
}

// New returns Deliveries without an engine; Run gives them one.
func New(c Config) *Deliveries {
	o := &outside{
		store: c.Store, clock: c.Clock, log: c.Log, behind: c.Behind, history: c.Earlier, metrics: c.Metrics,
		listeners: listeners{
			changed: c.Changed, settled: c.Settled, refresh: c.Refresh, refreshSets: c.RefreshSets,
			dialectDrift: c.OnDrift, republished: c.Republished, onPlace: func(string) {},
		},
	}
	if o.republished == nil {
		o.republished = func(zone.ID) {}
	}
	d := &Deliveries{outside: o}
	st, unlock := d.state.Lock()
	defer unlock()
	*st = state{outside: o, places: places{}, zones: map[zone.ID]*delivery{}, feeds: map[string]*zoneFeed{},
		heirs: newHeirs(), asks: map[zone.ID]Freeze{}}
	d.queue = controller.NewWriter(8, c.Log, d.sync)
	return d
}

// ShutDown ends Deliveries that do not run.
func (d *Deliveries) ShutDown() { d.queue.ShutDown() }

// Run delivers through the engine until ctx ends.
func (d *Deliveries) Run(ctx context.Context, engine *Engine) error {
	st, unlock := d.state.Lock()
	st.engine, st.follower.Tracer = engine, engine.Tracer
	unlock()
	engine.join(d)
	return d.queue.Run(ctx)
}

// A delivery is one Zone's.
type delivery struct {
	id       zone.ID
	accepted bool
	stages
	snapshot zone.Snapshot // what is delivered: what the World has, unless it is frozen
	frozen   *frozen       // nil: it follows the World
	allowed  []string      // Places that its grants allow
	feeds    map[dnsname.Name]*zoneFeed
	intended []Delivered // what Hold is asked to store, until it is attached
	obstacles
	uid     types.UID
	created time.Time
	fleets  []types.NamespacedName // that it is delivered to
	traced  []trace.Span           // changes from before it is delivered
}

// stages are those that a Zone has reached since Deliveries heard of it.
type stages struct {
	known  bool // what was stored has been read
	looked bool // and it has been delivered as it says, or is new where it goes
	placed bool // it has been delivered where it is wanted
}

// obstacles are what keeps a Zone from where it is to be.
type obstacles struct {
	problem  string              // what keeps it from being withdrawn
	lacks    *controller.Outcome // the Backends that it is meant for and not delivered to
	unhosted []string            // those of them whose service does not have the zone
}

// Mint gives the newest content of a Zone its serial although no server has taken it.
func (d *Deliveries) Mint(ctx context.Context, id zone.ID) error {
	st, unlock := d.state.Lock()
	var feed *engine.Feed
	if z := st.zones[id]; z != nil && z.feeds[z.snapshot.Name] != nil {
		feed = z.feeds[z.snapshot.Name].feed
	}
	unlock()
	if feed == nil {
		return nil
	}
	_, err := feed.Mint(ctx)
	return err
}

// Waiting returns how many Zones are to be looked at, for their delivery.
func (d *Deliveries) Waiting() int { return d.queue.Len() }

// Sync asks to look at a Zone again: its object has changed.
func (d *Deliveries) Sync(id zone.ID) { d.queue.Enqueue(id) }

// Settle takes in one step of the World.
func (d *Deliveries) Settle(s core.Settlement) {
	first := !d.hasJudged()
	var stored map[zone.ID]Stored
	if first {
		stored = d.storedBefore(s)
	}
	st, unlock := d.state.Lock()
	defer unlock()
	if first {
		st.begin(s, stored)
		if st.opening.call != nil {
			time.AfterFunc(openingPatience, d.hurry)
		}
	}
	for _, delta := range s.Delta.Zones {
		snapshot, accepted := s.View.Snapshot(delta.ID)
		z := st.deliveryOf(delta.ID)
		if z.frozen != nil {
			z.frozen.note(delta, snapshot)
			snapshot = z.frozen.outgoing()
		}
		moved := z.accepted != accepted || z.snapshot.Name != snapshot.Name || !z.known
		st.heirs.note(z, accepted, snapshot.Name)
		z.accepted, z.snapshot = accepted, snapshot
		if l := z.feeds[snapshot.Name]; accepted && l != nil && l.live && !moved {
			if z.frozen != nil {
				d.queue.Enqueue(delta.ID) // to tell what waits
				continue
			}
			l.publish(snapshot, changedKeys(delta))
			if len(l.at) == 0 {
				d.queue.Enqueue(delta.ID)
			}
			continue
		}
		if l := z.feeds[snapshot.Name]; l != nil {
			l.live = false // deliver publishes: by the time that it comes to it, the Zone may be as it was before
		}
		d.queue.Enqueue(delta.ID)
	}
	if st.regrant || slices.ContainsFunc(s.Delta.Verdicts, func(id zone.ID) bool { return st.zones[id] != nil }) {
		st.allow(s.View)
	}
	for _, id := range st.asked {
		d.queue.Enqueue(id)
	}
	st.regrant, st.asked = false, nil
	st.wait(s)
}

// deliveryOf returns what there is about a Zone, and begins it if need be.
func (st *state) deliveryOf(id zone.ID) *delivery {
	z := st.zones[id]
	if z == nil {
		z = &delivery{id: id, feeds: map[dnsname.Name]*zoneFeed{}}
		st.zones[id] = z
		if f, asked := st.asks[id]; asked {
			z.freeze(f)
		}
	}
	return z
}

// storedBefore returns what earlier runs have stored.
func (o *outside) storedBefore(s core.Settlement) map[zone.ID]Stored {
	all := map[zone.ID]Stored{}
	for _, input := range s.Inputs {
		if input.ID.Kind != zone.KindZone {
			continue
		}
		if stored, exists := o.store.Load(input.ID); exists {
			all[input.ID] = stored
		}
	}
	if o.left != nil {
		for _, id := range o.left.All() {
			if stored, exists := o.store.Load(id); exists {
				all[id] = stored
			}
		}
	}
	return all
}

// begin takes in the first step of the World: all Zones that there are.
func (st *state) begin(s core.Settlement, stored map[zone.ID]Stored) {
	st.judged, st.earlier = true, stored
	st.opening.begin(s)
	st.queue.Enqueue(zone.ID{}) // nothing is the last to arrive where nothing is to be delivered
	for _, id := range changedFirst(stored, s.View.Snapshot) {
		st.queue.Enqueue(id)
	}
}

// changedFirst returns Zones in the order in which a new leader looks at them: what has changed since an earlier run
// comes before what is only to be seen at its servers.
func changedFirst(stored map[zone.ID]Stored, now func(zone.ID) (zone.Snapshot, bool)) []zone.ID {
	var changed, others []zone.ID
	for id, was := range stored {
		if snapshot, accepted := now(id); accepted && !was.of(snapshot) {
			changed = append(changed, id)
		} else {
			others = append(others, id)
		}
	}
	return append(changed, others...)
}

// changedKeys is what Feed.Publish takes: nil for unknown.
func changedKeys(delta zone.ZoneDelta) []rr.Key {
	if delta.Fresh {
		return nil
	}
	if delta.Changed == nil {
		return []rr.Key{}
	}
	return delta.Changed
}

// allow notes which closed Places may serve which Zones.
func (st *state) allow(w *zone.World) {
	closed := slices.Collect(maps.Values(st.places))
	closed = slices.DeleteFunc(closed, func(p *Place) bool { return !p.Closed })
	for id, z := range st.zones {
		if len(closed) == 0 && len(z.allowed) == 0 {
			continue
		}
		var allowed []string
		for _, p := range closed {
			if z.accepted && p.allows(w, id) {
				allowed = append(allowed, p.Name)
			}
		}
		slices.Sort(allowed)
		if !slices.Equal(allowed, z.allowed) {
			z.allowed = allowed
			st.queue.Enqueue(id)
		}
	}
}
