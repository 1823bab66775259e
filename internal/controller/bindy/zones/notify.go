package zones

import (
	"context"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Notifier is a primary server whose sidecar can have the secondaries of a zone told of a change.
type Notifier interface {
	Notify(ctx context.Context, zone dnsname.Name) error
}

// notify has the secondaries of a zone notified of its newest content, once, through the first primary that has it.
// Several changes make one message. Nothing depends on it: BIND notifies them too, and they are asked until they have
// it.
func (z *Zones) notify(ctx context.Context, id zone.ID) error {
	server, serial, ok := z.deliveriesOf(id).Leading(id)
	name, served, _ := z.nameOf(id)
	st, unlock := z.state.Lock()
	var through *Pod
	secondaries := 0
	for _, f := range st.follows[id] {
		switch {
		case !f.writes:
			secondaries++
		case f.pod.server.Name == server:
			through = f.pod
		}
	}
	again := st.notified[id] == serial
	unlock()
	if !ok || !served || again || through == nil || secondaries == 0 {
		return nil
	}
	n, can := through.server.Backend.(Notifier)
	began := z.Clock.Now()
	if !can {
		return nil
	}
	if wait := through.enter(began); wait > 0 {
		return &controller.Later{After: wait}
	}
	st, unlock = z.state.Lock()
	st.notified[id] = serial
	unlock()
	ctx, cancel := context.WithTimeout(ctx, servers.CallTime)
	defer cancel()
	err := n.Notify(ctx, name)
	if err != nil {
		z.Log.Debug("the secondaries of a zone are not told through the sidecar", "zone", id.String(), "error", err)
	}
	through.leave(began, z.Clock.Now(), err)
	return nil
}
