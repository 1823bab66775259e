package backend_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// life is one run of the operator. When it ends nothing it does has any effect, but for messages that are on their way.
type life struct {
	lock sync.Mutex
	dead bool
	seed uint64
	*clock
}

// luck is the chance of one part of a life: it has its own, so that the order in which parts run at one moment changes
// no other part's.
type luck struct {
	*life
	own  sync.Mutex
	rand *rand.Rand
}

// The parts of a life; each server has one of its own from firstServer on, and one for what becomes of its reports.
const (
	ofPublishing = iota
	ofCeilings
	ofLedgers
	firstServer
)

func (l *life) part(i int) *luck {
	return &luck{life: l, rand: rand.New(rand.NewPCG(l.seed, uint64(i)))}
}

func (l *luck) chance(p float64) bool {
	l.own.Lock()
	defer l.own.Unlock()
	return l.rand.Float64() < p
}

func (l *life) over() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.dead
}

// random returns a time up to most.
func (l *luck) random(most time.Duration) time.Duration {
	l.own.Lock()
	defer l.own.Unlock()
	return time.Duration(l.rand.Int64N(int64(most)))
}

// pause makes a server or the store take a random time.
func (l *luck) pause(most time.Duration) { l.wait(l.random(most)) }

// slowBackend takes time for each call, loses answers, and is silent once its life is over; a message that is on its
// way then may still arrive.
type slowBackend struct {
	backend.Backend
	*luck
}

func (b slowBackend) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	b.pause(5 * time.Millisecond)
	if b.over() || b.chance(0.02) {
		return backend.Observed{}, backend.ErrUnavailable
	}
	return b.Backend.Read(ctx, zone, ask)
}

func (b slowBackend) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if b.over() || b.chance(0.02) {
		return backend.Result{}, backend.ErrUnavailable
	}
	b.pause(5 * time.Millisecond)
	if b.chance(0.02) {
		b.pause(50 * time.Millisecond)
	}
	result, err := b.Backend.Apply(ctx, zone, batch)
	if b.over() || b.chance(0.02) {
		return backend.Result{}, backend.ErrUnavailable
	}
	return result, err
}

// sameProcess is a server that lives in the operator's own process: its calls take no time, and none has an effect once
// the life is over.
type sameProcess struct {
	backend.Backend
	*life
	applied func()
}

func (b sameProcess) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.dead {
		return backend.Result{}, backend.ErrUnavailable
	}
	result, err := b.Backend.Apply(ctx, zone, batch)
	b.applied()
	return result, err
}

// slowStore takes time, fails now and then, and is closed once its life is over.
type slowStore struct {
	*backendtest.Store
	*luck
}

func (s slowStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	s.pause(5 * time.Millisecond)
	if s.over() || s.chance(0.05) {
		return backend.ErrUnavailable
	}
	err := s.Store.Raise(ctx, feed, ceiling)
	if s.chance(0.05) {
		return backend.ErrUnavailable
	}
	return err
}

func (s slowStore) Record(ctx context.Context, feed string, sets []rr.Set) error {
	s.pause(5 * time.Millisecond)
	if s.over() || s.chance(0.05) {
		return backend.ErrUnavailable
	}
	return s.Store.Record(ctx, feed, sets)
}
