package zone

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/rr"
)

// A Delta is what one Settle changed.
type Delta struct {
	Zones    []ZoneDelta // in no order
	Verdicts []ID        // objects whose verdict changed, came or went, in no order
}

// A ZoneDelta says what changed in one Zone. If the World has no Snapshot of it, it is
// not accepted any more, or gone.
type ZoneDelta struct {
	ID      ID
	Fresh   bool     // the content was made from nothing: Changed says nothing about earlier content
	Changed []rr.Key // sets that came, changed or went
}

// Settle brings everything up to date with what was put and deleted since the last
// time and returns the difference. It visits only what depends on that.
func (w *World) Settle() Delta {
	w.resolve()
	w.judgeZones()
	for c := range w.homes {
		w.settle(c)
	}
	clear(w.homes)
	for c := w.cells.pop(); c != nil; c = w.cells.pop() {
		w.compose(c)
	}
	for c := range w.notes {
		w.say(c)
	}
	clear(w.notes)
	for z := range w.closed {
		w.finish(z)
	}
	clear(w.closed)
	return w.delta.take()
}

// settle finds the name and the Zone of a claim.
func (w *World) settle(c *claimState) {
	name, problem := w.nameOf(c.ID, c.Where)
	if c.name != name {
		w.leave(c)
		w.attach(c, name)
	}
	if c.Invalid != nil {
		problem = c.Invalid
	}
	var home *zoneState
	if problem == nil {
		home, problem = w.home(c)
	}
	if problem != nil {
		w.leave(c)
		w.refuse(c, *problem)
		return
	}
	if c.home != home {
		w.leave(c)
		w.join(c, home)
	}
}

// say turns what was decided about a claim into its verdict.
func (w *World) say(c *claimState) {
	var v Verdict
	if c.refusal != nil {
		v = refused(c.name, *c.refusal)
	} else {
		v = Verdict{Accepted: true, Reason: Accepted, Message: c.home.taken, Name: c.name, Zone: c.home.ID, Notes: c.noted}
		if note, hidden := occlusion(c); hidden {
			v = v.with(note)
		}
	}
	if !v.Equal(c.verdict) {
		c.verdict = v
		w.delta.verdict(c.ID)
	}
}

// finish brings a Zone's content and verdict up to date.
func (w *World) finish(z *zoneState) {
	if z.dead {
		return
	}
	v := z.judged
	if z.problem != nil {
		v = refused(z.name, *z.problem)
	}
	z.sets = z.txn.Sets()
	z.txn = z.sets.Txn()
	if z.accepted {
		if soa := soaOf(z); soa != z.soa {
			z.soa = soa
			w.delta.zone(z.ID)
		}
		for _, n := range z.Warnings {
			v = v.with(n)
		}
		if z.node.cell(z).set(rr.TypeNS).Data == nil {
			v = v.with(Note{NoNameServers, fmt.Sprintf(
				"%s has no NS records at %s; servers that need one get %s. Add NS records with domainName %q.",
				z.ID, z.name, z.soa.MName, "@"), ID{}})
		}
		if z.notCopied != nil {
			v = v.with(*z.notCopied)
		}
	}
	if !v.Equal(z.verdict) {
		if v.Accepted != z.verdict.Accepted || v.Name != z.verdict.Name {
			w.delta.zone(z.ID)
		}
		z.verdict = v
		w.delta.verdict(z.ID)
	}
}

// deltaBuilder gathers a Delta.
type deltaBuilder struct {
	zones    map[ID]*ZoneDelta
	verdicts map[ID]struct{}
}

func newDeltaBuilder() deltaBuilder {
	return deltaBuilder{map[ID]*ZoneDelta{}, map[ID]struct{}{}}
}

func (d *deltaBuilder) verdict(id ID) { d.verdicts[id] = struct{}{} }

func (d *deltaBuilder) zone(id ID) *ZoneDelta {
	z := d.zones[id]
	if z == nil {
		z = &ZoneDelta{ID: id}
		d.zones[id] = z
	}
	return z
}

func (d *deltaBuilder) key(id ID, key rr.Key) {
	z := d.zone(id)
	z.Changed = append(z.Changed, key)
}

func (d *deltaBuilder) take() Delta {
	out := Delta{Zones: make([]ZoneDelta, 0, len(d.zones)), Verdicts: make([]ID, 0, len(d.verdicts))}
	for _, z := range d.zones {
		out.Zones = append(out.Zones, *z)
	}
	for id := range d.verdicts {
		out.Verdicts = append(out.Verdicts, id)
	}
	clear(d.zones)
	clear(d.verdicts)
	return out
}
