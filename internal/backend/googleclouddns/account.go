package googleclouddns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// What IDs look like. They become parts of paths.
var (
	projectID = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]{0,126}$`)
	zoneName  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

const zonesPerPage = 500

// unreadable is the error of an answer that cannot be right.
func unreadable(err error) error {
	return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("the service's answer cannot be read: %w", err)}
}

// classed gives errors of the SDK itself, which come of answers that it cannot read, a class.
func classed(err error) error {
	if _, ok := errors.AsType[*backend.Error](err); ok || err == nil {
		return err
	}
	return unreadable(err)
}

// HostedZones lists the zones of the service account's project. Those that only lead elsewhere hold nothing and are
// left out.
func (c *Client) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	var zones []backend.HostedZone
	err := c.api.ManagedZones.List(c.project).MaxResults(zonesPerPage).Pages(ctx,
		func(page *dns.ManagedZonesListResponse) error {
			for _, z := range page.ManagedZones {
				if z.ForwardingConfig != nil || z.PeeringConfig != nil {
					continue
				}
				hosted, err := c.hosted(c.project, z)
				if err != nil {
					return err
				}
				zones = append(zones, hosted)
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("listing the zones of project %s: %w", c.project, classed(err))
	}
	slices.SortStableFunc(zones, func(a, b backend.HostedZone) int {
		return cmp.Or(a.Name.Compare(b.Name), order(a.Private, b.Private), strings.Compare(a.ID, b.ID))
	})
	return zones, nil
}

// order puts what is public before what is private.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// split takes an ID apart: "project/zone", or "zone" of the account's own project.
func (c *Client) split(id string) (project, zone string, err error) {
	project, zone, ok := strings.Cut(id, "/")
	if !ok {
		project, zone = c.project, id
	}
	if !projectID.MatchString(project) || !zoneName.MatchString(zone) {
		return "", "", &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Err: fmt.Errorf("%q is not the ID of a Cloud DNS zone; write the name of a managed zone, or project/name", id)}
	}
	return project, zone, nil
}

// HostedZone looks up one zone.
func (c *Client) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	project, zone, err := c.split(id)
	if err != nil {
		return backend.HostedZone{}, err
	}
	z, err := c.api.ManagedZones.Get(project, zone).Context(ctx).Do()
	if err != nil {
		return backend.HostedZone{}, fmt.Errorf("looking up zone %s of project %s: %w", zone, project, classed(err))
	}
	return c.hosted(project, z)
}

func (c *Client) hosted(project string, z *dns.ManagedZone) (backend.HostedZone, error) {
	name, err := rr.MessageName(z.DnsName)
	if err != nil || !zoneName.MatchString(z.Name) {
		return backend.HostedZone{}, unreadable(fmt.Errorf("zone %q has the DNS name %q", z.Name, z.DnsName))
	}
	server := "google-clouddns " + project
	if c.endpoint != ownEndpoint {
		server += " at " + c.endpoint
	}
	return backend.HostedZone{
		ID: project + "/" + z.Name, Name: name, Private: z.Visibility == "private",
		Target: backend.TargetKey{Server: server, Zone: name, View: z.Name},
	}, nil
}

// Backend reaches one zone.
func (c *Client) Backend(zone backend.HostedZone) backend.Backend {
	project, name, err := c.split(zone.ID)
	if err != nil {
		project, name = c.project, "none" // every call answers that there is no such zone
	}
	return newZone(c, project, name, zone.Name)
}
