package bindy

import (
	"context"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// doubt has the secondaries of a zone transfer all of it when it has been put right. A server counts serials too when
// somebody else writes there: secondaries may have got from it under a serial what the other primaries have something
// else under, and the differences to that (RFC 1995) would never put it right.
func (z *Zones) doubt(s controller.Strange) {
	z.mistrust(s.Zone)
	z.visitServers(s.Zone)
}

// mistrust puts in doubt what the secondaries of a zone have.
func (z *Zones) mistrust(id zone.ID) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, f := range z.follows[id] {
		if !f.pod.primary {
			f.mistrust(z.Clock.Now())
		}
	}
}

// mistrust puts in doubt what a secondary has. Zones.mu is held.
func (f *follow) mistrust(now time.Time) { f.doubt, f.renewed = now, 0 }

// A zone in doubt is transferred when all primaries have it right, or after a while without those that cannot, and
// again until it is what it should be: BIND forgets that it was told to when a transfer was under way. What servers
// refuse is on none of them, so that there is an end to it.
const (
	doubtAgain  = 100 * time.Millisecond
	doubtFor    = 10 * time.Second
	renewPause  = time.Second
	mostRenewed = 5
	wholeZone   = 30 * time.Second // for reading all of a zone
)

// renew has a secondary that is as far as it should be transfer the whole zone if what it has is in doubt and not what
// is wanted.
func (z *Zones) renew(ctx context.Context, f *follow, name dnsname.Name) error {
	z.mu.Lock()
	doubt, renewed, whole := f.doubt, f.renewed, f.whole
	z.mu.Unlock()
	if doubt.IsZero() {
		return nil
	}
	out := z.deliveriesOf(f.zone).ZoneOutcome(f.zone)
	switch {
	case out.Confirmed, renewed > 0 && !whole: // who waits to be ready need not wait for primaries that are away
		holds, err := f.pod.follower.Holds(ctx, name, out.Snapshot.Sets)
		if err != nil {
			return z.retry(f, fmt.Errorf("reading what it has of the zone: %w", err))
		}
		switch {
		case out.Confirmed && (holds || renewed >= mostRenewed):
			z.trust(f, doubt)
			return nil
		case holds:
			return nil
		}
	case renewed > 0: // without those that are not right yet; once more when they are
		return &controller.Later{After: renewPause}
	case z.Clock.Now().Before(doubt.Add(doubtFor)):
		return &controller.Later{After: doubtAgain}
	}
	if err := f.pod.follower.Renew(ctx, name); err != nil {
		return z.retry(f, fmt.Errorf("transferring the zone anew: %w", err))
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	f.renewed++
	return &controller.Later{After: min(renewPause<<min(renewed, mostRenewed), lastAgain)} // a transfer may take long
}

// trust ends a doubt, unless there is a newer one.
func (z *Zones) trust(f *follow, doubt time.Time) {
	z.mu.Lock()
	if f.doubt.Equal(doubt) {
		f.mistrust(time.Time{})
	}
	others := z.others(f)
	z.mu.Unlock()
	if others { // the ledger need not have them any more
		z.wakeInstances(f.pod.instance)
	}
}
