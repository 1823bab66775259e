package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// KindLeft is the kind of what Zones have left behind, in the ID that Deliveries have for it: it is withdrawn as a Zone
// is whose object is being deleted.
const KindLeft = "LeftBehind"

// A Left is what a Zone has left behind at one Backend.
type Left struct {
	Place   string
	Zone    dnsname.Name
	UID     types.UID // of the Zone, whose ID is Of
	Of      zone.ID
	Since   time.Time
	Whole   bool    // the zone was its own there
	Sets    rr.Sets // else: its sets, with all values that it may have published
	Unknown int     // sets whose values nobody knows any more
	Ceiling uint32  // of serials
	// plans of deletions that somebody had approved
	Approved []string
}

// ID is what Deliveries call it.
func (l *Left) ID() zone.ID { return LeftID(l.Place, l.Zone, l.UID) }

// LeftID returns the ID of what a Zone has left behind at a Backend.
func LeftID(place string, name dnsname.Name, uid types.UID) zone.ID {
	return zone.ID{Kind: KindLeft, Namespace: place, Name: name.String() + " " + string(uid)}
}

// stored returns it as an object that is being deleted.
func (l *Left) stored(approved []string) Stored {
	return Stored{
		UID: l.UID, Created: l.Since, Deleting: true, Deleted: l.Since, Ceiling: l.Ceiling,
		Delivered: []Delivered{{l.Place, l.Zone}}, Exact: !l.Whole, Written: func() rr.Sets { return l.Sets },
		Approved: slices.Concat(l.Approved, approvedOf(l.ID(), approved)),
	}
}

// A LeftStore keeps what Zones leave behind. Its methods, but for All, return when it is stored.
type LeftStore interface {
	// All returns the IDs of all that was left and is not removed yet.
	All() []zone.ID
	// Load returns one, and the plans of deletions that are approved there; nil if it is not there any more.
	Load(id zone.ID) (l *Left, approved []string)
	Leave(ctx context.Context, l *Left) error
	// Remove forgets one: it is withdrawn.
	Remove(ctx context.Context, id zone.ID) error
	Raise(ctx context.Context, id zone.ID, ceiling uint32) error
}

// KeepLeft has Zones leave behind what they cannot withdraw. It is called before Run.
func (p *Places) KeepLeft(s LeftStore) {
	p.left, p.store = s, &withLeft{Store: p.store, left: s}
}

// withLeft is a Store in which what Zones have left behind are objects as well.
type withLeft struct {
	Store
	left LeftStore
}

// Load implements Store.
func (w *withLeft) Load(id zone.ID) (Stored, bool) {
	if id.Kind != KindLeft {
		return w.Store.Load(id)
	}
	l, approved := w.left.Load(id)
	if l == nil {
		return Stored{}, false
	}
	return l.stored(approved), true
}

// Hold implements Store.
func (w *withLeft) Hold(ctx context.Context, id zone.ID, where []Delivered) error {
	switch {
	case id.Kind != KindLeft:
		return w.Store.Hold(ctx, id, where)
	case len(where) > 0:
		return nil
	}
	return w.left.Remove(ctx, id)
}

// Raise implements Store.
func (w *withLeft) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	if id.Kind != KindLeft {
		return w.Store.Raise(ctx, id, ceiling)
	}
	return w.left.Raise(ctx, id, ceiling)
}

var errPublishes = errors.New("what a Zone has left behind publishes nothing")

// Record implements Store.
func (w *withLeft) Record(ctx context.Context, id zone.ID, sets []rr.Set) error {
	if id.Kind != KindLeft {
		return w.Store.Record(ctx, id, sets)
	}
	return errPublishes
}

// An obstacle is what keeps a Zone from being withdrawn from one Backend.
type obstacle uint8

const (
	underWay    obstacle = iota // nothing: it takes its time
	unreachable                 // the servers, or the Backend
	byTheBrake                  // its deletions are held
)

// leaves reports whether a Zone that is being deleted goes although it is still at some Backends, and otherwise when to
// ask again; 0: when something has changed.
func leaves(asked bool, waited time.Duration, at map[obstacle]time.Duration) (now bool, again time.Duration) {
	if asked {
		return true, 0
	}
	longest, stuck := at[unreachable]
	_, moves := at[underWay]
	_, held := at[byTheBrake]
	switch {
	case held:
		return false, 0
	case stuck && !moves && waited >= longest:
		return true, 0
	}
	return false, max(0, max(longest, at[underWay])-waited)
}

// obstacles returns what is in the way of a Zone, and the longest time that Backends with it have a Zone wait.
func (ps places) obstacles(z *delivery) map[obstacle]time.Duration {
	out := map[obstacle]time.Duration{}
	add := func(what obstacle, place string) {
		wait := time.Duration(0)
		if p := ps[place]; p != nil {
			wait = p.LeaveAfter
		}
		out[what] = max(out[what], wait)
	}
	for _, l := range z.feeds {
		for _, place := range l.owed {
			if p := ps[place]; p != nil && p.restores() {
				add(byTheBrake, place) // only this feed knows what its servers had
			} else {
				add(unreachable, place)
			}
		}
		for key, a := range l.at {
			switch r := a.report; {
			case r != nil && r.Held != nil:
				add(byTheBrake, key.place)
			case a.without != nil || r != nil && r.Err != nil:
				add(unreachable, key.place)
			default:
				add(underWay, key.place)
			}
		}
	}
	return out
}

// goes reports whether a Zone that is being deleted has waited long enough, or somebody has said so, and what it leaves
// behind.
func (st *state) goes(z *delivery, stored Stored) (behind []*Left, goes bool) {
	if st.left == nil || !stored.Deleting || z.id.Kind == KindLeft {
		return nil, false
	}
	at := st.places.obstacles(z)
	if len(at) == 0 {
		return nil, false
	}
	if goes, again := leaves(stored.Leave, st.clock().Sub(stored.Deleted), at); !goes {
		if again > 0 {
			st.queue.EnqueueAfter(z.id, again)
		}
		return nil, false
	}
	return st.leftOf(z, stored), true
}

// leave stores what a Zone leaves behind, and asks to look at it.
func (o *outside) leave(ctx context.Context, all []*Left) error {
	for _, l := range all {
		if err := o.left.Leave(ctx, l); err != nil {
			return fmt.Errorf("noting what %s leaves behind at Backend %s: %w", l.Of, l.Place, err)
		}
		o.queue.Enqueue(l.ID()) // at once: the Zone may be withdrawn before the others are stored
	}
	return nil
}

// leave has a Zone go whose remains are stored: it is delivered nowhere then.
func (st *state) leave(z *delivery, all []*Left) {
	for _, l := range all { // they come before the Zone goes: what the engine knows of the servers it keeps
		if left, approved := st.left.Load(l.ID()); left != nil {
			it, kept := st.deliveryOf(l.ID()), left.stored(approved)
			st.remember(it, kept)
			st.deliver(it, nil, kept)
			it.looked, it.placed = true, true
		}
	}
	st.abandon(z)
}

// leftOf returns what a Zone leaves behind.
func (st *state) leftOf(z *delivery, stored Stored) []*Left {
	var all []*Left
	for name, l := range z.feeds {
		for _, place := range l.places() {
			p := st.places[place]
			if p == nil {
				continue // there is nobody to remove it
			}
			left := &Left{Place: place, Zone: name, UID: stored.UID, Of: z.id, Since: st.clock(), Whole: !p.Keep,
				Ceiling: stored.Ceiling, Approved: stored.Approved}
			if p.Keep {
				left.Sets, left.Unknown = l.published()
			}
			all = append(all, left)
		}
	}
	slices.SortFunc(all, func(a, b *Left) int { return strings.Compare(a.ID().String(), b.ID().String()) })
	return all
}

// places returns where a feed is, or may be.
func (l *zoneFeed) places() []string {
	all := slices.Clone(l.owed)
	for key, a := range l.at {
		if !a.observe {
			all = append(all, key.place)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// published returns what servers that keep foreign sets may have of a feed, with the values of before and of now where
// they differ, and how many sets there are besides of which only the name and the type are known.
func (l *zoneFeed) published() (sets rr.Sets, unknown int) {
	txn := rr.Sets{}.Txn()
	for set := range l.written.All() {
		if now, ok := l.sets.Get(set.Key()); ok {
			set = rr.NewSet(set.Key(), now.TTL, append(slices.Clone(set.Data), now.Data...)...)
		}
		known := slices.DeleteFunc(slices.Clone(set.Data), func(data string) bool { return data == "" })
		if len(known) < len(set.Data) || len(known) == 0 {
			unknown++
			continue
		}
		txn.Put(set)
	}
	return txn.Sets(), unknown
}

// abandon ends the delivery of a Zone wherever it is: what is there stays there.
func (st *state) abandon(z *delivery) {
	for name, l := range z.feeds {
		for key := range l.at {
			st.letGo(l, key)
		}
		st.attachEnding(l, nil)
		delete(st.feeds, l.id)
		delete(z.feeds, name)
		l.end(st.clock())
	}
}

// SyncLeft asks to look again at what a Zone has left behind: what is stored of it has changed.
func (p *Places) SyncLeft(id zone.ID) { p.queue.Enqueue(id) }

// LeftOutcome says why what a Zone has left behind is still there, nil if that is not known.
func (p *Places) LeftOutcome(id zone.ID) *Held {
	st, unlock := p.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		return nil
	}
	if h := z.held(); h != nil {
		return h
	}
	if z.problem != "" {
		return &Held{Outcome: controller.Not(controller.ReasonBackendNotReady, z.problem)}
	}
	worst := controller.Not(controller.ReasonWithdrawing, "It is about to be removed.")
	for _, l := range z.feeds {
		for _, a := range l.at {
			if o := l.behind(a, 0); o != nil && (worst.Reason == controller.ReasonWithdrawing || o.Worse(worst)) {
				worst = *o
			}
		}
	}
	return &Held{Outcome: worst}
}
