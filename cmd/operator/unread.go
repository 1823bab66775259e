package main

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/sources"
)

// unread tells of objects that sources need and that cannot be read, by an event about the operator's Lease.
type unread struct {
	events events.EventRecorder // known before anything is read
	lease  *coordinationv1.Lease
	on     []string
}

func newUnread(o options) *unread {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = o.namespace, zonefold.LeaderLease
	return &unread{lease: lease, on: o.sources.names}
}

// handle hears of all that goes wrong when objects are read for the caches.
func (u *unread) handle(ctx context.Context, r *toolscache.Reflector, err error) {
	toolscache.DefaultWatchErrorHandler(ctx, r, err)
	if message, is := sources.CannotRead(r.TypeDescription(), u.on, err); is {
		u.events.Eventf(u.lease, nil, "Warning", string(sources.Unreadable), "Read", "%s", controller.Note(message))
	}
}
