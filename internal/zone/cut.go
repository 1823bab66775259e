package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A cut is what hides names of a zone: NS records below the apex (RFC 1034 §4.2.1),
// which hide what is at and below their name, or a DNAME (RFC 6672 §2.4), which hides
// what is below.
type cut struct {
	t       rr.Type // NS, DNAME or 0
	by      ID      // the sub-zone or claim that made it
	servers string  // the NS rdata: addresses of these names are glue, not hidden
}

// cut returns the cut that the merged sets make.
func (m *merger) cut() cut {
	if !m.cell.zone.Policy.isZone() {
		return cut{}
	}
	for _, g := range m.groups {
		if g.t == rr.TypeDNAME || g.t == rr.TypeNS && !m.cell.apex() {
			data := slices.Sorted(slices.Values(g.data))
			return cut{g.t, g.by, " " + strings.Join(data, " ") + " "}
		}
	}
	return cut{}
}

// unveil enqueues the accepted claims at and below a cut that came, went or changed, and
// the sub-zones.
func (w *work) unveil(c *cell) {
	if !c.zone.live() {
		return // all of it is told something else
	}
	note := func(at *cell) bool {
		w.visits++
		for _, claim := range at.claims {
			if claim.accepted {
				w.enqueueReport(claim)
			}
		}
		return true
	}
	note(c)
	if c.node.child != nil {
		c.zone.eachCell(c.node.name, note)
	}
	c.node.walkZones(func(n *node) {
		w.visits++
		if n.owner != nil && n.owner.parent() == c.zone {
			w.closed[n.owner] = struct{}{}
		}
	})
}

// bypass returns the note for a Zone that is hidden by a cut in its parent above it.
func bypass(z *zoneState) (Note, bool) {
	parent := z.parent()
	if parent == nil {
		return Note{}, false
	}
	var by *cell
	for n := z.node.parent; n != nil && n != parent.node.parent; n = n.parent {
		if at := n.cell(parent); at.cut().t != 0 {
			by = at
		}
	}
	if by == nil {
		return Note{}, false
	}
	return Note{Bypassed, fmt.Sprintf(
		"The %s records of %s at %s in %s bypass %s; have them removed, or move it.",
		by.cut().t, by.cut().by, by.node.name, parent.ID, z.ID), by.cut().by}, true
}

// occlusion returns the note for a claim that a cut of its own Zone hides.
func occlusion(c *claimState) (Note, bool) {
	z := c.cell.zone
	var by *cell
	for n := c.node; n != nil && n != z.node.parent; n = n.parent {
		at := n.cell(z)
		cut := at.cut()
		switch {
		case cut.t == 0:
		case n == c.node && (cut.t == rr.TypeDNAME || c.Type == rr.TypeNS || c.Type == rr.TypeDS):
		case cut.t == rr.TypeNS && isAddress(c.Type) && cut.serves(c.name()):
		default:
			by = at // the highest one is what a resolver meets first
		}
	}
	if by == nil {
		return Note{}, false
	}
	return Note{Occluded, fmt.Sprintf(
		"%s %s is in %s, but hidden by the %s records of %s at %s; move it into that zone or choose another name.",
		c.name(), c.Type, z.ID, by.cut().t, by.cut().by, by.node.name), by.cut().by}, true
}

// inSubZone returns the note for a claim that a Zone above the one of its name has: a
// server of both answers from the lower one. What leads to the lower one is no such claim.
func inSubZone(c *claimState) (Note, bool) {
	z, lower := c.cell.zone, c.node.nearest()
	if lower == nil || lower == z || c.leadsTo(lower) {
		return Note{}, false
	}
	wayOut := fmt.Sprintf("add %s to a delegation of %s", lower.recordRuleFor(c.name()), lower.ID)
	if !c.Where.Ref.IsZero() { // no other Zone is asked
		wayOut = fmt.Sprintf("refer to %s, or write the full name without %s", lower.ID,
			cmp.Or(c.Where.RefField, "the reference"))
	}
	return Note{InSubZone, fmt.Sprintf(
		"%s %s is in %s, but %s (%s) has the name but not the record, so servers of both do not answer with it; %s.",
		c.name(), c.Type, z.ID, lower.ID, lower.node.name, wayOut), lower.ID}, true
}

// leadsTo reports whether a claim of a Zone above is a part of what leads to a lower one: NS, DS or glue.
func (c *claimState) leadsTo(lower *zoneState) bool {
	if isAddress(c.Type) {
		return lower.node.cell(c.cell.zone).cut().serves(c.name())
	}
	return lower.node == c.node && (c.Type == rr.TypeNS || c.Type == rr.TypeDS)
}

func (c cut) serves(name dnsname.Name) bool {
	return strings.Contains(c.servers, " "+name.String()+" ")
}

func isAddress(t rr.Type) bool { return t == rr.TypeA || t == rr.TypeAAAA }
