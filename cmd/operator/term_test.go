package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is a Lease that several replicas hold in turn.
type lease struct {
	identity string
	record   *resourcelock.LeaderElectionRecord
	err      error
}

func (l *lease) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return l.record, nil, l.err
}

func (l *lease) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Update(context.Background(), r)
}

func (l *lease) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if l.err == nil {
		*l.record = r
	}
	return l.err
}

func (l *lease) RecordEvent(string) {}
func (l *lease) Identity() string   { return l.identity }
func (l *lease) Describe() string   { return "a lease" }

func TestATerm(t *testing.T) {
	const length = time.Hour
	var (
		held = func(who string) resourcelock.LeaderElectionRecord {
			return resourcelock.LeaderElectionRecord{HolderIdentity: who}
		}
		renew = func(t *term, _ *lease) { _ = t.Update(context.Background(), held("a")) }
		look  = func(t *term, _ *lease) { _, _, _ = t.Get(context.Background()) }
		other = func(_ *term, l *lease) { *l.record = held("b") }
		free  = func(_ *term, l *lease) { *l.record = held("") }
	)
	for _, tt := range []struct {
		what               string
		happens            []func(*term, *lease)
		leads, overthrown  bool
		late               bool // messages of who led before may arrive
		renewsWithoutError bool
	}{
		{what: "a replica that has not been elected does not lead", happens: []func(*term, *lease){look},
			renewsWithoutError: true},
		{what: "one that follows somebody does not, and has lost nothing", happens: []func(*term, *lease){other, look},
			renewsWithoutError: true},
		{what: "one that has the lease leads", happens: []func(*term, *lease){renew, look}, leads: true,
			renewsWithoutError: true},
		{what: "one that could not renew it leads until it has run out", leads: true,
			happens: []func(*term, *lease){renew, func(t *term, l *lease) {
				l.err = errors.New("no connection")
				renew(t, l)
				look(t, l)
				l.err = nil
			}}, renewsWithoutError: true},
		{what: "one whose lease has run out does not", happens: []func(*term, *lease){renew, func(t *term, _ *lease) {
			t.renewed = t.renewed.Add(-length)
		}}, renewsWithoutError: true},
		{what: "nor one that has given it up", happens: []func(*term, *lease){renew, func(t *term, _ *lease) {
			_ = t.Update(context.Background(), held(""))
		}}, renewsWithoutError: true},
		{what: "one who finds somebody else with it ends, and does not touch it",
			happens: []func(*term, *lease){renew, other, look, look}, overthrown: true},
		{what: "one that follows somebody who has given the lease up leads alone", leads: true,
			happens: []func(*term, *lease){other, look, free, look, renew}, renewsWithoutError: true},
		{what: "one that follows somebody whose lease has run out waits for what that one has sent", leads: true, late: true,
			happens: []func(*term, *lease){other, look, renew, look, renew}, renewsWithoutError: true},
	} {
		l, calls := &lease{identity: "a", record: &resourcelock.LeaderElectionRecord{}}, 0
		term := &term{Interface: l, length: length, overthrown: func() { calls++ }}
		for _, happen := range tt.happens {
			happen(term, l)
		}
		if got := term.Leads(); got != tt.leads {
			t.Errorf("%s: Leads says %t", tt.what, got)
		}
		if got := term.Late().After(term.renewed); got != tt.late {
			t.Errorf("%s: what was sent before may arrive until %s", tt.what, term.Late())
		}
		if got := calls == 1; got != tt.overthrown || calls > 1 {
			t.Errorf("%s: it was told %d times that it is overthrown", tt.what, calls)
		}
		if err := term.Update(context.Background(), held("a")); (err == nil) != tt.renewsWithoutError {
			t.Errorf("%s: renewing gives %v", tt.what, err)
		}
	}
}
