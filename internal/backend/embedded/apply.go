package embedded

import (
	"context"
	"fmt"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply makes a batch: the zone that is served changes at one moment, or not at all.
func (g *Group) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	for ctx.Err() == nil {
		if err := backend.MaySend(ctx); err != nil {
			return backend.Result{}, err
		}
		c := change{zone: zone, batch: batch, old: g.zone(zone)}
		err := c.make(g.server.opts.History)
		if err != nil {
			return backend.Result{}, err
		}
		if done, err := g.replace(c); done || err != nil {
			return backend.Result{SOA: c.soa}, err
		}
	}
	return backend.Result{}, fmt.Errorf("changing zone %s: %w", zone, ctx.Err())
}

// A change takes a zone from what it is to what a batch makes of it.
type change struct {
	zone      dnsname.Name
	batch     backend.Batch
	old, next *Zone // nil: there is none
	soa       rr.SOA
	step      *step // from old to next, nil if that is longer than next
}

// make makes next, keeping so many records of history.
func (c *change) make(most int) (err error) {
	switch {
	case c.old == nil && c.batch.Remove:
		return nil
	case c.old == nil && !c.batch.Create:
		return noZone(c.zone)
	case c.old != nil && c.batch.Expect != nil && *c.batch.Expect != c.old.soa:
		return &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("zone %s has serial %d instead of %d", c.zone,
			c.old.soa.Serial, c.batch.Expect.Serial)}
	case c.batch.Remove:
		return nil
	}
	if err := c.serial(); err != nil {
		return err
	}
	from := c.old
	if from == nil {
		if from, err = NewZone(c.zone, c.soa); err != nil {
			return rejected(err)
		}
	} else if c.soa == from.soa {
		c.next = from
		return nil
	}
	next, refused, err := from.complete(c.soa, c.batch.Changes)
	switch {
	case err != nil:
		return rejected(err)
	case len(refused) > 0:
		return rejected(fmt.Errorf("%s: %s", refused[0].Key, refused[0].Reason))
	}
	c.next = next
	if c.old != nil {
		c.step = c.old.stepTo(next, c.batch.Changes, most)
	}
	return nil
}

func rejected(err error) error { return &backend.Error{Class: backend.ErrRejected, Err: err} }

// serial finds the SOA that the zone gets with the batch. A serial never stands for two contents.
func (c *change) serial() error {
	sent := c.batch.SOA
	switch {
	case sent == nil && c.old == nil:
		return rejected(fmt.Errorf("zone %s cannot be made without an SOA", c.zone))
	case sent == nil:
		c.soa = c.old.soa
		if len(c.batch.Changes) > 0 {
			c.soa.Serial = max(c.soa.Serial+1, 1)
		}
		return nil
	case c.old != nil && !rr.SerialLess(c.old.soa.Serial, sent.Serial) && (len(c.batch.Changes) > 0 || *sent != c.old.soa):
		return rejected(fmt.Errorf("zone %s has serial %d: %d does not come after it", c.zone, c.old.soa.Serial, sent.Serial))
	}
	c.soa = *sent
	return nil
}

// replace makes the group have the zone as changed, and publishes what is served then. It returns false if the group
// has another zone than the change is from by now.
func (g *Group) replace(c change) (bool, error) {
	s := g.server
	st, unlock := s.state.Lock()
	defer unlock()
	h := st.group(g.name)
	switch {
	case h.zones[c.zone] != c.old:
		return false, nil
	case c.next == c.old:
		return true, nil
	}
	if c.next == nil {
		delete(h.zones, c.zone)
	} else {
		for _, other := range st.groups {
			if other.policy.catalog == c.zone {
				return false, rejected(fmt.Errorf("%s is the name of the catalog zone of %s", c.zone, other.name))
			}
		}
		c.next.remember(c.old, c.step, s.opts.History)
		h.zones[c.zone] = c.next
	}
	for _, other := range st.groups {
		if other.dropped && other != h {
			delete(other.zones, c.zone) // or it would be served again, as it was long ago
		}
	}
	st.serve(c.zone)
	if c.old == nil || c.next == nil {
		h.members.change(c.zone)
		h.publishMembers()
	}
	return true, nil
}

// serve puts into the catalogue what the groups have of a zone: a catalog zone before another of its name, then the
// newest. Who wants to know of changes is told.
func (st *state) serve(name dnsname.Name) {
	s := st.server
	var best *Zone
	var from string
	for group, g := range st.groups {
		for _, z := range [...]*Zone{g.zones[name], g.catalogOf(name)} {
			if z != nil && (best == nil || z.before(best, group < from)) {
				best, from = z, group
			}
		}
	}
	defer st.recordChange(name)
	c := s.catalogue.Load()
	was := c.Zone(name)
	switch {
	case best == was:
		return
	case best == nil:
		s.catalogue.Store(c.Without(name))
		return
	}
	s.catalogue.Store(c.With(best))
	st.notify(name)
}

// notify notifies the followers of a zone that it has changed.
func (st *state) notify(name dnsname.Name) {
	if !st.server.Opened() {
		return // they could not have it yet
	}
	for _, g := range st.groups {
		if g.has(name) {
			for _, d := range g.policy.destinations {
				st.server.notifier.enqueue(name, d)
			}
		}
	}
}

// has reports whether a group has a zone, or a catalog zone of that name.
func (g *holdings) has(name dnsname.Name) bool {
	return g.zones[name] != nil || g.catalogOf(name) != nil
}

// before reports whether a zone is served in place of another one of its name, tied deciding between equals.
func (z *Zone) before(o *Zone, tied bool) bool {
	switch {
	case z.private != o.private:
		return z.private
	case z.private || z.soa.Serial == o.soa.Serial:
		return tied
	}
	return rr.SerialLess(o.soa.Serial, z.soa.Serial)
}
