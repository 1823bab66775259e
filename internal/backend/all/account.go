package all

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
)

// How long an account answers from memory: about zones, and with an error or to those who want to know anew.
const (
	remembered = 30 * time.Minute
	rest       = 5 * time.Second
)

// An Account is one at a service, and remembers the zones that it has heard of.
type Account struct {
	service backend.Account
	now     func() time.Time
	place   func(backend.TargetKey) backend.TargetKey // nil: Targets are canonical as they are
	turn    chan struct{}                             // holds one: whoever asks the service for zones

	state guarded.Value[accountState]
}

// accountState is what an Account remembers.
type accountState struct {
	listed memory[[]backend.HostedZone]
	byID   map[string]*memory[backend.HostedZone]
	stale  time.Time // what was heard before then is not good enough
	zones  map[backend.HostedZone]backend.Backend
}

// A memory is an answer of the service, and when it came.
type memory[T any] struct {
	value T
	err   error
	heard time.Time // zero: never
}

var _ backend.Account = (*Account)(nil)
var _ backend.Refresher = (*Account)(nil)
var _ backend.ZoneFinder = (*Account)(nil)

// Refresh has the next question go to the service, unless it was asked less than some seconds ago.
func (a *Account) Refresh() {
	s, unlock := a.state.Lock()
	defer unlock()
	s.stale = a.now()
}

// HostedZones lists the zones, from memory where that is fresh.
func (a *Account) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	zones, err := recall(ctx, a, func(s *accountState) *memory[[]backend.HostedZone] {
		return &s.listed
	},
		func() ([]backend.HostedZone, error) {
			zones, err := a.service.HostedZones(ctx)
			for i := range zones {
				a.settle(&zones[i])
			}
			return zones, err
		})
	return slices.Clone(zones), err
}

// HostedZone looks up a zone, in memory where that is fresh.
func (a *Account) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	if z, ok := a.listedZone(id); ok {
		return z, nil
	}
	return recall(ctx, a, func(s *accountState) *memory[backend.HostedZone] { return s.memoryOf(id) },
		func() (backend.HostedZone, error) {
			zone, err := a.service.HostedZone(ctx, id)
			a.settle(&zone)
			return zone, err
		})
}

// listedZone returns a zone of a fresh list.
func (a *Account) listedZone(id string) (backend.HostedZone, bool) {
	s, unlock := a.state.Lock()
	defer unlock()
	if fresh(s, a.now(), &s.listed) && s.listed.err == nil {
		for _, z := range s.listed.value {
			if z.ID == id {
				return z, true
			}
		}
	}
	return backend.HostedZone{}, false
}

// memoryOf is what is remembered of an ID.
func (s *accountState) memoryOf(id string) *memory[backend.HostedZone] {
	m := s.byID[id]
	if m == nil {
		if s.byID == nil || len(s.byID) >= manyIDs {
			s.byID = map[string]*memory[backend.HostedZone]{}
		}
		m = &memory[backend.HostedZone]{}
		s.byID[id] = m
	}
	return m
}

// manyIDs bounds what is remembered of IDs that anybody may write into an object.
const manyIDs = 4096

// FindZone returns the zone that a name is in.
func (a *Account) FindZone(ctx context.Context, name dnsname.Name) (backend.HostedZone, error) {
	if finder, ok := a.service.(backend.ZoneFinder); ok {
		zone, err := finder.FindZone(ctx, name)
		a.settle(&zone)
		return zone, err
	}
	return backend.FindZone(ctx, listing{a}, name)
}

// A listing is an Account that is no ZoneFinder.
type listing struct{ backend.Account }

// settle makes the Target of a zone the one that it has for everybody.
func (a *Account) settle(zone *backend.HostedZone) {
	if a.place != nil && zone.ID != "" {
		zone.Target = a.place(zone.Target)
	}
}

// Backend reaches one zone, and keeps the account from being forgotten. It is the same one for the same zone.
func (a *Account) Backend(zone backend.HostedZone) backend.Backend {
	s, unlock := a.state.Lock()
	defer unlock()
	if s.zones == nil {
		s.zones = map[backend.HostedZone]backend.Backend{}
	}
	b := s.zones[zone]
	if b == nil {
		b = &hosted{a.service.Backend(zone), a}
		s.zones[zone] = b
	}
	return b
}

// hosted is a Backend of an account that is in use.
type hosted struct {
	backend.Backend
	account *Account
}

// recall answers from memory, or has one caller ask while the others wait for what it hears.
func recall[T any](ctx context.Context, a *Account, at func(*accountState) *memory[T],
	ask func() (T, error)) (T, error) {
	look := func() (memory[T], bool) {
		s, unlock := a.state.Lock()
		defer unlock()
		m := at(s)
		return *m, fresh(s, a.now(), m)
	}
	if m, ok := look(); ok {
		return m.value, m.err
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		var none T
		return none, &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(
			"waiting for another question about zones: %w", context.Cause(ctx))}
	}
	if m, ok := look(); ok {
		return m.value, m.err
	}
	value, err := ask()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return value, err // says nothing about the service; that it does not answer in time does
	}
	s, unlock := a.state.Lock()
	defer unlock()
	*at(s) = memory[T]{value, err, a.now()}
	return value, err
}

// fresh reports whether a memory may be answered from.
func fresh[T any](s *accountState, now time.Time, m *memory[T]) bool {
	age := now.Sub(m.heard)
	switch {
	case m.heard.IsZero():
		return false
	case age < rest:
		return true
	case m.err != nil:
		return false
	}
	return age < remembered && m.heard.After(s.stale)
}

// A register has each zone of a service at the account that was first to reach it, so that it is one target whatever
// credentials lead there, and goes on being it when they change. Its entries are as few as zones, and are kept.
type register struct {
	mu     sync.Mutex
	count  int
	places map[backend.TargetKey]string // a Target as the service's client has it, to its Server
}

// newcomer returns the function that places the zones of one more account.
func (r *register) newcomer() func(backend.TargetKey) backend.TargetKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	number := r.count
	return func(target backend.TargetKey) backend.TargetKey {
		r.mu.Lock()
		defer r.mu.Unlock()
		server, ok := r.places[target]
		if !ok {
			if r.places == nil {
				r.places = map[backend.TargetKey]string{}
			}
			server = fmt.Sprintf("%s account %d", target.Server, number)
			r.places[target] = server
		}
		target.Server = server
		return target
	}
}
