package backendtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// memoryClient is a Backend for a Memory.
type memoryClient struct {
	m          *Memory
	authorised bool
}

// Limits are those of the profile.
func (c *memoryClient) Limits() backend.Limits { return c.m.profile.Limits }

// Zones lists them.
func (c *memoryClient) Zones(context.Context) ([]dnsname.Name, error) {
	s, unlock := c.m.state.Lock()
	defer unlock()
	if err := s.call(c.authorised); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(s.zones), dnsname.Name.Compare), nil
}

// call is what every call begins with.
func (m *memory) call(authorised bool) error {
	m.calls++
	switch {
	case m.down:
		return &backend.Error{Class: backend.ErrUnavailable, Words: "connection refused"}
	case !authorised:
		return &backend.Error{Class: backend.ErrNotAuthorised, Words: "BADKEY"}
	case m.profile.Throttle > 0 && m.calls%m.profile.Throttle == 0:
		return &backend.Error{Class: backend.ErrThrottled, Words: "too many requests", After: 2 * time.Millisecond}
	}
	return nil
}

// Read answers as far as the profile lets it.
func (c *memoryClient) Read(_ context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	s, unlock := c.m.state.Lock()
	defer unlock()
	if err := s.call(c.authorised); err != nil {
		return backend.Observed{}, err
	}
	read := c.m.profile.Limits.Read
	if read == backend.ReadNone || read == backend.ReadSet && ask.Keys == nil {
		return backend.Observed{}, fmt.Errorf("reading what the server does not show: %w", backend.ErrRejected)
	}
	z := s.zones[zone]
	if z == nil {
		return backend.Observed{}, &backend.Error{Class: backend.ErrNoZone, Words: "NOTAUTH"}
	}
	if ask.Keys == nil {
		if ask.Known != nil && ask.Known.SOA.Serial == z.soa.Serial {
			return backend.Observed{SOA: z.soa, Sets: ask.Known.Sets, Unchanged: true}, nil
		}
		return backend.Observed{SOA: z.soa, Sets: z.sets}, nil
	}
	return backend.Observed{SOA: z.soa, Sets: z.sets.Only(ask.Keys)}, nil
}

// Apply makes the changes, in the way of the profile.
func (c *memoryClient) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	m := c.m
	s, unlock := m.state.Lock()
	defer unlock()
	if err := s.call(c.authorised); err != nil {
		return backend.Result{}, err
	}
	if err := backend.MaySend(ctx); err != nil {
		return backend.Result{}, err
	}
	result, err := s.apply(zone, b)
	if polls := 0; err == nil && m.profile.Async > 0 {
		result.Pending = func(context.Context) (bool, error) {
			s, unlock := m.state.Lock()
			defer unlock()
			if err := s.call(c.authorised); err != nil {
				return false, err
			}
			polls++
			return polls >= m.profile.Async, nil
		}
	}
	return result, err
}
