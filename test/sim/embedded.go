package sim

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A chronicle is what leaders have made of one zone of their own name servers. World.mu guards it.
type chronicle struct {
	ages []age // of each time that the zone was there
	gone bool  // it was removed
}

// An age is what a zone was from when it was made until it was removed.
type age struct {
	began    time.Time
	contents map[uint32]rr.Sets // by serial
	last     uint32
}

// ownServer is the name server of an operator, which the operator delivers to.
type ownServer struct {
	backend.Backend
	of *operator
}

// connector returns who makes clients of servers for an operator: usual those of its own name server.
func (o *operator) connector(usual Connector) Connector {
	return func(s backends.Settings) ([]delivery.Server, error) {
		if s.Embedded == nil {
			return o.connect(s)
		}
		servers, err := usual(s)
		for i := range servers {
			servers[i].Backend = ownServer{servers[i].Backend, o}
		}
		return servers, err
	}
}

// Apply implements backend.Backend.
func (s ownServer) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (result backend.Result, err error) {
	failed := s.of.effect(ctx, 0, update+zone.String()+" at its own name server", func() error {
		if result, err = s.Backend.Apply(ctx, zone, b); err == nil {
			s.note(ctx, zone, b.Remove)
		}
		return nil // what the server says of it is no fault
	})
	if failed != nil {
		err = &backend.Error{Class: backend.ErrUnavailable, Err: failed}
	}
	return result, err
}

// note has the world know what was made of a zone.
func (s ownServer) note(ctx context.Context, zone dnsname.Name, removed bool) {
	if removed {
		s.of.world.removed(zone)
	} else if has, err := s.Read(ctx, zone, backend.Ask{}); err == nil {
		s.of.world.published(zone, has.SOA.Serial, has.Sets)
	}
}

func (w *World) removed(zone dnsname.Name) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.chronicles[zone]; c != nil {
		c.gone = true
	}
}

// forgetSerials has leaders' own name servers begin with any serials: what they had reserved is lost.
func (w *World) forgetSerials() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.chronicles {
		c.gone = true
	}
}

// published notes what a leader has now under a serial.
func (w *World) published(zone dnsname.Name, serial uint32, sets rr.Sets) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.chronicles[zone]
	if c == nil {
		c = &chronicle{gone: true}
		w.chronicles[zone] = c
	}
	if c.gone {
		c.ages, c.gone = append(c.ages, age{w.api.store.now(), map[uint32]rr.Sets{}, serial}), false
	}
	now := &c.ages[len(c.ages)-1]
	was, there := now.contents[serial]
	switch {
	case there && contentOf(was) != contentOf(sets):
		w.wrong = append(w.wrong, fmt.Sprintf("%s has two contents under serial %d at leaders' own name servers", zone,
			serial))
	case rr.SerialLess(serial, now.last):
		w.wrong = append(w.wrong, fmt.Sprintf("%s: after serial %d leaders have %d at their own name servers", zone, now.last,
			serial))
	}
	now.contents[serial], now.last = sets, serial
}

// ageOf returns the latest age in which a zone had a content under a serial, -1 if there is none. What a zone gets that
// no name server is without counts as nothing.
func (c *chronicle) ageOf(serial uint32, sets rr.Sets, zone dnsname.Name) int {
	for i, a := range slices.Backward(c.ages) {
		if was, there := a.contents[serial]; there && within(was, sets, zone) {
			return i
		}
	}
	return -1
}

// within reports whether sets are those that a zone was made to have, and at most what completes it.
func within(made, sets rr.Sets, zone dnsname.Name) bool {
	for set := range made.All() {
		if other, there := sets.Get(set.Key()); !there || !other.Equal(set) {
			return false
		}
	}
	for set := range sets.All() {
		_, there := made.Get(set.Key())
		filled := set.Key() == rr.Key{Name: zone, Type: rr.TypeNS} ||
			set.Type == rr.TypeA && slices.Equal(set.Data, []string{rr.PlaceholderAddress})
		if !there && !filled {
			return false
		}
	}
	return true
}

// serves gives an operator an address for its name server, the zero one if it is to be none.
func (w *World) serves(o *operator) netip.AddrPort {
	if !w.embedded {
		return netip.AddrPort{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 1 + len(w.replicas) // some hundred, if operators begin again and again while there is no API server
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 53)
	w.replicas = append(w.replicas, &replica{of: o, at: at.String(), began: w.api.store.now(),
		seen: map[dnsname.Name]seen{}})
	return at
}
