package hook

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// hosted is a zone of an account. It is looked up when it is needed first, so that a service that is down keeps nobody
// from starting, and again when it turns out to be gone.
type hosted struct {
	account backend.Account
	name    dnsname.Name
	id      string // "": the zone of the name is meant
	limits  backend.Limits

	mu    sync.Mutex
	found backend.Backend // nil: not yet
}

// Hosted returns a Backend of one zone of an account, which has an ID or else is the one that the account has of the
// name.
func Hosted(account backend.Account, name dnsname.Name, id string) backend.Backend {
	limits := account.Backend(backend.HostedZone{ID: id, Name: name}).Limits() // the same for all zones
	return &hosted{account: account, name: name, id: id, limits: limits}
}

// Limits implements backend.Backend.
func (h *hosted) Limits() backend.Limits { return h.limits }

// Zones implements backend.Backend.
func (h *hosted) Zones(context.Context) ([]dnsname.Name, error) {
	return []dnsname.Name{h.name}, nil
}

// Read implements backend.Backend.
func (h *hosted) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (found backend.Observed, err error) {
	err = h.with(ctx, func(b backend.Backend) error {
		found, err = b.Read(ctx, zone, ask)
		return err
	})
	return found, err
}

// Apply implements backend.Backend.
func (h *hosted) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (result backend.Result, err error) {
	err = h.with(ctx, func(b backend.Backend) error {
		result, err = b.Apply(ctx, zone, batch)
		return err
	})
	return result, err
}

// with does something with the zone.
func (h *hosted) with(ctx context.Context, do func(backend.Backend) error) error {
	h.mu.Lock()
	b := h.found
	h.mu.Unlock()
	var err error
	if b == nil {
		b, err = h.look(ctx)
	}
	if err == nil {
		err = do(b)
	}
	if !errors.Is(err, backend.ErrNoZone) {
		return err
	}
	if r, ok := h.account.(backend.Refresher); ok {
		r.Refresh()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = nil
	return err
}

// look finds the zone.
func (h *hosted) look(ctx context.Context) (backend.Backend, error) {
	var zone backend.HostedZone
	var err error
	if h.id != "" {
		zone, err = h.account.HostedZone(ctx, h.id)
	} else {
		zone, err = backend.FindZone(ctx, h.account, h.name)
	}
	if err != nil {
		return nil, err
	}
	if zone.Name != h.name {
		return nil, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"zone %s is %s and not %s", zone.ID, zone.Name, h.name)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = h.account.Backend(zone)
	return h.found, nil
}
