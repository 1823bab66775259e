package fold

import (
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Reasons that only files have: a cluster knows no such objects.
const (
	SchemaViolation = "SchemaViolation" // the API server would refuse the object

	DuplicateObject zone.Reason = "DuplicateObject" // the input has two different objects of one name
	BeingDeleted    zone.Reason = "BeingDeleted"    // an object that somebody has deleted already
)

// A Composition is what the core makes of the objects of some files.
type Composition struct {
	Zones    []ZoneResult   // by namespace and name
	Records  []RecordResult // by namespace and name
	Backends []*manifest.Object
	Problems []problem // with Backends and repeated objects

	world   *zone.World
	granted map[string][]zone.Grant // by Backends that have any

	Goes map[manifest.Ref][]string // where Zones go; nil: ask the World
}

// A ZoneResult is what is decided about a Zone, or another object that has sets of its own.
type ZoneResult struct {
	Object   *manifest.Object
	Verdict  zone.Verdict
	Snapshot zone.Snapshot // of an accepted Zone
	Serial   uint32        // of an accepted Zone
}

// A RecordResult is what is decided about a record.
type RecordResult struct {
	Object  *manifest.Object
	Claim   zone.ID // what the World calls it
	Verdict zone.Verdict
}

// A problem is one with an object that has no verdict of the core.
type problem struct {
	Object  *manifest.Object
	Field   string
	Warning bool
	Reason  string
	Message string
}

// Compose gives all objects to a World and reads off what it decides.
func Compose(in *manifest.Input, now time.Time) *Composition {
	f := New()
	c, _ := f.Put(in.Objects)
	for i := range c.Zones {
		c.Zones[i].label(now)
	}
	return c
}

// add begins the result of an object.
func (c *Composition) add(a *arrival) {
	verdict := zone.Verdict{}
	if a.gone() {
		verdict = zone.Verdict{Reason: a.refusal.Reason, Message: a.refusal.Message}
	}
	switch a.object.Kind {
	case manifest.Zone, manifest.DNSZone, manifest.DNSClass:
		c.Zones = append(c.Zones, ZoneResult{Object: a.object, Verdict: verdict})
	case manifest.GardenerRecord:
		c.Zones = append(c.Zones, overlaid(a))
	case manifest.Backend:
		c.Backends = append(c.Backends, a.object)
		fallthrough
	default:
		if strings.HasSuffix(a.object.Kind, manifest.Record) {
			c.Records = append(c.Records, RecordResult{a.object, IdOf(a.object.Ref), verdict})
		} else if a.refusal != nil && !(a.gone() && a.object.Source != nil) {
			c.Problems = append(c.Problems, problem{a.object, "", false, string(a.refusal.Reason), a.refusal.Message})
		}
	}
}

// settle reads off what the World decided about a Zone.
func (z *ZoneResult) settle(world *zone.World) {
	id := z.ID()
	if v, known := world.Verdict(id); known {
		z.Verdict = v
	}
	if snapshot, accepted := world.Snapshot(id); accepted {
		z.Snapshot = snapshot
	}
}

// ID returns what the World calls the Zone.
func (z *ZoneResult) ID() zone.ID { return IdOf(z.Object.Ref) }

// IdOf returns the name of an object in the core, where kinds have the same names.
func IdOf(ref manifest.Ref) zone.ID { return zone.ID(ref) }

// label gives the content its serial.
func (z *ZoneResult) label(now time.Time) {
	if z.Verdict.Accepted && !z.Object.Zoneless() {
		z.Serial = z.NextSerial(now)
		z.Snapshot.SOA.Serial = z.Serial
	}
}

// settle reads off what the World decided about a Record.
func (r *RecordResult) settle(world *zone.World) {
	if v, known := world.Verdict(r.Claim); known {
		r.Verdict = v
	}
}

// A decision is what one object is told.
type decision struct {
	Object  *manifest.Object
	ID      zone.ID
	T       string
	Verdict zone.Verdict
}

// Decisions returns what all objects are told.
func (c *Composition) Decisions() []decision {
	out := make([]decision, 0, len(c.Zones)+len(c.Records))
	for _, z := range c.Zones {
		out = append(out, decision{z.Object, z.ID(), "", z.Verdict})
	}
	for _, r := range c.Records {
		t := TypeOf(r.Claim)
		if r.Object.Record != nil {
			t = string(r.Object.Record.Spec.Type)
		}
		out = append(out, decision{r.Object, r.Claim, t, r.Verdict})
	}
	return out
}

// Sets returns all sets of a zone, in canonical order. The SOA has no serial, which changes with all else.
func (z *ZoneResult) Sets() []rr.Set {
	if !z.Verdict.Accepted {
		return nil
	}
	var out []rr.Set
	if !z.Object.Zoneless() {
		out = append(out, z.Snapshot.SOA.SetAt(z.Snapshot.Name))
	}
	out = slices.AppendSeq(out, z.Snapshot.Sets.All())
	slices.SortStableFunc(out, func(a, b rr.Set) int { return a.Key().Compare(b.Key()) })
	return out
}

// Only leaves what concerns one zone: the Zones that ask for its name, the Records
// that they adopted, and those at or below the name that nobody did.
func (c *Composition) Only(name dnsname.Name) *Composition {
	out := &Composition{}
	for _, z := range c.Zones {
		if z.Verdict.Name == name && !z.Object.OfGardener() {
			out.Zones = append(out.Zones, z)
		}
	}
	for _, r := range c.Records {
		adopted := false
		for _, z := range out.Zones {
			adopted = adopted || r.Verdict.Zone == z.ID()
		}
		if adopted || r.Verdict.Zone.IsZero() && r.Verdict.Name.Under(name) {
			out.Records = append(out.Records, r)
		}
	}
	return out
}
