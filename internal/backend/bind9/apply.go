package bind9

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply makes or removes a zone by one call of the sidecar, or sends the batch as one UPDATE. What completes a zone
// that is held releases it.
func (c *Client) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	switch {
	case batch.Remove:
		return backend.Result{}, c.remove(ctx, zone)
	case batch.Create:
		result, err := c.create(ctx, zone, batch)
		if err != nil {
			err = fmt.Errorf("making zone %s at %s: %w", zone, c.title(), err)
		}
		return result, err
	}
	at := c.site(zone)
	batch.Changes = at.replace(zone, batch.Changes)
	result, err := c.dns.Apply(ctx, zone, batch)
	if errors.Is(err, backend.ErrNotAuthorised) {
		if yet := c.secondary(ctx, zone); yet != nil {
			err = yet
		}
	}
	if err != nil {
		return backend.Result{}, c.stillThere(ctx, err)
	}
	if at.standing && slices.ContainsFunc(batch.Changes, func(change plan.Change) bool {
		return isApexNS(zone, change.Key)
	}) {
		at.standing = false
		c.note(zone, at)
	}
	if at.held && batch.Last {
		if err := c.release(ctx, zone); err != nil {
			return backend.Result{}, err
		}
	}
	return result, nil
}

func (c *Client) remove(ctx context.Context, zone dnsname.Name) error {
	err := c.call(ctx, func(s *bindcar.Client) error { return s.Delete(ctx, text(zone)) })
	if err != nil {
		return fmt.Errorf("removing zone %s from %s: %w", zone, c.title(), err)
	}
	c.note(zone, site{})
	return nil
}

// create makes the zone with what is in the batch, held if there is more to come. What somebody left half made goes
// first.
func (c *Client) create(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if batch.SOA == nil {
		return backend.Result{}, errors.New("a zone needs an SOA to be created, and there is none")
	}
	update, _, err := c.access.Keys()
	var want bindcar.ZoneSettings
	if err == nil {
		want, err = c.wanted(zone)
	}
	if err != nil {
		return backend.Result{}, &backend.Error{Class: backend.ErrNotAuthorised, Err: err}
	}
	request, at := request(zone, batch, want)
	request.UpdateKeyName = &update.Name
	created, err := c.ask(ctx, request)
	if err == nil && !created {
		if err = c.clear(ctx, zone); err == nil {
			created, err = c.ask(ctx, request)
		}
	}
	switch {
	case err != nil:
		return backend.Result{}, err
	case !created:
		return backend.Result{}, &backend.Error{Class: backend.ErrConflict, Err: errors.New(
			"another client has just created it")}
	}
	c.note(zone, at)
	return backend.Result{SOA: *batch.SOA}, nil
}

func (c *Client) ask(ctx context.Context, request bindcar.CreateZone) (created bool, err error) {
	err = c.call(ctx, func(s *bindcar.Client) (err error) {
		created, err = s.Create(ctx, request)
		return err
	})
	return created, err
}

// clear removes a zone that is held, or that the server has followed another one in. Else it is somebody's content, and
// is to be read.
func (c *Client) clear(ctx context.Context, zone dnsname.Name) error {
	settings, err := c.settings(ctx, zone)
	switch {
	case errors.Is(err, backend.ErrNoZone):
		return nil
	case err != nil:
		return err
	case !settings.Held && settings.ZoneType != bindcar.Secondary:
		return &backend.Error{Class: backend.ErrConflict, Err: errors.New("it already exists")}
	}
	return c.call(ctx, func(s *bindcar.Client) error { return s.Delete(ctx, text(zone)) })
}

// release shows a zone that is complete, and has the secondaries told of it, who were told of nothing before.
func (c *Client) release(ctx context.Context, zone dnsname.Name) error {
	want, err := c.wanted(zone)
	if err != nil {
		return err
	}
	no := false
	change := bindcar.ModifyZone{Held: &no, AlsoNotify: &want.AlsoNotify, AllowTransfer: &want.AllowTransfer}
	err = c.call(ctx, func(s *bindcar.Client) error { return s.Modify(ctx, text(zone), change) })
	if err == nil && len(want.AlsoNotify) > 0 {
		err = c.Notify(ctx, zone)
	}
	if err != nil {
		return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("releasing zone %s, which is complete now: %w",
			zone, err)}
	}
	at := c.site(zone)
	at.held = false
	c.note(zone, at)
	return nil
}

func (c *Client) site(zone dnsname.Name) site {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun[zone]
}

// secondary returns what following does if the server is a secondary of a zone; nil: it is not, or does not say.
func (c *Client) secondary(ctx context.Context, zone dnsname.Name) error {
	if s, err := c.settings(ctx, zone); err == nil {
		if s.ZoneType == bindcar.Secondary {
			return c.following(zone)
		}
		if c.site(zone).follows {
			c.note(zone, site{})
		}
	}
	return nil
}

// following notes that the server was a secondary of a zone and is one yet, unless the zone is being made, and returns
// that as what it is for a primary: no zone.
func (c *Client) following(zone dnsname.Name) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, begun := c.begun[zone]; !begun {
		c.begun[zone] = site{follows: true}
	}
	return &backend.Error{Class: backend.ErrNoZone, Err: fmt.Errorf("%s is still a secondary of zone %s", c.title(), zone)}
}

// note remembers what is to be known of a zone that this client made; mostly that is nothing.
func (c *Client) note(zone dnsname.Name, at site) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !at.held && !at.standing {
		delete(c.begun, zone)
		return
	}
	c.begun[zone] = at
}

func isApexNS(zone dnsname.Name, key rr.Key) bool { return key == rr.Key{Name: zone, Type: rr.TypeNS} }

// replace has the name servers of the zone take the place of those that stand in for them, of which only this client
// knows.
func (at site) replace(zone dnsname.Name, changes []plan.Change) []plan.Change {
	i := slices.IndexFunc(changes, func(change plan.Change) bool { return isApexNS(zone, change.Key) && change.Creates() })
	if !at.standing || i < 0 {
		return changes
	}
	changes = slices.Clone(changes)
	changes[i].Have = at.stand
	return changes
}
