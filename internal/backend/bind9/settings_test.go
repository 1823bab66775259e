package bind9

import (
	"context"
	"net/netip"
	"testing"

	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	p, access := startPod(t, named.Primary, false), newGrant()
	c := p.client(access)
	d := newDesk(t, "example.org.", c)
	told := []netip.AddrPort{netip.MustParseAddrPort("[2001:db8::1]:5353"), netip.MustParseAddrPort("192.0.2.1:5353")}
	access.settings = Settings{AlsoNotify: told}
	d.delivered(d.content(3))
	for _, step := range []struct {
		name     string
		settings Settings
		changes  bool
		open     bool // to a transfer without a key
	}{
		{"as the zone was made", Settings{AlsoNotify: told}, false, false},
		{"in another order", Settings{AlsoNotify: []netip.AddrPort{told[1], told[0]}}, false, false},
		{"another secondary", Settings{AlsoNotify: told[:1]}, true, false},
		{"a network that may transfer", Settings{AlsoNotify: told[:1], AllowTransfer: []string{"127.0.0.1/8",
			"2001:DB8::1/128"}}, true, true},
		{"another that may not", Settings{AllowTransfer: []string{"192.0.2.1"}}, true, false},
		{"nothing", Settings{}, true, false},
	} {
		access.set(func() { access.settings = step.settings })
		for again, want := range []bool{step.changes, false} {
			if changed, err := c.Configure(t.Context(), d.zone); changed != want || err != nil {
				t.Errorf("%s, call %d: %t, %v", step.name, again, changed, err)
			}
		}
		if _, err := p.server().Transfer(context.Background(), d.zone); (err == nil) != step.open {
			t.Errorf("%s: a transfer without a key: %v", step.name, err)
		}
		if _, sets, ok := p.truth(d.zone); !ok || sets.Len() != 6 {
			t.Errorf("%s: with the key there are %d sets", step.name, sets.Len())
		}
	}
	others := bindcar.ModifyZone{AllowUpdate: &[]string{"192.0.2.1"}}
	if err := c.sidecar.Modify(t.Context(), "example.org", others); err != nil {
		t.Fatal(err)
	}
	if changed, err := c.Configure(t.Context(), d.zone); !changed || err != nil {
		t.Errorf("a zone that others may update: %t, %v", changed, err)
	}
	d.delivered(d.content(4))
	access.set(func() { access.settings = Settings{AllowTransfer: []string{"no; such"}} })
	if changed, err := c.Configure(t.Context(), d.zone); changed || err == nil {
		t.Error("what is no address is taken")
	}
}
