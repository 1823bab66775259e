package bind9

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Settings are what a primary zone is beside its content. They belong to the target, not to what is published.
type Settings struct {
	// AlsoNotify are the secondaries that are told of changes.
	AlsoNotify []netip.AddrPort
	// AllowTransfer are addresses and networks that may transfer the zone besides who has the transfer key. Empty: whoever
	// the server's own configuration allows it.
	AllowTransfer []string
	// DNSSECPolicy is the policy that the server signs the zone by; "": it does not.
	DNSSECPolicy string
	// Sole says that no other primary has the zone: those that might have had it follow this one.
	Sole bool
}

// wanted are the settings of a zone in the sidecar's words.
func (c *Client) wanted(zone dnsname.Name) (bindcar.ZoneSettings, error) {
	update, transfer, err := c.access.Keys()
	if err != nil {
		return bindcar.ZoneSettings{}, &backend.Error{Class: backend.ErrNotAuthorised, Err: err}
	}
	s := c.access.Settings(zone)
	want := bindcar.ZoneSettings{
		AlsoNotify: []string{}, AllowTransfer: []string{}, DNSSECPolicy: s.DNSSECPolicy,
		AllowUpdate: []string{"key " + update.Name},
	}
	for _, at := range s.AlsoNotify {
		want.AlsoNotify = append(want.AlsoNotify, remote(at))
	}
	slices.Sort(want.AlsoNotify)
	if len(s.AllowTransfer) == 0 {
		return want, nil
	}
	want.AllowTransfer = append(want.AllowTransfer, "key "+transfer.Name)
	for _, who := range s.AllowTransfer {
		want.AllowTransfer = append(want.AllowTransfer, peer(who))
	}
	return want, nil
}

// peer writes an address or a network as BIND does; what is neither stays, and is for the sidecar to judge.
func peer(who string) string {
	if at, err := netip.ParseAddr(who); err == nil {
		return at.String()
	}
	network, err := netip.ParsePrefix(who)
	switch {
	case err != nil:
		return who
	case network.IsSingleIP():
		return network.Addr().String()
	}
	return network.Masked().String()
}

// remote writes a server with its port.
func remote(at netip.AddrPort) string {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()).String()
}

// Notify has the server tell the secondaries of a zone what serial it has.
func (c *Client) Notify(ctx context.Context, zone dnsname.Name) error {
	return c.command(ctx, zone, "notify")
}

// Configure brings the settings of a zone into the wanted state, and who may update it: we. It reports whether anything
// had to be changed. A zone that is not complete yet gets its settings when it is. One that the server is a secondary
// of is none that it has: ErrNoZone.
func (c *Client) Configure(ctx context.Context, zone dnsname.Name) (changed bool, err error) {
	want, err := c.wanted(zone)
	var have bindcar.ZoneSettings
	if err == nil {
		have, err = c.settings(ctx, zone)
	}
	if err != nil {
		return false, fmt.Errorf("configuring zone %s at %s: %w", zone, c.title(), err)
	}
	if have.ZoneType == bindcar.Secondary {
		return false, c.following(zone)
	}
	change := bindcar.ModifyZone{}
	slices.Sort(have.AlsoNotify)
	if !slices.Equal(have.AlsoNotify, want.AlsoNotify) {
		change.AlsoNotify = &want.AlsoNotify
	}
	if !slices.Equal(have.AllowTransfer, want.AllowTransfer) {
		change.AllowTransfer = &want.AllowTransfer
	}
	if !slices.Equal(have.AllowUpdate, want.AllowUpdate) {
		change.AllowUpdate = &want.AllowUpdate
	}
	if have.DNSSECPolicy != want.DNSSECPolicy {
		change.DNSSECPolicy = &want.DNSSECPolicy
	}
	if have.Held || change == (bindcar.ModifyZone{}) {
		return false, nil
	}
	if err := c.call(ctx, func(s *bindcar.Client) error { return s.Modify(ctx, text(zone), change) }); err != nil {
		return false, fmt.Errorf("configuring zone %s at %s: %w", zone, c.title(), err)
	}
	return true, nil
}
