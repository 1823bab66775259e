package main

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		renew   = func(t *term, _ *lease) { _ = t.Update(context.Background(), held("a")) }
		look    = func(t *term, _ *lease) { _, _, _ = t.Get(context.Background()) }
		other   = func(_ *term, l *lease) { *l.record = held("b") }
		free    = func(_ *term, l *lease) { *l.record = held("") }
		began   = time.Now()
		renewAt = func(d time.Duration) func(*term, *lease) {
			return func(t *term, _ *lease) {
				_ = t.Update(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: "a",
					RenewTime: metav1.NewTime(began.Add(d))})
			}
		}
		old     = func(_ *term, l *lease) { l.record.RenewTime = metav1.NewTime(began) }
		otherAt = func(d time.Duration) func(*term, *lease) {
			return func(_ *term, l *lease) {
				*l.record = resourcelock.LeaderElectionRecord{HolderIdentity: "b", RenewTime: metav1.NewTime(began.Add(d))}
			}
		}
		turned = func(n int) func(*term, *lease) {
			return func(_ *term, l *lease) {
				*l.record = resourcelock.LeaderElectionRecord{HolderIdentity: "b", LeaderTransitions: n}
			}
		}
	)
	for _, tt := range []struct {
		what               string
		happens            []func(*term, *lease)
		leads, ended       bool
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
			happens: []func(*term, *lease){renew, other, look, look}, ended: true},
		{what: "one that follows somebody who has given the lease up leads alone", leads: true,
			happens: []func(*term, *lease){other, look, free, look, renew}, renewsWithoutError: true},
		{what: "one that follows somebody whose lease has run out waits for what that one has sent", leads: true, late: true,
			happens: []func(*term, *lease){other, look, renew, look, renew}, renewsWithoutError: true},
		{what: "one who finds the lease as it was long ago ends", happens: []func(*term, *lease){renewAt(2 * length), old,
			look, look}, ended: true},
		{what: "so does one who waits for it", happens: []func(*term, *lease){otherAt(3 * length), look, otherAt(length),
			look}, ended: true},
		{what: "and one who finds that it changed hands less often",
			happens: []func(*term, *lease){turned(2), look, turned(1), look}, ended: true},
		{what: "who has the lease may have its clock put right", happens: []func(*term, *lease){otherAt(2 * length), look,
			otherAt(length + time.Second), look}, renewsWithoutError: true},
	} {
		l, calls := &lease{identity: "a", record: &resourcelock.LeaderElectionRecord{}}, 0
		term := &term{Interface: l, length: length, end: func(error) { calls++ }}
		for _, happen := range tt.happens {
			happen(term, l)
		}
		if got := term.Leads(); got != tt.leads {
			t.Errorf("%s: Leads says %t", tt.what, got)
		}
		if got := term.Late().After(term.renewed); got != tt.late {
			t.Errorf("%s: what was sent before may arrive until %s", tt.what, term.Late())
		}
		if got := calls == 1; got != tt.ended || calls > 1 {
			t.Errorf("%s: it was told %d times to end", tt.what, calls)
		}
		if err := term.Update(context.Background(), held("a")); (err == nil) != tt.renewsWithoutError {
			t.Errorf("%s: renewing gives %v", tt.what, err)
		}
	}
}
