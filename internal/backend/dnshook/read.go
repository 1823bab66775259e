package dnshook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Read asks for each set by itself, some at a time.
func (c *Client) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	found := rr.Sets{}.Txn()
	var wait sync.WaitGroup
	keys := make(chan rr.Key)
	for range min(concurrency, len(ask.Keys)) {
		wait.Go(func() {
			for key := range keys {
				set, there, err := c.look(ctx, zone, key)
				mu.Lock()
				if err != nil {
					cancel(err)
				} else if there {
					found.Put(set)
				}
				mu.Unlock()
			}
		})
	}
	for _, key := range ask.Keys {
		if ctx.Err() != nil {
			break
		}
		keys <- key
	}
	close(keys)
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return backend.Observed{}, fmt.Errorf("reading zone %s from %s: %w", zone, c.server, classed(err))
	}
	return backend.Observed{Sets: found.Sets()}, nil
}

// look asks for one set.
func (c *Client) look(ctx context.Context, zone dnsname.Name, key rr.Key) (rr.Set, bool, error) {
	id, err := IDOf(zone, key)
	if err != nil {
		return rr.Set{}, false, nil //nolint:nilerr // the server cannot have what there is no name for
	}
	r, there, err := c.hook.Get(ctx, id)
	if errors.Is(err, dnshook.ErrNoGet) {
		return rr.Set{}, false, &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("%w, which it had before", err)}
	}
	if err != nil || !there {
		return rr.Set{}, false, err
	}
	r.Type, r.Domain, r.Subdomain = id.Type, id.Domain, id.Subdomain
	set, err := SetOf(r, key)
	if err == nil {
		return set, true, nil
	}
	if len(r.Values) == 0 {
		return rr.Set{}, false, &backend.Error{Class: backend.ErrUnavailable,
			Err: fmt.Errorf("it returns %s without values", id)}
	}
	// Something is there that the protocol cannot say. It differs from all that may be wanted, and so is replaced.
	return rr.NewSet(key, cmp.Or(r.TTL, dnshook.DefaultTTL), r.Values...), true, nil
}

// classed gives an error of the protocol a class.
func classed(err error) error {
	said, ok := errors.AsType[*dnshook.Error](err)
	if !ok {
		return err
	}
	e := &backend.Error{Class: backend.ErrUnavailable, Err: err}
	switch {
	case said.Code == dnshook.CodeAuthFailed, said.Code == dnshook.CodeTimestampStale,
		said.Code == dnshook.CodeNonceReused,
		said.Status == 401, said.Status == 403 && said.Code != dnshook.CodeQuotaExceeded:
		e.Class = backend.ErrNotAuthorised
	case said.Code == dnshook.CodeRateLimited, said.Status == 429, said.RetryAfter > 0:
		e.Class, e.After = backend.ErrThrottled, said.RetryAfter
	case said.Code == dnshook.CodeInvalidDomain:
		// The name is valid, so it is the server that is not for it.
		e.Class = backend.ErrNoZone
	case said.Code == dnshook.CodeQuotaExceeded:
		e.Class, e.Temporary = backend.ErrRejected, true
	case said.Code == dnshook.CodeInvalidRecord, said.Code == dnshook.CodeInvalidValue,
		said.Code == dnshook.CodeRecordNotFound,
		said.Status == 400, said.Status == 413, said.Status == 422:
		e.Class = backend.ErrRejected
	}
	return e
}
