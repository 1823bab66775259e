package zone

import (
	"cmp"
	"fmt"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// resolve gives every Zone whose name may have changed its name, following references.
// The work is linear in the number of Zones that depend on a changed one.
func (w *World) resolve() {
	if len(w.moved) == 0 {
		return
	}
	affected := w.affected()
	for z := range affected {
		w.resolveZone(z, affected)
	}
	w.moved = map[ID]struct{}{}
}

// progress is how far the resolution of one Zone has come.
type progress int

const (
	pending progress = iota
	visiting
	done
)

// affected collects the moved Zones and all that refer to them, however far away.
// A Zone that had a name is replaced by a fresh state, because everything that is
// known about it is bound to the old name; it keeps its verdict for comparison.
func (w *World) affected() map[*zoneState]*progress {
	found := map[*zoneState]*progress{}
	seen := map[ID]bool{}
	queue := make([]ID, 0, len(w.moved))
	for id := range w.moved {
		queue = append(queue, id)
		seen[id] = true
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if z := w.zones[id]; z != nil {
			found[w.renew(z)] = new(progress)
		}
		r := w.refs[id]
		if r == nil {
			continue
		}
		for c := range r.claims {
			w.rehome(c)
		}
		for z := range r.zones {
			if !seen[z.ID] {
				seen[z.ID] = true
				queue = append(queue, z.ID)
			}
		}
	}
	return found
}

func (w *World) renew(z *zoneState) *zoneState {
	if z.node == nil {
		return z
	}
	w.dropZone(z)
	w.addZone(z.Zone)
	fresh := w.zones[z.ID]
	fresh.verdict = z.verdict
	return fresh
}

// resolveZone names one Zone, and first those that it refers to, and places it.
func (w *World) resolveZone(z *zoneState, affected map[*zoneState]*progress) {
	var path []*zoneState
	for at := z; at != nil; at = w.follow(at) {
		state := affected[at]
		if state == nil || *state == done {
			break
		}
		if *state == visiting {
			w.cycle(path, at, affected)
			break
		}
		*state = visiting
		path = append(path, at)
	}
	for i := len(path) - 1; i >= 0; i-- {
		if at := path[i]; *affected[at] != done {
			*affected[at] = done
			w.nameZone(at)
		}
	}
}

// follow returns the Zone whose name the name of z builds on, if there is one.
func (o *objects) follow(z *zoneState) *zoneState {
	if !z.Where.Name.IsZero() || z.fault() != nil {
		return nil
	}
	return o.zones[z.Where.Ref]
}

// cycle refuses the Zones of path from start on: their references lead back to it.
func (w *work) cycle(path []*zoneState, start *zoneState, affected map[*zoneState]*progress) {
	for i := len(path) - 1; i >= 0; i-- {
		z := path[i]
		*affected[z] = done
		z.problem = &Refusal{ReferenceCycle, fmt.Sprintf(
			"%s refers to itself through its %ss (%s and on); let one of them have an absolute %s.", z.ID,
			cmp.Or(z.Where.RefField, "reference"), z.Where.Ref, z.nameField())}
		w.closed[z] = struct{}{}
		if z == start {
			return
		}
	}
}

func (w *World) nameZone(z *zoneState) {
	w.visits++
	w.closed[z] = struct{}{}
	if z.problem = z.fault(); z.problem != nil {
		return
	}
	name, problem := w.nameOf(z.ID, z.Where)
	if z.problem = problem; problem == nil {
		w.insert(z, name)
	}
}

// fault returns why z itself, whatever it refers to, cannot have a name.
func (z *zoneState) fault() *Refusal {
	refers, complete := !z.Where.Ref.IsZero(), !z.Where.Name.IsZero() || !z.Policy.nests()
	if z.Invalid == nil && (z.Where.Relative.IsOrigin() || refers && complete) {
		return &Refusal{InvalidSpec, fmt.Sprintf(
			"%s needs either an absolute name or a name of its own below %s.", z.ID, z.Where.Ref)}
	}
	return z.Invalid
}

// nameOf returns the absolute name that where stands for.
func (o *objects) nameOf(id ID, where Where) (dnsname.Name, *Refusal) {
	if !where.Name.IsZero() {
		return where.Name, nil
	}
	if where.Ref.IsZero() {
		return dnsname.Name{}, &Refusal{InvalidSpec, fmt.Sprintf(
			"%s has neither an absolute name nor a Zone to which it refers; give it one of the two.", id)}
	}
	up := o.zones[where.Ref]
	if up == nil {
		return dnsname.Name{}, &Refusal{ReferenceNotFound, referenceNotFound(id, where, o.going[where.Ref])}
	}
	if up.node == nil {
		return dnsname.Name{}, &Refusal{ParentUnresolved, fmt.Sprintf(
			"%s refers to %s, which has no domain name itself; see its conditions.", id, where.Ref)}
	}
	name, err := where.Relative.In(up.node.name)
	if err != nil {
		return dnsname.Name{}, &Refusal{InvalidName, fmt.Sprintf(
			"%s has no valid name inside %s: %v.", id, where.Ref, err)}
	}
	return name, nil
}

func referenceNotFound(id ID, where Where, going bool) string {
	field := cmp.Or(where.RefField, "the reference")
	if going {
		return fmt.Sprintf("%s refers to %s, which is being deleted; create it again when it is gone, or correct %s.",
			id, where.Ref, field)
	}
	return fmt.Sprintf("%s refers to %s, which does not exist; create it or correct %s.", id, where.Ref, field)
}
