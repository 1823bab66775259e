package powerdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Read gets the whole zone, whatever was asked for: the API of 4.7 shows nothing less.
func (c *Client) Read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := c.read(ctx, name, ask)
	if err != nil {
		return backend.Observed{}, fmt.Errorf("reading zone %s from %s: %w", name, c.Server(), err)
	}
	return found, nil
}

func (c *Client) read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	var z zone
	if err := c.call(ctx, request{method: http.MethodGet, path: zonePath(name), inZone: true}, &z); err != nil {
		return backend.Observed{}, err
	}
	if answered, err := parseName(z.Name); err != nil || answered != name {
		return backend.Observed{}, &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(
			"the server answers with zone %q", z.Name)}
	}
	found, err := fromZone(z)
	if err != nil {
		return backend.Observed{}, err
	}
	if ask.Keys != nil {
		found.Sets = found.Sets.Only(ask.Keys)
	}
	return found, nil
}

// Apply makes the changes in one transaction of the server.
func (c *Client) Apply(ctx context.Context, name dnsname.Name, batch backend.Batch) (backend.Result, error) {
	err := c.apply(ctx, name, batch)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s at %s: %w", name, c.Server(), err)
	}
	if batch.SOA == nil {
		return backend.Result{}, nil
	}
	return backend.Result{SOA: *batch.SOA}, nil
}

func (c *Client) apply(ctx context.Context, name dnsname.Name, batch backend.Batch) error {
	sets := make([]rrset, 0, len(batch.Changes)+1)
	for _, change := range batch.Changes {
		if batch.Create && change.Deletes() {
			continue
		}
		set, err := toRRset(change)
		if err != nil {
			return &backend.Error{Class: backend.ErrRejected, Err: err}
		}
		sets = append(sets, set)
	}
	if batch.SOA != nil {
		soa, err := replacement(soaSet(name, *batch.SOA))
		if err != nil {
			return &backend.Error{Class: backend.ErrRejected, Err: err}
		}
		sets = append(sets, soa)
	}
	if batch.Create {
		return c.create(ctx, name, sets)
	}
	if len(sets) == 0 {
		return nil
	}
	if err := c.look(ctx, name, batch); err != nil {
		return err
	}
	return c.call(ctx, request{method: http.MethodPatch, path: zonePath(name), body: zone{RRsets: sets}, inZone: true},
		nil)
}

// create makes the zone whole.
func (c *Client) create(ctx context.Context, name dnsname.Name, sets []rrset) error {
	off := ""
	for i := range sets {
		sets[i].ChangeType = ""
	}
	made := struct {
		zone
		Nameservers []string `json:"nameservers"` // must be there, even empty
	}{zone: zone{Name: name.String(), Kind: c.zoneKind, SOAEditAPI: &off, RRsets: sets}, Nameservers: []string{}}
	if err := c.call(ctx, request{method: http.MethodPost, path: "zones", query: "rrsets=false", body: made},
		nil); err != nil {
		return err
	}
	return c.forget(ctx, name)
}

// forget changes nothing, which makes the server forget what it remembers of the zone: unlike changes, creation leaves
// it with REFUSED and NXDOMAIN for 20 seconds (cache-ttl) for names that were asked for before.
func (c *Client) forget(ctx context.Context, name dnsname.Name) error {
	return c.call(ctx, request{method: http.MethodPatch, path: zonePath(name), body: map[string][]rrset{"rrsets": {}},
		inZone: true}, nil)
}

// look stands in for a compare-and-swap, and sees to it that the server leaves the serial alone.
func (c *Client) look(ctx context.Context, name dnsname.Name, batch backend.Batch) error {
	var now zone
	if err := c.call(ctx, request{method: http.MethodGet, path: zonePath(name), query: "rrsets=false", inZone: true},
		&now); err != nil {
		return err
	}
	switch strings.ToLower(now.Kind) {
	case "slave", "secondary", "consumer":
		return &backend.Error{Class: backend.ErrNotAuthorised,
			Err: fmt.Errorf("the server has the zone as a %s: its content comes from another server", now.Kind)}
	}
	if batch.Expect != nil && now.Serial != batch.Expect.Serial {
		return &backend.Error{Class: backend.ErrConflict,
			Err: fmt.Errorf("the zone has serial %d instead of %d", now.Serial, batch.Expect.Serial)}
	}
	if batch.SOA == nil || now.SOAEditAPI == nil || *now.SOAEditAPI == "" {
		return nil
	}
	off := ""
	settings := zone{Kind: now.Kind, SOAEditAPI: &off}
	if err := c.call(ctx, request{method: http.MethodPut, path: zonePath(name), body: settings, inZone: true},
		nil); err != nil {
		return errors.Join(fmt.Errorf("switching off SOA-EDIT-API, which is %q", *now.SOAEditAPI), err)
	}
	return nil
}
