package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errOverthrown ends a replica that somebody else has followed as the leader.
var errOverthrown = errors.New("another operator has become the leader")

// errUndone ends a replica whose API server has come back with a backup. What the replica knows, of versions, ceilings
// and what servers have, is of a time that was undone; where revisions have fallen its watches are told nothing for a
// long time.
var errUndone = errors.New("the API server has come back with a backup")

// A term is the Lease as a lock that knows how long this replica may act. One that was paused (its process, or its
// machine) goes on in the belief that it leads, while another one does already.
type term struct {
	resourcelock.Interface
	length time.Duration // others may follow when the Lease has not been renewed for so long
	end    func(error)   // called when somebody else has the Lease that this replica had, or the Lease is an older one

	mu      sync.Mutex
	renewed time.Time // when the renewal was sent that succeeded last; zero: this replica has not led
	over    bool
	other   bool      // somebody else had the Lease when it was read last
	late    time.Time // see Late

	holder string    // who had the Lease when it was last read or written
	since  time.Time // when it was renewed, by the holder's clock
	turns  int       // how often it had changed hands
}

// Leads reports whether nobody else can have become the leader by now.
func (t *term) Leads() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	// A machine that sleeps may stop one of the two clocks and not the other.
	passed := max(now.Sub(t.renewed), now.Round(0).Sub(t.renewed.Round(0)))
	return !t.over && !t.renewed.IsZero() && passed < t.length
}

// Late returns until when a message of who led before may arrive; zero: whoever that was has given up the Lease. Nobody
// sends anything after the end of the Lease, and what is on its way then has as long again.
func (t *term) Late() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.late
}

// Create implements resourcelock.Interface.
func (t *term) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return t.renew(r, func() error { return t.Interface.Create(ctx, r) })
}

// Update implements resourcelock.Interface. A Lease that is somebody else's by now is not given up by who had it
// before: client-go would after a pause.
func (t *term) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	t.mu.Lock()
	over := t.over
	t.mu.Unlock()
	if over {
		return fmt.Errorf("renewing the lease: %w", errOverthrown)
	}
	return t.renew(r, func() error { return t.Interface.Update(ctx, r) })
}

func (t *term) renew(r resourcelock.LeaderElectionRecord, write func() error) error {
	sent := time.Now()
	err := write()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.holder, t.since, t.turns = r.HolderIdentity, r.RenewTime.Time, r.LeaderTransitions
		if t.renewed.IsZero() && t.other {
			t.late = sent.Add(t.length)
		}
		if t.renewed = sent; r.HolderIdentity != t.Identity() {
			t.renewed = time.Time{} // it was given up
		}
	}
	return err
}

// Get implements resourcelock.Interface.
func (t *term) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := t.Interface.Get(ctx)
	if err != nil {
		return r, raw, err
	}
	t.mu.Lock()
	// No clock goes back by as much as a Lease lasts but one that somebody sets: then a replica ends in vain.
	older := r.HolderIdentity == t.holder && r.RenewTime.Add(t.length).Before(t.since) || r.LeaderTransitions < t.turns
	undone := older && !t.over
	t.holder, t.since, t.turns = r.HolderIdentity, r.RenewTime.Time, r.LeaderTransitions
	lost := !t.over && !t.renewed.IsZero() && r.HolderIdentity != "" && r.HolderIdentity != t.Identity()
	t.over = t.over || lost || undone
	t.other = r.HolderIdentity != "" && r.HolderIdentity != t.Identity()
	t.mu.Unlock()
	switch {
	case lost:
		t.end(errOverthrown)
	case undone:
		t.end(errUndone)
	}
	return r, raw, err
}
