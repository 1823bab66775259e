package zone

import "github.com/zonefold/zonefold/internal/rr"

// A Delta is what one Settle changed.
type Delta struct {
	Zones    []ZoneDelta // in no order
	Verdicts []ID        // objects whose verdict changed, came or went, in no order
	Adopters []ID        // Zones that have adopted a claim, or let one go, in no order: their content may be the same
}

// A ZoneDelta says what changed in one Zone. If the World has no Snapshot of it, it is
// not accepted any more, or gone.
type ZoneDelta struct {
	ID      ID
	Fresh   bool     // the content was made from nothing: Changed says nothing about earlier content
	Changed []rr.Key // sets that came, changed or went
}

// deltaBuilder gathers a Delta.
type deltaBuilder struct {
	zones    map[ID]*ZoneDelta
	verdicts map[ID]struct{} // of Zones
	claims   []ID
	gone     map[ID]struct{} // deleted claims
	adopters map[*zoneState]struct{}
}

func newDeltaBuilder() deltaBuilder {
	return deltaBuilder{zones: map[ID]*ZoneDelta{}, verdicts: map[ID]struct{}{}, gone: map[ID]struct{}{},
		adopters: map[*zoneState]struct{}{}}
}

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
	out := Delta{Zones: make([]ZoneDelta, 0, len(d.zones)), Verdicts: d.claims}
	for _, z := range d.zones {
		out.Zones = append(out.Zones, *z)
	}
	for id := range d.verdicts {
		out.Verdicts = append(out.Verdicts, id)
	}
	for id := range d.gone {
		out.Verdicts = append(out.Verdicts, id)
	}
	for z := range d.adopters {
		out.Adopters = append(out.Adopters, z.ID)
	}
	*d = newDeltaBuilder()
	return out
}
