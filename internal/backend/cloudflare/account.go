package cloudflare

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cloudflare/cloudflare-go/v7/option"
	"github.com/cloudflare/cloudflare-go/v7/zones"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// hostedZone is the API's zone, as far as it is needed.
type hostedZone struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Type    string `json:"type"`   // full, partial, secondary, internal
	Status  string `json:"status"` // active, pending, initializing, moved
	Account struct {
		ID string `json:"id"`
	} `json:"account"`
}

const (
	zonesPerPage = 50 // the most that the service gives
	typeInternal = "internal"
)

// zoneID is what IDs look like. It becomes a part of paths.
var zoneID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// HostedZones lists the zones of the token. Of two that have one name, which happens across accounts, the active one
// comes first.
func (c *Client) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	listed, err := pages[hostedZone](ctx, zonesPerPage,
		func(ctx context.Context, number float64, into option.RequestOption) error {
			var q zones.ZoneListParams
			q.Page.Value, q.Page.Present = number, true
			q.PerPage.Value, q.PerPage.Present = zonesPerPage, true
			// Without a type internal zones are left out.
			_, err := c.zones.List(ctx, q, into, option.WithQuery("type", "full,partial,secondary,internal"))
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("listing the zones at %s: %w", c.endpoint, err)
	}
	out := make([]backend.HostedZone, len(listed))
	for i, z := range listed {
		if out[i], err = c.hosted(z); err != nil {
			return nil, fmt.Errorf("listing the zones at %s: %w", c.endpoint, err)
		}
	}
	slices.SortFunc(out, func(a, b backend.HostedZone) int {
		return cmp.Or(strings.Compare(a.Name.String(), b.Name.String()), a.Compare(b))
	})
	return out, nil
}

// HostedZone looks up one zone, which a token for this zone alone may.
func (c *Client) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	id = strings.TrimPrefix(strings.TrimPrefix(id, "/"), "zones/")
	if !zoneID.MatchString(id) {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Err: fmt.Errorf("%q is not the ID of a Cloudflare zone, which has 32 digits and letters from a to f", id)}
	}
	got, err := call[hostedZone](ctx, func(ctx context.Context, into option.RequestOption) error {
		var q zones.ZoneGetParams
		q.ZoneID.Value, q.ZoneID.Present = id, true
		_, err := c.zones.Get(ctx, q, into)
		return err
	})
	if err != nil {
		return backend.HostedZone{}, fmt.Errorf("looking up zone %s at %s: %w", id, c.endpoint, err)
	}
	if got.Result.ID != id {
		return backend.HostedZone{}, unreadable(fmt.Errorf("asked for zone %s, it answers with %q", id, got.Result.ID))
	}
	return c.hosted(got.Result)
}

// hosted is a zone as others see it. All tokens of an account reach the same place.
func (c *Client) hosted(z hostedZone) (backend.HostedZone, error) {
	name, err := rr.MessageName(strings.TrimSuffix(z.Name, ".") + ".")
	if err != nil || !zoneID.MatchString(z.ID) {
		return backend.HostedZone{}, unreadable(fmt.Errorf("zone %q has the ID %q", z.Name, z.ID))
	}
	server := "cloudflare " + z.Account.ID
	if c.endpoint != ownEndpoint {
		server += " at " + c.endpoint
	}
	return backend.HostedZone{
		ID: z.ID, Name: name, Private: z.Type == typeInternal, Inactive: z.Status != "active",
		Target: backend.TargetKey{Server: server, Zone: name, View: z.ID},
	}, nil
}

// Backend reaches one zone.
func (c *Client) Backend(zone backend.HostedZone) backend.Backend {
	return newZone(c, zone.ID, zone.Name)
}
