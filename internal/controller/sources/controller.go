package sources

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Config is what the sources need from outside.
type Config struct {
	Cache      cache.Cache // of the sources alone: nobody else waits for what they cannot read
	CatchUp    controller.CatchUp
	Events     events.EventRecorder
	Log        *slog.Logger
	Sources    []string // names of those that are on
	Options    dialect.Options
	DeleteLost bool // records go when the address of a name is lost
	// Unread is told of a kind, by its Go type, that cannot be read, and, with nil, that it has been.
	Unread func(goType string, why error)
}

// Zones are what names are asked of, and know what an earlier run has published.
type Zones interface {
	// Written returns what has been published at some names, by the records of their zones.
	Written(ctx context.Context, names []dnsname.Name) ([]rr.Set, error)
	// Kept returns claims for what has been published and is not in a World, of the types that takes says.
	Kept(ctx context.Context, w *zone.World, takes func(rr.Type) bool) ([]zone.Claim, error)
}

// Controller follows the sources that are on, for one term of leadership.
type Controller struct {
	Config
	Core   *core.Core
	Zones  Zones
	sights []*sight

	state guarded.Value[state]
}

// state is what is known of the sources.
type state struct {
	of        *Controller
	inventory *dialect.Inventory
	ready     bool // all that exists is known, or kept: claims can be made
	held      map[zone.ID]*held
	told      map[zone.ID]zone.Reason // of refused claims
	kept      []zone.Claim            // what was published, as long as some kinds have not been read
}

// held is what was made of one object.
type held struct {
	endpoints []dialect.Endpoint
	claims    []zone.ID
	version   core.Version
	notes     []zone.Note
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	s := &Controller{Config: c}
	t, unlock := s.state.Lock()
	defer unlock()
	*t = state{of: s, inventory: dialect.NewInventory(c.Options), held: map[zone.ID]*held{},
		told: map[zone.ID]zone.Reason{}}
	for _, o := range Objects(c.Sources) {
		s.sights = append(s.sights, newSight(o))
	}
	return s
}

// Run follows the objects until ctx ends.
func (s *Controller) Run(ctx context.Context) {
	var sights sync.WaitGroup
	for _, k := range s.sights {
		sights.Go(func() { s.keepInSight(ctx, k) })
	}
	sights.Wait()
}

// Ready waits until all objects that exist are known, or cannot be read, and makes their claims. Where an object has
// lost its address, and an earlier run may have known it, the claim is what the zone was last published with. For
// those that cannot be read, what was published stays that nobody else asks for.
func (s *Controller) Ready(ctx context.Context) bool {
	for _, k := range s.sights {
		select {
		case <-k.settled:
		case <-ctx.Done():
			return false
		}
	}
	t, unlock := s.state.Lock()
	defer unlock()
	wishes := t.wishes()
	written, err := s.written(ctx, dialect.LostBy(wishes))
	if err != nil {
		s.Log.Error(
			"the published records of names without an address cannot be read; sources start when they can", "error", err)
		return false
	}
	t.begin(wishes, written)
	if blind := t.unread(); len(blind) > 0 {
		if t.kept, err = s.Zones.Kept(ctx, s.Core.Rehearse(), mayHave(blind)); err != nil {
			s.Log.Error("the published records cannot be read; sources start when they can", "error", err)
			return false
		}
		for _, claim := range t.kept {
			s.Core.PutClaim(claim, core.Version{Generation: 1})
		}
	}
	t.ready = true
	return true
}

// unread returns the sources of which some kind has not been read.
func (t *state) unread() (names []string) {
	for _, k := range t.of.sights {
		if !k.read && (!k.missing || t.inventory.NeedsListenerSets()) {
			names = append(names, needing(k.goType, t.of.Sources)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wishes are what all objects that are known ask for.
func (t *state) wishes() (all []*dialect.Wish) {
	for _, id := range t.inventory.All() {
		if w, is := t.wish(id); is {
			all = append(all, w)
		}
	}
	return all
}

// written returns, by host, what the zones say that there was at names that objects have lost.
func (s *Controller) written(ctx context.Context, lost map[dnsname.Name]string) (map[string][]rr.Set, error) {
	if len(lost) == 0 || s.DeleteLost {
		return nil, nil
	}
	sets, err := s.Zones.Written(ctx, slices.Collect(maps.Keys(lost)))
	if err != nil {
		return nil, err
	}
	written := map[string][]rr.Set{}
	for _, set := range sets {
		written[lost[set.Name]] = append(written[lost[set.Name]], set)
	}
	return written, nil
}

// begin makes the claims of wishes, and returns them. Names that have lost their addresses get what was written.
func (t *state) begin(wishes []*dialect.Wish, written map[string][]rr.Set) (claims []zone.Claim) {
	dialect.RestoreAll(wishes, written)
	for _, w := range wishes {
		claims = append(claims, t.take(w)...)
	}
	return claims
}

// release lets go of what is kept and claims explain: of all of it, when everything is read.
func (t *state) release(claims []zone.Claim) {
	has := map[rr.Key][]string{}
	for _, c := range claims {
		key := rr.Key{Name: c.Where.Name, Type: c.Type}
		has[key] = append(has[key], c.Data...)
	}
	may, kept := mayHave(t.unread()), t.kept
	t.kept = nil
	for _, claim := range kept {
		claim.Data = slices.DeleteFunc(slices.Clone(claim.Data), func(d string) bool {
			return slices.Contains(has[rr.Key{Name: claim.Where.Name, Type: claim.Type}], d)
		})
		if len(claim.Data) == 0 || !may(claim.Type) {
			t.of.Core.DeleteClaim(claim.ID)
			continue
		}
		t.of.Core.PutClaim(claim, core.Version{Generation: 1})
		t.kept = append(t.kept, claim)
	}
}

// wish returns what an object asks for, if its source is on, with what it had where its address is lost.
func (t *state) wish(id zone.ID) (*dialect.Wish, bool) {
	if _, on := sourceOf(id.Kind, t.of.Sources); !on {
		return nil, false
	}
	w, is := t.inventory.Wish(id)
	if !is {
		return nil, false
	}
	if have := t.held[id]; have != nil && !t.of.DeleteLost && have.version.UID == w.Object.GetUID() {
		w.Keep(have.endpoints)
	}
	return w, true
}

// look makes the claims of objects those that they ask for now.
func (t *state) look(ids []zone.ID) {
	if !t.ready {
		return
	}
	for _, id := range ids {
		w, is := t.wish(id)
		if !is {
			t.forget(id)
			continue
		}
		t.take(w)
	}
}

// take puts the claims of a wish into the Core and returns them.
func (t *state) take(w *dialect.Wish) []zone.Claim {
	version := core.VersionOf(w.Object)
	now := &held{endpoints: w.Endpoints, version: version, notes: w.Notes}
	claims := w.Claims()
	for i := range claims {
		now.claims = append(now.claims, claims[i].ID)
		t.of.Core.PutClaim(claims[i], version)
	}
	before := t.held[w.ID]
	if before == nil {
		before = &held{}
	}
	for _, old := range before.claims {
		if !slices.Contains(now.claims, old) {
			t.delete(old)
		}
	}
	t.held[w.ID] = now
	for _, n := range w.Notes {
		if !slices.Contains(before.notes, n) {
			t.tell(w.ID, "Warning", n.Reason, n.Message)
		}
	}
	return claims
}

func (t *state) forget(id zone.ID) {
	if have := t.held[id]; have != nil {
		for _, claim := range have.claims {
			t.delete(claim)
		}
		delete(t.held, id)
	}
}

func (t *state) delete(claim zone.ID) {
	delete(t.told, claim)
	t.of.Core.DeleteClaim(claim)
}

// Judged tells of the verdict about a claim, if it is news.
func (s *Controller) Judged(claim zone.ID, v zone.Verdict) {
	t, unlock := s.state.Lock()
	defer unlock()
	have := t.held[claim.Object()]
	if have == nil || !slices.Contains(have.claims, claim) {
		return
	}
	switch was := t.told[claim]; {
	case !v.Accepted && was != v.Reason:
		t.told[claim] = v.Reason
		t.tell(claim.Object(), "Warning", v.Reason, v.Message)
	case v.Accepted && was != "":
		delete(t.told, claim)
		t.tell(claim.Object(), "Normal", v.Reason, v.Message)
	}
}

func (t *state) tell(id zone.ID, kind string, reason zone.Reason, message string) {
	if o, is := t.inventory.Object(id).(client.Object); is {
		t.of.Events.Eventf(o, nil, kind, string(reason), "Claim", "%s", controller.Note(message))
	}
}

// Warm has a cache hold what the sources that are on need, before anybody leads, as far as it can be read.
func Warm(ctx context.Context, c Config) {
	var kinds sync.WaitGroup
	for _, o := range Objects(c.Sources) {
		kinds.Go(func() {
			for wait := firstPause; ; wait = min(2*wait, lastPause) {
				_, err := find(o, func(o client.Object) error {
					_, err := c.Cache.GetInformer(ctx, o, cache.BlockUntilSynced(false))
					return err
				})
				if err == nil {
					return
				}
				if !dialect.Optional(resourceOf(o)) || !unknown(err) { // who leads knows whether anything is missing
					c.Unread(fmt.Sprintf("%T", o), err)
				}
				if !controller.Pause(ctx, wait) {
					return
				}
			}
		})
	}
	kinds.Wait()
}
