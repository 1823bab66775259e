package zone

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// resolve gives every Zone whose name may have changed its name, following zoneRefs.
// The work is linear in the number of Zones that depend on a changed one.
func (w *World) resolve() {
	affected := w.affected()
	for z := range affected {
		w.resolveZone(z, affected)
	}
	clear(w.moved)
}

// mark is how far the resolution of one Zone has come.
type mark int

const (
	pending mark = iota
	visiting
	done
)

// affected collects the moved Zones and all that refer to them, however far away.
// A Zone that had a name is replaced by a fresh state, because everything that is
// known about it is bound to the old name; it keeps its verdict for comparison.
func (w *World) affected() map[*zoneState]*mark {
	found := map[*zoneState]*mark{}
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
			found[w.renew(z)] = new(mark)
		}
		r := w.refs[id]
		if r == nil {
			continue
		}
		for c := range r.claims {
			w.homes[c] = struct{}{}
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
func (w *World) resolveZone(z *zoneState, affected map[*zoneState]*mark) {
	var path []*zoneState
	for at := z; at != nil; at = w.zones[at.Where.Ref] {
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

// cycle refuses the Zones of path from start on: their references lead back to it.
func (w *World) cycle(path []*zoneState, start *zoneState, affected map[*zoneState]*mark) {
	for i := len(path) - 1; i >= 0; i-- {
		z := path[i]
		*affected[z] = done
		z.problem = &Refusal{ReferenceCycle, fmt.Sprintf(
			"%s refers to itself through its zoneRefs (%s and on); let one of them have an absolute domainName.", z.ID, z.Where.Ref)}
		w.closed[z] = struct{}{}
		if z == start {
			return
		}
	}
}

func (w *World) nameZone(z *zoneState) {
	w.closed[z] = struct{}{}
	if z.Invalid != nil {
		z.problem = z.Invalid
		return
	}
	name, problem := w.nameOf(z.ID, z.Where)
	if z.problem = problem; problem != nil {
		return
	}
	z.name = name
	w.place(z)
}

// nameOf returns the absolute name that where stands for.
func (w *World) nameOf(id ID, where Where) (dnsname.Name, *Refusal) {
	if !where.Name.IsZero() {
		return where.Name, nil
	}
	up := w.zones[where.Ref]
	if up == nil {
		return dnsname.Name{}, &Refusal{ReferenceNotFound, fmt.Sprintf(
			"%s refers to %s, which does not exist; create it or correct zoneRef.", id, where.Ref)}
	}
	if up.name.IsZero() {
		return dnsname.Name{}, &Refusal{ParentUnresolved, fmt.Sprintf(
			"%s refers to %s, which has no domain name itself; see its conditions.", id, where.Ref)}
	}
	name, err := where.Relative.In(up.name)
	if err != nil {
		return dnsname.Name{}, &Refusal{InvalidName, fmt.Sprintf(
			"%s has no valid name inside %s: %v.", id, where.Ref, err)}
	}
	return name, nil
}
