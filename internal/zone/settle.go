package zone

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Settle brings everything up to date with what was put and deleted since the last
// time and returns the difference. It visits only what depends on that.
func (w *World) Settle() Delta {
	w.resolve()
	w.judgeZones()
	for _, c := range w.homes {
		w.assignHome(c)
	}
	w.homes = nil
	for more := true; more; more = w.addresses.turnCells() {
		for c := w.cells.pop(); c != nil; c = w.cells.pop() {
			w.composer.compose(c)
		}
	}
	w.delta.claims = slices.Grow(w.delta.claims, len(w.reports))
	for _, c := range w.reports {
		w.report(c)
	}
	w.reports = nil
	for z := range w.closed {
		w.finish(z)
	}
	w.closed = map[*zoneState]struct{}{} // not cleared: clearing costs what the map ever held
	return w.delta.take()
}

// assignHome finds the name and the Zone of a claim.
func (w *World) assignHome(c *claimState) {
	w.visits++
	c.homing = false
	if c.dead {
		return
	}
	name, problem := w.nameOf(c.ID, c.Where)
	tree := w.treeOf(c.Where.Ref)
	if c.name() != name || c.node != nil && c.node.tree != tree {
		w.composer.leave(c)
		w.attach(c, tree, name)
		c.refusal = nil
	}
	if c.Invalid != nil {
		problem = c.Invalid
	}
	if problem != nil {
		w.composer.leave(c)
		w.composer.refuseWith(c, *problem)
		return
	}
	before := c.permission
	home, why := w.home(c, nil)
	switch {
	case home == nil:
		w.composer.leave(c)
		w.composer.refuse(c, why)
	case c.cell == nil || c.cell.zone != home:
		w.composer.leave(c)
		w.composer.join(c, home)
	case c.permission != before:
		w.cells.push(c.cell)
	}
	if c.cell != nil && (c.node.nearest() != home || len(c.reported.notes) > 0) {
		w.enqueueReport(c) // see inSubZone
	}
}

// reported is the verdict on a claim that was reported last.
type reported struct {
	name    dnsname.Name
	zone    *zoneState // that took it
	above   *zoneState // see Verdict.Above
	refusal *objection
	notes   []Note
}

func (s reported) verdict() Verdict {
	switch {
	case s.refusal != nil:
		return refused(s.name, s.refusal.Refusal)
	case s.zone != nil:
		v := Verdict{Accepted: true, Reason: Accepted, Message: s.zone.taken, Name: s.name, Zone: s.zone.ID, Notes: s.notes}
		if s.above != nil {
			v.Above = s.above.ID
		}
		return v
	}
	return Verdict{}
}

// report puts a claim into the delta if its verdict has changed.
func (w *work) report(c *claimState) {
	w.visits++
	c.reporting = false
	if c.dead {
		return
	}
	s := reported{name: c.name(), refusal: c.refusal}
	if c.accepted {
		s.zone, s.above = c.cell.zone, c.above()
		s.notes = notesOf(c)
	}
	if !s.equal(c.reported) {
		w.delta.claims = append(w.delta.claims, c.ID)
	}
	c.reported = s
}

// equal reports whether two reports are the same.
func (s reported) equal(o reported) bool {
	same := func(a, b *zoneState) bool { return a == b || a != nil && b != nil && a.ID == b.ID }
	sameRefusal := s.refusal == o.refusal || s.refusal != nil && o.refusal != nil && s.refusal.Refusal == o.refusal.Refusal
	return same(s.zone, o.zone) && same(s.above, o.above) && sameRefusal && s.name == o.name &&
		slices.Equal(s.notes, o.notes)
}

func notesOf(c *claimState) []Note {
	notes := slices.Clone(c.Warnings)
	if c.differs != nil {
		notes = append(notes, c.differs.note)
	}
	if note, hidden := occlusion(c); hidden {
		notes = append(notes, note)
	} else if note, below := inSubZone(c); below {
		notes = append(notes, note)
	}
	if note, waits := unfed(c); waits {
		notes = append(notes, note)
	}
	return sorted(notes)
}

// finish brings a Zone's content and verdict up to date.
func (w *work) finish(z *zoneState) {
	w.visits++
	if z.dead {
		return
	}
	if z.txn != nil {
		z.sets, z.txn = z.txn.Sets(), nil
	}
	z.hash.finish()
	v := z.judged
	if z.problem != nil {
		v = Verdict{Reason: z.problem.Reason, Message: z.problem.Message}
	}
	if z.accepted() {
		if soa := soaOf(z); soa != z.soa {
			z.soa = soa
			w.delta.zone(z.ID)
		}
		v = annotate(z, v)
	}
	if !v.Equal(z.verdict) {
		if v.Accepted != z.verdict.Accepted || v.Name != z.verdict.Name {
			w.delta.zone(z.ID)
		}
		z.verdict = v
		w.delta.verdicts[z.ID] = struct{}{}
	}
}

// annotate adds what there is to tell about an accepted Zone.
func annotate(z *zoneState, v Verdict) Verdict {
	notes := append(slices.Clone(v.Notes), z.Warnings...)
	if z.node.cell(z).set(rr.TypeNS).Data == nil && z.Policy.isZone() {
		notes = append(notes, Note{NoNameServers, fmt.Sprintf(
			"%s has no NS records at %s; servers that need some keep their own; add NS records with %s %q.",
			z.ID, z.node.name, z.nameField(), "@"), ID{}})
	}
	if z.notCopied != nil {
		notes = append(notes, *z.notCopied)
	}
	if note, hidden := bypass(z); hidden {
		notes = append(notes, note)
	}
	v.Notes = sorted(annotateReverse(z, notes))
	return v
}
