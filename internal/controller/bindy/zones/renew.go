package zones

import (
	"context"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// suspect has the content of a zone at its secondaries be suspect.
func (z *Zones) suspect(id zone.ID) {
	st, unlock := z.state.Lock()
	defer unlock()
	for _, f := range st.follows[id] {
		if !f.pod.primary {
			st.suspect(f, z.Clock.Now())
		}
	}
}

// suspect has the content of a secondary be suspect since now; zero: it is not.
func (*state) suspect(f *follow, now time.Time) { f.suspectSince, f.renewed = now, 0 }

// A suspect zone is transferred when all primaries have it right, or after a while without those that cannot. That is
// repeated until the content is what it should be: BIND forgets the request while a transfer is under way. What servers
// refuse is on none of them, so that there is an end to it.
const (
	suspectAgain = 100 * time.Millisecond
	suspectFor   = 10 * time.Second
	renewPause   = time.Second
	mostRenewed  = 5
	wholeZone    = 30 * time.Second // for reading all of a zone
)

// renew has a secondary that is as far as it should be transfer the whole zone if what it has is suspect and not what
// is wanted.
func (v *visit) renew(ctx context.Context) error {
	_, unlock := v.z.state.Lock()
	since, renewed, whole := v.f.suspectSince, v.f.renewed, v.f.whole
	unlock()
	if since.IsZero() {
		return nil
	}
	want, confirmed := v.z.serversOf(v.f.zone).Content(v.f.zone)
	switch {
	case confirmed, renewed > 0 && !whole: // who waits to be ready need not wait for primaries that are away
		holds, err := v.f.pod.follower.Holds(ctx, v.name, want)
		if err != nil {
			return v.retry(fmt.Errorf("reading what it has of the zone: %w", err))
		}
		switch {
		case confirmed && (holds || renewed >= mostRenewed):
			v.trust(since)
			return nil
		case holds:
			return nil
		}
	case renewed > 0: // without those that are not right yet; once more when they are
		return &controller.Later{After: renewPause}
	case v.z.Clock.Now().Before(since.Add(suspectFor)):
		return &controller.Later{After: suspectAgain}
	}
	if err := v.f.pod.follower.Renew(ctx, v.name); err != nil {
		return v.retry(fmt.Errorf("transferring the zone anew: %w", err))
	}
	_, unlock = v.z.state.Lock()
	defer unlock()
	v.f.renewed++
	pause := backend.Doubled{First: renewPause, Most: lastAgain} // a transfer may take long
	return &controller.Later{After: pause.After(renewed + 1)}
}

// trust ends a suspicion, unless there is a newer one.
func (v *visit) trust(since time.Time) {
	st, unlock := v.z.state.Lock()
	if v.f.suspectSince.Equal(since) {
		st.suspect(v.f, time.Time{})
	}
	others := st.others(v.f)
	unlock()
	if others { // the ledger need not have them any more
		v.z.wakeInstances(v.f.pod.instance)
	}
}
