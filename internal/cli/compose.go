package cli

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/parallel"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// Reasons that only files have: a cluster knows no such objects.
const (
	duplicateObject zone.Reason = "DuplicateObject" // the input has two different objects of one name
	beingDeleted    zone.Reason = "BeingDeleted"    // an object that somebody has deleted already
)

// A composition is what the core makes of the objects of some files.
type composition struct {
	zones    []zoneResult   // by namespace and name
	records  []recordResult // by namespace and name
	backends []*manifest.Object
	problems []problem // with Backends and repeated objects
}

type zoneResult struct {
	object   *manifest.Object
	verdict  zone.Verdict
	snapshot zone.Snapshot // of an accepted Zone
	serial   uint32        // of an accepted Zone
}

type recordResult struct {
	object  *manifest.Object
	verdict zone.Verdict
}

// A problem is one with an object that has no verdict of the core.
type problem struct {
	object  *manifest.Object
	field   string
	warning bool
	reason  string
	message string
}

// compose gives all objects to a World and reads off what it decides. An object that
// cannot be understood is given to it too, so that what refers to it is told so; one
// that is being deleted is not, as in the operator.
func compose(in *manifest.Input, now time.Time) *composition {
	c, world := &composition{}, zone.New(zone.Options{})
	for _, a := range arrivals(in.Objects) {
		verdict := zone.Verdict{}
		gone := a.refusal != nil && a.refusal.Reason == beingDeleted
		if gone {
			verdict = zone.Verdict{Reason: a.refusal.Reason, Message: a.refusal.Message}
		}
		switch a.object.Kind {
		case manifest.Zone:
			if !gone {
				world.PutZone(a.zone)
			}
			c.zones = append(c.zones, zoneResult{object: a.object, verdict: verdict})
		case manifest.Record:
			if !gone {
				world.PutClaim(a.claim)
			}
			c.records = append(c.records, recordResult{object: a.object, verdict: verdict})
		case manifest.Backend:
			c.backends = append(c.backends, a.object)
			fallthrough
		default:
			if a.refusal != nil {
				c.problems = append(c.problems, problem{a.object, "", false, string(a.refusal.Reason), a.refusal.Message})
			}
		}
	}
	c.grant(world, in.Objects)
	world.Settle()
	for i := range c.zones {
		c.zones[i].settle(world, now)
	}
	for i := range c.records {
		c.records[i].settle(world)
	}
	return c
}

// An arrival is an object on its way into the World.
type arrival struct {
	object  *manifest.Object
	refusal *zone.Refusal // what can be said against it before anything is composed
	zone    zone.Zone     // of a Zone
	claim   zone.Claim    // of a Record
}

// arrivals converts the objects, each once, in the order of their names.
func arrivals(objects []*manifest.Object) []arrival {
	groups := byName(objects)
	out := make([]arrival, len(groups))
	parallel.Do(len(groups), func(i int) {
		a := &out[i]
		switch a.object, a.refusal = single(groups[i]); a.object.Kind {
		case manifest.Zone:
			a.zone = zoneOf(a.object, a.refusal)
		case manifest.Record:
			a.claim = claimOf(a.object, a.refusal)
		}
	})
	return out
}

// byName groups objects, which are sorted, by kind, namespace and name.
func byName(objects []*manifest.Object) [][]*manifest.Object {
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

// single returns the object that several of one name stand for, and why it is refused
// if it is. Equal ones are one. Of different ones none is taken: which of them a
// cluster would have depends on the order in which they are applied.
func single(same []*manifest.Object) (*manifest.Object, *zone.Refusal) {
	same = slices.Clone(same)
	slices.SortStableFunc(same, func(a, b *manifest.Object) int { return a.Place().Compare(b.Place()) })
	first := same[0]
	for _, o := range same[1:] {
		if !alike(first, o) {
			return first, &zone.Refusal{Reason: duplicateObject, Message: fmt.Sprintf(
				"%s is defined differently at %s and at %s, and none of them counts; remove one.", first.Ref, first.Place(), o.Place())}
		}
	}
	switch {
	case first.Fault != "":
		return first, &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
			"%s cannot be read: %s; correct it.", first.Ref, first.Fault)}
	case first.Zone != nil && first.Zone.DeletionTimestamp != nil, first.Record != nil && first.Record.DeletionTimestamp != nil:
		return first, &zone.Refusal{Reason: beingDeleted, Message: fmt.Sprintf(
			"%s is being deleted: it has a metadata.deletionTimestamp; remove it from the input, or that field from it.", first.Ref)}
	}
	return first, nil
}

func alike(a, b *manifest.Object) bool {
	if a.Fault != "" || b.Fault != "" {
		return bytes.Equal(a.JSON, b.JSON)
	}
	return reflect.DeepEqual(a.Zone, b.Zone) && reflect.DeepEqual(a.Record, b.Record) &&
		reflect.DeepEqual(a.Backend, b.Backend) && reflect.DeepEqual(a.Labels, b.Labels)
}

func zoneOf(o *manifest.Object, refusal *zone.Refusal) zone.Zone {
	if refusal != nil {
		return zone.Zone{ID: kubizone.ZoneID(o.Ref.Namespace, o.Name), Invalid: refusal}
	}
	return kubizone.ConvertZone(o.Zone)
}

func claimOf(o *manifest.Object, refusal *zone.Refusal) zone.Claim {
	if refusal != nil {
		return zone.Claim{ID: kubizone.RecordID(o.Ref.Namespace, o.Name), Invalid: refusal}
	}
	return kubizone.ConvertRecord(o.Record)
}

// settle reads off what the World decided about a Zone.
func (z *zoneResult) settle(world *zone.World, now time.Time) {
	id := kubizone.ZoneID(z.object.Ref.Namespace, z.object.Name)
	if v, known := world.Verdict(id); known {
		z.verdict = v
	}
	snapshot, accepted := world.Snapshot(id)
	if !accepted {
		return
	}
	z.serial = serialOf(z.object.Zone.Status, snapshot, now)
	snapshot.SOA.Serial = z.serial
	z.snapshot = snapshot
}

// settle reads off what the World decided about a Record.
func (r *recordResult) settle(world *zone.World) {
	if v, known := world.Verdict(kubizone.RecordID(r.object.Ref.Namespace, r.object.Name)); known {
		r.verdict = v
	}
}
