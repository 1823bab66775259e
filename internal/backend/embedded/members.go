package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// members keep the catalog zone of a group (RFC 9432): the zones that the group has.
//
// Its serials are Unix times, so that they need not be stored: of two leaders the later one's are higher. Therefore it
// changes at most once a second, and for the first time in a second after that in which the server began: what came
// before had a lower serial then.
type members struct {
	zone    *Zone // as it is served; nil: not yet
	changed map[dnsname.Name]struct{}
	serial  uint32    // the last one; 0: none
	last    time.Time // when it changed last; what happens in that second waits for the next
	timer   backend.Timer
	copied  bool // another leader may have had a newer zone: it gets a new serial, and is compared with what there is
}

// change notes that a zone came or went.
func (m *members) change(zone dnsname.Name) {
	if m.changed == nil {
		m.changed = map[dnsname.Name]struct{}{}
	}
	m.changed[zone] = struct{}{}
}

// catalogOf returns the group's catalog zone, if that is its name.
func (g *holdings) catalogOf(name dnsname.Name) *Zone {
	if z := g.members.zone; z != nil && z.name == name {
		return z
	}
	return nil
}

// setCatalog follows a change of the policy.
func (g *holdings) setCatalog(name dnsname.Name) {
	m := &g.members
	if old := m.zone; old != nil && old.name != name {
		m.zone = nil
		g.st.serve(old.name)
	}
	g.publishMembers()
}

// publishMembers brings the catalog zone up to date, at once or when its next serial is due.
func (g *holdings) publishMembers() {
	m, s := &g.members, g.st.server
	if g.policy.catalog.IsZero() {
		m.changed = nil // a catalog zone that is made anew has all zones
		return
	}
	if !g.complete || m.timer != nil || m.zone != nil && len(m.changed) == 0 && !m.copied {
		return
	}
	if now := s.opts.Clock.Now(); now.Unix() <= m.last.Unix() {
		name := g.name
		m.timer = s.opts.Clock.AfterFunc(time.Unix(m.last.Unix()+1, 0).Sub(now), func() {
			st, unlock := s.state.Lock()
			defer unlock()
			due := st.group(name)
			due.members.timer = nil
			if !s.closing.Load() {
				due.publishMembers()
			}
		})
		return
	}
	if err := g.renewMembers(); err != nil {
		s.opts.Log.Error("The catalog zone could not be made. This is a bug in zonefold.",
			slog.String("zone", g.policy.catalog.String()), slog.String("error", err.Error()))
	}
}

// renewMembers makes the next version of the catalog zone.
func (g *holdings) renewMembers() error {
	m, s := &g.members, g.st.server
	name, now := g.policy.catalog, s.opts.Clock.Now()
	old, after := m.zone, rr.LaterSerial(g.policy.after, m.serial)
	if m.copied && old != nil {
		g.compareMembers()
	}
	soa := catalogSOA(after, now)
	var changes []plan.Change
	from := old
	if old == nil {
		var err error
		if from, err = NewZone(name, soa); err != nil {
			return err
		}
		changes = catalogFrame(name)
		for zone := range g.zones {
			m.change(zone)
		}
	}
	for zone := range m.changed {
		key := rr.Key{Name: memberName(name, zone), Type: rr.TypePTR}
		c := plan.Change{Key: key}
		if g.zones[zone] != nil {
			c.Want = rr.NewSet(key, 0, zone.String())
		}
		changes = append(changes, c)
	}
	next, refused, err := from.With(&soa, changes)
	switch {
	case err != nil:
		return err
	case len(refused) > 0:
		return fmt.Errorf("%s: %s", refused[0].Key, refused[0].Reason)
	}
	next.private = true
	if old != nil {
		next.remember(old, old.stepTo(next, changes, s.opts.History), s.opts.History)
	}
	m.zone, m.changed, m.last, m.serial, m.copied = next, nil, now, soa.Serial, false
	g.st.serve(name)
	return nil
}

// catalogSOA is the SOA of a catalog zone (RFC 9432 §4.1). Should a NOTIFY be lost, followers ask in five minutes; what
// they have never expires.
func catalogSOA(after uint32, now time.Time) rr.SOA {
	soa := rr.SOA{MName: invalidName(), RName: invalidName(), Serial: uint32(now.Unix()), Refresh: 300, Retry: 60,
		Expire: 1<<31 - 2}
	if after != 0 && !rr.SerialLess(after, soa.Serial) {
		soa.Serial = after + 1
	}
	return soa
}

// invalidName is invalid., which never exists (RFC 6761 §6.4).
func invalidName() dnsname.Name {
	n, err := dnsname.Parse("invalid.")
	if err != nil {
		return dnsname.Root
	}
	return n
}

// catalogFrame is what a catalog zone has besides members (RFC 9432 §4.1, §4.2.1).
func catalogFrame(catalog dnsname.Name) []plan.Change {
	ns := rr.Key{Name: catalog, Type: rr.TypeNS}
	changes := []plan.Change{{Key: ns, Want: rr.NewSet(ns, 0, invalidName().String())}}
	if name, err := dnsname.Parse("version." + catalog.String()); err == nil {
		version := rr.Key{Name: name, Type: rr.TypeTXT}
		changes = append(changes, plan.Change{Key: version, Want: rr.NewSet(version, 0, `"2"`)})
	}
	return changes
}

// memberName returns the name whose PTR names a member (RFC 9432 §4.1). The label is always the same for a zone.
func memberName(catalog, zone dnsname.Name) dnsname.Name {
	sum := sha256.Sum256([]byte(zone.String()))
	name, _ := dnsname.Parse(hex.EncodeToString(sum[:16]) + ".zones." + catalog.String()) // checkCatalog has tried
	return name
}

// checkCatalog says what is wrong with the name of a catalog zone.
func checkCatalog(catalog dnsname.Name) error {
	switch {
	case catalog.IsZero():
		return nil
	case catalog.IsRoot() || catalog.IsWildcard():
		return fmt.Errorf("%s cannot be a catalog zone", catalog)
	case memberName(catalog, catalog).IsZero():
		return fmt.Errorf("%s is too long for a catalog zone: the names of its members have 39 octets more", catalog)
	}
	return nil
}

// stopMembers lets no catalog zone change any more.
func (s *Server) stopMembers() {
	st, unlock := s.state.Lock()
	defer unlock()
	for _, g := range st.groups {
		if g.members.timer != nil {
			g.members.timer.Stop()
		}
	}
}
