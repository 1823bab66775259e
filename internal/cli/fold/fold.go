package fold

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/parallel"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Fold is a World and the objects that it was given.
type Fold struct {
	World  *zone.World
	held   map[manifest.Ref]*arrival
	wishes *wishes
}

// New returns a Fold without objects.
func New() *Fold {
	return &Fold{zone.New(zone.Options{PublicSuffix: kubizone.PublicSuffix}), map[manifest.Ref]*arrival{}, newWishes()}
}

// Put makes the objects those of the World, at the cost of those that are not the same as before, and reads off what it
// decides of all. An object that cannot be understood is given to it too, so that what refers to it is told so; one
// that is being deleted is not, as in the operator.
func (f *Fold) Put(objects []*manifest.Object) (*Composition, zone.Delta) {
	c := &Composition{}
	arrivals := f.arrivals(objects)
	held := make(map[manifest.Ref]*arrival, len(arrivals))
	for _, a := range arrivals {
		ref := a.object.Ref
		switch held[ref] = a; {
		case f.held[ref] == a || ref.OfBindy():
		case a.object.Source != nil || ref.Kind == manifest.Namespace:
			f.wishes.put(a)
		default:
			f.give(a)
		}
		c.add(a)
	}
	for ref, old := range f.held {
		if held[ref] == nil {
			f.take(ref)
			f.wishes.drop(old)
		}
	}
	f.held = held
	f.wish(c)
	f.giveBindy(slices.Collect(maps.Values(held)))
	c.grant(f.World, objects)
	c.rival()
	c.fleets(arrivals, held)
	delta := f.World.Settle()
	for i := range c.Zones {
		c.Zones[i].settle(f.World)
	}
	for i := range c.Records {
		c.Records[i].settle(f.World)
	}
	return c, delta
}

// give puts an object into the World, which keeps it from then on.
func (f *Fold) give(a *arrival) {
	switch {
	case a.gone():
		f.take(a.object.Ref)
	case a.zone != nil:
		f.World.PutZone(*a.zone)
	case a.claim != nil:
		f.World.PutClaim(*a.claim)
	}
	a.zone, a.claim = nil, nil
}

// take takes an object out of the World.
func (f *Fold) take(ref manifest.Ref) {
	switch ref.Kind {
	case manifest.Zone, manifest.DNSZone, manifest.DNSClass:
		f.World.DeleteZone(IdOf(ref))
	case manifest.Backend:
		f.World.PutGrants(ref.Name, nil)
	default:
		f.World.DeleteClaim(IdOf(ref))
	}
}

// An arrival is an object on its way into the World.
type arrival struct {
	same    []*manifest.Object // of its name
	object  *manifest.Object   // that which they stand for
	refusal *zone.Refusal      // what can be said against it before anything is composed
	zone    *zone.Zone         // of a Zone or DNSClass that is to be given
	claim   *zone.Claim        // of a Record or DNSRecord that is to be given
}

func (a *arrival) gone() bool { return a.refusal != nil && a.refusal.Reason == BeingDeleted }

// arrivals returns the objects in the order of their names. Those that are not held yet are converted, each once.
func (f *Fold) arrivals(objects []*manifest.Object) []*arrival {
	groups := ByName(objects)
	out := make([]*arrival, len(groups))
	parallel.Do(len(groups), func(i int) {
		same := groups[i]
		if old := f.held[same[0].Ref]; old != nil && slices.Equal(old.same, same) {
			out[i] = old
			return
		}
		a := &arrival{same: same}
		switch a.object, a.refusal = Single(same); a.object.Kind {
		case manifest.Zone:
			a.zone = new(zoneOf(a.object, a.refusal))
		case manifest.Record:
			a.claim = new(claimOf(a.object, a.refusal))
		case manifest.DNSClass:
			a.zone = new(classOf(a.object, a.refusal))
		case manifest.DNSRecord:
			a.claim = new(hookRecordOf(a.object, a.refusal))
		}
		out[i] = a
	})
	return out
}

// ByName groups objects, which are sorted, by kind, namespace and name.
func ByName(objects []*manifest.Object) [][]*manifest.Object {
	var out [][]*manifest.Object
	for i, o := range objects {
		if i > 0 && objects[i-1].Ref == o.Ref {
			out[len(out)-1] = append(out[len(out)-1], o)
			continue
		}
		out = append(out, []*manifest.Object{o})
	}
	return out
}

// Single returns the object that several of one name stand for, and why it is refused
// if it is. Equal ones are one. Of different ones none is taken: which of them a
// cluster would have depends on the order in which they are applied.
func Single(same []*manifest.Object) (*manifest.Object, *zone.Refusal) {
	same = slices.Clone(same)
	slices.SortStableFunc(same, func(a, b *manifest.Object) int { return a.Place().Compare(b.Place()) })
	first := same[0]
	for _, o := range same[1:] {
		if !alike(first, o) {
			return first, &zone.Refusal{Reason: DuplicateObject, Message: fmt.Sprintf(
				"%s is defined differently at %s and at %s, so neither counts; remove one.", first.Ref, first.Place(),
				o.Place())}
		}
	}
	switch m := first.Meta(); {
	case first.Fault != "":
		return first, &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
			"%s cannot be read: %s; correct it.", first.Ref, first.Fault)}
	case m != nil && first.Backend == nil && m.GetDeletionTimestamp() != nil: // a Backend grants until it is gone
		return first, &zone.Refusal{Reason: BeingDeleted, Message: fmt.Sprintf(
			"%s is being deleted: it has a metadata.deletionTimestamp; remove it from the input, or that field from it.",
			first.Ref)}
	}
	return first, nil
}

func alike(a, b *manifest.Object) bool {
	if a.Fault != "" || b.Fault != "" {
		return bytes.Equal(a.JSON, b.JSON)
	}
	return reflect.DeepEqual(a.Zone, b.Zone) && reflect.DeepEqual(a.Record, b.Record) &&
		reflect.DeepEqual(a.Backend, b.Backend) && reflect.DeepEqual(a.Bindy, b.Bindy) &&
		reflect.DeepEqual(a.Homelab, b.Homelab) &&
		reflect.DeepEqual(a.Gardener, b.Gardener) && reflect.DeepEqual(a.Source, b.Source) &&
		reflect.DeepEqual(a.Labels, b.Labels)
}

func zoneOf(o *manifest.Object, refusal *zone.Refusal) zone.Zone {
	if refusal != nil {
		return zone.Zone{ID: IdOf(o.Ref), Policy: kubizone.Policy(), Invalid: refusal}
	}
	return kubizone.ConvertZone(o.Zone)
}

func claimOf(o *manifest.Object, refusal *zone.Refusal) zone.Claim {
	if refusal != nil {
		return zone.Claim{ID: IdOf(o.Ref), Invalid: refusal}
	}
	return kubizone.ConvertRecord(o.Record)
}
