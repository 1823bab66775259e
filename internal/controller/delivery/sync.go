package delivery

import (
	"context"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// wanted returns the Places that a Zone is to be delivered to.
func (ps places) wanted(z *delivery, stored Stored) []*Place {
	if !z.accepted || stored.Deleting {
		return nil
	}
	var out []*Place
	for _, p := range ps {
		if p.serves(stored.Refs) && (!p.Closed || slices.Contains(z.allowed, p.Name)) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Place) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// sync brings the delivery of one Zone to what it should be.
func (d *Deliveries) sync(ctx context.Context, id zone.ID) error {
	v := &visit{Deliveries: d, id: id}
	v.stored, v.exists = d.store.Load(id)
	for _, first := range []step{v.begin, v.rollBack} {
		if err := v.take(ctx, first); err != nil {
			return err
		}
	}
	st, unlock := d.state.Lock()
	for _, heirless := range st.heirs.came(id) {
		d.queue.Enqueue(heirless)
	}
	opened := st.opening.arrived(id, st.zones[id])
	unlock()
	if opened != nil {
		opened()
	}
	return nil
}

// movedSince reports whether a Backend was put again, or the Zone has another name: what is held is not what is wanted
// by now.
func (st *state) movedSince(z *delivery, stored Stored, wanted []*Place, held []Delivered) bool {
	now := st.places.wanted(z, stored)
	return st.regrant || !slices.Equal(now, wanted) || missing(z.holds(now), held)
}

// rememberAll takes over what earlier runs have delivered before any Zone is: one that is new begins above the serials
// of who had its name.
func (st *state) rememberAll() {
	for id, was := range st.earlier {
		if len(was.Delivered) > 0 {
			st.remember(st.deliveryOf(id), was)
		}
	}
	st.earlier = nil
}

// remember takes over, once, what an earlier run left behind.
func (st *state) remember(z *delivery, stored Stored) {
	if z.known {
		return
	}
	z.known = true
	for _, was := range stored.Delivered {
		if z.feeds[was.Zone] == nil {
			st.addFeed(z, was.Zone, stored)
		}
		z.feeds[was.Zone].owed = append(z.feeds[was.Zone].owed, was.Place)
	}
}

// holds returns where the Zone is or will be: what must not be forgotten.
func (z *delivery) holds(wanted []*Place) []Delivered {
	var out []Delivered
	for _, p := range wanted {
		if !p.Observe && len(p.at(z.snapshot.Name)) > 0 {
			out = append(out, Delivered{p.Name, z.snapshot.Name})
		}
	}
	for name, l := range z.feeds {
		for _, place := range l.owed {
			out = append(out, Delivered{place, name})
		}
		for key, a := range l.at {
			if !a.observe {
				out = append(out, Delivered{key.place, name})
			}
		}
	}
	slices.SortFunc(out, compareDelivered)
	return slices.Compact(out)
}

// stands returns where the Zone stays, under the name that it has now.
func (z *delivery) stands() []Delivered {
	var out []Delivered
	if l := z.feeds[z.snapshot.Name]; l != nil {
		for key, a := range l.at {
			if !a.leaving {
				out = append(out, Delivered{key.place, l.name})
			}
		}
	}
	return out
}

// standing is what claims of a Zone have heard of its servers.
type standing struct {
	lacks       *controller.Outcome
	places      []Delivered
	unconfirmed []attachmentKey // servers that have confirmed nothing of it: claims may say why
}

func (z *delivery) standing() standing {
	out := standing{lacks: z.lacks, places: z.stands()}
	if l := z.feeds[z.snapshot.Name]; l != nil {
		for key, a := range l.at {
			if !a.leaving && (a.report == nil || a.report.Seq == 0) {
				out.unconfirmed = append(out.unconfirmed, key)
			}
		}
	}
	return out
}

// differs reports whether claims have heard what is not so any more.
func (z *delivery) differs(was standing) bool {
	l := z.feeds[z.snapshot.Name]
	left := func(key attachmentKey) bool { return l == nil || l.at[key] == nil }
	return !controller.SameOutcome(was.lacks, z.lacks) || missing(was.places, z.stands()) ||
		slices.ContainsFunc(was.unconfirmed, left)
}

// forget ends all feeds of a Zone whose object is gone although nothing was withdrawn.
func (st *state) forget(z *delivery) {
	st.abandon(z)
	st.heirs.note(z, false, dnsname.Name{})
	delete(st.zones, z.id)
}

func compareDelivered(a, b Delivered) int {
	if c := a.Zone.Compare(b.Zone); c != 0 {
		return c
	}
	return strings.Compare(a.Place, b.Place)
}

// missing reports whether some of a is not in b.
func missing(a, b []Delivered) bool {
	return slices.ContainsFunc(a, func(x Delivered) bool { return !slices.Contains(b, x) })
}

func union(a, b []Delivered) []Delivered {
	out := append(slices.Clone(a), b...)
	slices.SortFunc(out, compareDelivered)
	return slices.Compact(out)
}
