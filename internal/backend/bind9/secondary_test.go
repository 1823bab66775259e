package bind9

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func (p *testPod) secondary(access Access) *Secondary {
	p.Helper()
	s, err := NewSecondary(Config{Endpoint: p.place(), Access: access, Now: time.Now})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { s.Close() })
	return s
}

// reaches waits until the secondary has a serial.
func (s *Secondary) reaches(t testing.TB, zone dnsname.Name, serial uint32) {
	t.Helper()
	until(t, "reached the serial of the primary", func() bool {
		has, err := s.Serial(t.Context(), zone)
		return err == nil && has == serial
	})
}

// catchesUp has the secondary ask its primaries until it has their serial.
func (s *Secondary) catchesUp(t testing.TB, zone dnsname.Name, serial uint32) {
	t.Helper()
	until(t, "caught up", func() bool {
		has, err := s.Serial(t.Context(), zone)
		if err == nil && has == serial {
			return true
		}
		if err := s.Refresh(t.Context(), zone); err != nil {
			t.Error(err)
		}
		return t.Failed()
	})
}

func TestASecondaryFollows(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Secondary, false)
	access, reader := newGrant(), newGrant()
	access.settings = Settings{AlsoNotify: []netip.AddrPort{two.address()}}
	d := newDesk(t, "example.org.", one.client(access))
	s := two.secondary(reader)
	ctx, primaries := t.Context(), []netip.AddrPort{one.address()}
	if _, err := s.Serial(ctx, d.zone); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("before it follows: %v", err)
	}
	if err := s.Refresh(ctx, d.zone); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("asking for a zone that it does not have: %v", err)
	}
	for i, want := range []bool{true, false} {
		if changed, err := s.Follow(ctx, d.zone, primaries, transferKey, false); changed != want || err != nil {
			t.Errorf("call %d to follow: %t, %v", i, changed, err)
		}
	}
	if _, err := s.Serial(ctx, d.zone); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("before there is a zone: %v", err)
	}
	s.reaches(t, d.zone, d.delivered(d.content(10))["0"].Serial)
	s.reaches(t, d.zone, d.delivered(d.content(11))["0"].Serial)
	for _, p := range []*testPod{one, two} {
		for _, keys := range [][]string{nil, {"bindy-operator"}, {"stranger"}} {
			if sets, err := p.server(keys...).Transfer(context.Background(), d.zone); err == nil {
				t.Errorf("with the keys %q, %d sets can be transferred", keys, len(sets))
			}
		}
		if _, sets, ok := p.truth(d.zone); !ok || sets.Len() != 14 {
			t.Errorf("with the key for transfers there are %d sets, want 14", sets.Len())
		}
	}
	_, err := one.secondary(reader).Follow(ctx, d.zone, primaries, transferKey, false)
	if !errors.Is(err, backend.ErrConflict) {
		t.Errorf("a primary is to follow: %v", err)
	}
	primaries = []netip.AddrPort{two.address()}
	if changed, err := one.secondary(reader).Follow(ctx, d.zone, primaries, transferKey, true); !changed || err != nil {
		t.Errorf("a former primary is to follow: %t, %v", changed, err)
	}
	for range 2 {
		if err := s.Remove(ctx, d.zone); err != nil {
			t.Errorf("removing: %v", err)
		}
	}
	if _, err := s.Serial(ctx, d.zone); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("after it was removed: %v", err)
	}
}

// TestASecondaryHoldsSomethingElse has somebody else write to the primary, under a serial that the secondary then has
// as well.
func TestASecondaryHoldsSomethingElse(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Secondary, false)
	access := newGrant()
	access.settings = Settings{AlsoNotify: []netip.AddrPort{two.address()}}
	d := newDesk(t, "example.org.", one.client(access))
	s := two.secondary(newGrant())
	if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{one.address()}, transferKey, false); err != nil {
		t.Fatal(err)
	}
	content := d.content(5)
	s.reaches(t, d.zone, d.delivered(content)["0"].Serial)
	holds := func(want rr.Sets) bool {
		t.Helper()
		holds, err := s.Holds(t.Context(), d.zone, want)
		if err != nil {
			t.Error(err)
		}
		return holds
	}
	if !holds(content.Sets) || holds(d.content(6).Sets) {
		t.Error("the secondary does not know what it holds")
	}
	if err := s.Renew(t.Context(), d.zone); err != nil {
		t.Error(err)
	}
	until(t, "held the same", func() bool { return holds(content.Sets) })
	parent, _ := d.zone.Parent()
	if _, err := s.Holds(t.Context(), parent, content.Sets); err == nil {
		t.Error("a zone that it does not have is held")
	}
}

// TestASecondaryThatHearsNothing is not told of changes, and asks when it is to.
func TestASecondaryThatHearsNothing(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Secondary, false)
	d := newDesk(t, "example.org.", one.client(newGrant()))
	s := two.secondary(newGrant())
	d.delivered(d.content(10))
	if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{one.address()}, transferKey, false); err != nil {
		t.Fatal(err)
	}
	for hosts := 10; hosts < 13; hosts++ {
		serial := d.delivered(d.content(hosts))["0"].Serial
		s.catchesUp(t, d.zone, serial)
	}
}

// TestASecondaryWithTheWrongKey gets nothing until it has the right one.
func TestASecondaryWithTheWrongKey(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Secondary, false)
	d := newDesk(t, "example.org.", one.client(newGrant()))
	serial := d.delivered(d.content(3))["0"].Serial
	other := testKey("bindy-transfer-9")
	two.publish(named.ForTransfer, other, testKey(transferKey))
	s := two.secondary(newGrant())
	until(t, "took another key", func() bool { return two.accepts(other.Name) })
	primaries := []netip.AddrPort{one.address()}
	if _, err := s.Follow(t.Context(), d.zone, primaries, other.Name, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context(), d.zone); err != nil {
		t.Error(err)
	}
	if has, err := s.Serial(t.Context(), d.zone); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("with a key that the primary does not know: %d, %v", has, err)
	}
	if changed, err := s.Follow(t.Context(), d.zone, primaries, transferKey, false); !changed || err != nil {
		t.Errorf("after a change of keys: %t, %v", changed, err)
	}
	s.catchesUp(t, d.zone, serial)
}

// TestASecondaryWithoutAKey gets what the primary gives to who is where it is.
func TestASecondaryWithoutAKey(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Secondary, false)
	access := newGrant()
	access.settings = Settings{AllowTransfer: []string{"192.0.2.1", "localnets"}}
	c := one.client(access)
	d := newDesk(t, "example.org.", c)
	serial := d.delivered(d.content(3))["0"].Serial
	s := two.secondary(newGrant())
	if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{one.address()}, "", false); err != nil {
		t.Fatal(err)
	}
	s.catchesUp(t, d.zone, serial)
	access.set(func() { access.settings = Settings{AllowTransfer: []string{"192.0.2.1"}} })
	for i, want := range []bool{true, false} {
		if changed, err := c.Configure(t.Context(), d.zone); changed != want || err != nil {
			t.Errorf("change %d of who may transfer: %t, %v", i, changed, err)
		}
	}
	if sets, err := one.server().Transfer(t.Context(), d.zone); err == nil {
		t.Errorf("from an address that is not listed, %d sets can be transferred", len(sets))
	}
}

// TestServersForOthersOnly has servers that answer a network in which neither the operator nor the other server is.
func TestServersForOthersOnly(t *testing.T) {
	t.Parallel()
	others := named.Options{Role: named.Primary, AllowQuery: []string{"192.0.2.0/24"}}
	one := startPodWith(t, others, false)
	others.Role = named.Secondary
	two := startPodWith(t, others, false)
	d := newDesk(t, "example.org.", one.client(newGrant()))
	s := two.secondary(newGrant())
	for hosts := 3; hosts < 5; hosts++ {
		serial := d.delivered(d.content(hosts))["0"].Serial
		if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{one.address()}, transferKey, false); err != nil {
			t.Fatal(err)
		}
		s.catchesUp(t, d.zone, serial)
	}
	answer, err := one.server().Lookup(t.Context(), rr.Key{Name: d.zone, Type: rr.TypeNS})
	if err != nil || answer.Rcode != "REFUSED" {
		t.Errorf("an unsigned query is answered %+v, %v", answer, err)
	}
}
