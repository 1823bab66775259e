package main

import (
	"context"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/sources"
)

// An API server that starts forbids everything before it has read the roles, and an object that vanished may be served
// again at once: only what stays refused for this time is told of.
const refusedFor = 5 * time.Second

// A reader asks again within a minute (the reflector's backoff of 30 s, doubled by chance): a refusal after a longer
// time is a new one.
const refusedAnew = 2 * time.Minute

// unread tells of objects that sources need and that cannot be read, by an event about the operator's Lease.
type unread struct {
	events events.EventRecorder // known before anything is read
	lease  *coordinationv1.Lease
	on     []string
	now    func() time.Time

	mu      sync.Mutex         // the readers of the caches run beside each other
	refused map[string]refusal // by the Go type that is read
}

// refusal is the time in which objects of a kind were refused without a pause.
type refusal struct{ since, last time.Time }

// lasts says whether objects have been refused for long enough to be told of.
func (r refusal) lasts() bool { return r.last.Sub(r.since) >= refusedFor }

func newUnread(o options, now func() time.Time) *unread {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = o.namespace, zonefold.LeaderLease
	return &unread{lease: lease, on: o.sources.names, now: now, refused: map[string]refusal{}}
}

// handle hears of all that goes wrong when objects are read for the caches.
func (u *unread) handle(ctx context.Context, r *toolscache.Reflector, err error) {
	toolscache.DefaultWatchErrorHandler(ctx, r, err)
	u.tell(r.TypeDescription(), err)
}

// tell tells of objects that are refused; nil: they are not any more. Events of one object, reason and action are one
// series with the text of the first, so the kind is in the action.
func (u *unread) tell(goType string, err error) {
	if err == nil {
		u.mu.Lock()
		delete(u.refused, goType)
		u.mu.Unlock()
		return
	}
	message, is := sources.CannotRead(goType, u.on, err)
	if !is || !u.stays(goType) {
		return
	}
	_, kind, _ := strings.Cut(goType, ".")
	u.events.Eventf(u.lease, nil, "Warning", string(sources.Unreadable), "Read"+kind, "%s", controller.Note(message))
}

// stays says whether objects that are refused now have been refused for long enough.
func (u *unread) stays(goType string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now, is := u.now(), u.refused[goType]
	if now.Sub(is.last) > refusedAnew {
		is.since = now
	}
	is.last = now
	u.refused[goType] = is
	return is.lasts()
}

// kinds counts the kinds that have been told of, and were refused again since.
func (u *unread) kinds() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	var n float64
	for _, is := range u.refused {
		if is.lasts() && u.now().Sub(is.last) <= refusedAnew {
			n++
		}
	}
	return n
}
