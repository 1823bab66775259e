package cli

import (
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/cli/manifest"
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

	world   *zone.World
	granted map[string][]zone.Grant // by Backends that have any

	goes map[manifest.Ref][]string // where Zones go; nil: ask the World
}

type zoneResult struct {
	object   *manifest.Object
	verdict  zone.Verdict
	snapshot zone.Snapshot // of an accepted Zone
	serial   uint32        // of an accepted Zone
}

type recordResult struct {
	object  *manifest.Object
	claim   zone.ID // what the World calls it
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

// compose gives all objects to a World and reads off what it decides.
func compose(in *manifest.Input, now time.Time) *composition {
	f := newFold()
	c, _ := f.put(in.Objects)
	for i := range c.zones {
		c.zones[i].label(now)
	}
	return c
}

// add begins the result of an object.
func (c *composition) add(a *arrival) {
	verdict := zone.Verdict{}
	if a.gone() {
		verdict = zone.Verdict{Reason: a.refusal.Reason, Message: a.refusal.Message}
	}
	switch a.object.Kind {
	case manifest.Zone, manifest.DNSZone, manifest.DNSClass:
		c.zones = append(c.zones, zoneResult{object: a.object, verdict: verdict})
	case manifest.GardenerRecord:
		c.zones = append(c.zones, overlaid(a))
	case manifest.Backend:
		c.backends = append(c.backends, a.object)
		fallthrough
	default:
		if strings.HasSuffix(a.object.Kind, manifest.Record) {
			c.records = append(c.records, recordResult{a.object, idOf(a.object.Ref), verdict})
		} else if a.refusal != nil && !(a.gone() && a.object.Source != nil) {
			c.problems = append(c.problems, problem{a.object, "", false, string(a.refusal.Reason), a.refusal.Message})
		}
	}
}

// settle reads off what the World decided about a Zone.
func (z *zoneResult) settle(world *zone.World) {
	id := z.id()
	if v, known := world.Verdict(id); known {
		z.verdict = v
	}
	if snapshot, accepted := world.Snapshot(id); accepted {
		z.snapshot = snapshot
	}
}

func (z *zoneResult) id() zone.ID { return idOf(z.object.Ref) }

// idOf returns the name of an object in the core, where kinds have the same names.
func idOf(ref manifest.Ref) zone.ID { return zone.ID(ref) }

// label gives the content its serial.
func (z *zoneResult) label(now time.Time) {
	if z.verdict.Accepted && !z.object.Zoneless() {
		z.serial = z.nextSerial(now)
		z.snapshot.SOA.Serial = z.serial
	}
}

// settle reads off what the World decided about a Record.
func (r *recordResult) settle(world *zone.World) {
	if v, known := world.Verdict(r.claim); known {
		r.verdict = v
	}
}
