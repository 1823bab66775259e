package zones

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
)

// A secondary is told by its primaries. Only one that makes no progress for patience is had ask them, and one that
// makes none for stuck has something wrong with it.
const patience, stuck = 2 * time.Second, 30 * time.Second

// follow has a secondary follow the primaries, and waits until it has what they have.
func (v *visit) follow(ctx context.Context) error {
	newest := v.z.serversOf(v.f.zone).Newest(v.f.zone)
	if v.awaitsPrimary(newest) {
		return &controller.Later{After: lastAgain}
	}
	key := ""
	if v.signed {
		_, transfer, _ := v.f.pod.Keys()
		key = transfer.Name
	}
	if now := fmt.Sprint(v.name, addressesOf(v.sources), key); !v.knows(now) {
		if begun, err := v.startFollowing(ctx, key, now); !begun || err != nil {
			return err
		}
	}
	has, wait := v.hasSerial(newest)
	switch {
	case has:
		if err := v.renew(ctx); err != nil {
			return err
		}
		v.recovered()
		return nil
	case wait > 0:
		return &controller.Later{After: wait}
	}
	return v.catchUp(ctx, newest)
}

// startFollowing has a secondary follow the primaries, with a key if they know one, and reports whether it does.
func (v *visit) startFollowing(ctx context.Context, key, what string) (begun bool, err error) {
	text := dialect.CanonicalZone(v.name.String())
	defer v.z.telling(v.f.pod.UID, text)() // what it is to lose from now on waits for that
	switch {
	case !v.z.wants(v.f.pod.instance, text):
		return false, nil
	case !v.listed(text):
		v.z.wakeInstances(v.f.pod.instance)
		return false, nil // Stored asks again
	}
	// What it has from when it was a primary goes first. Where the zone has another signer now, the engine takes it away.
	primaries := addressesOf(v.sources)
	if _, err := v.f.pod.follower.Follow(ctx, v.name, primaries, key, !v.f.pod.primary); err != nil {
		return false, v.retry(err)
	}
	switch {
	case v.told(what):
		return true, nil
	case v.z.wants(v.f.pod.instance, text):
		return false, nil
	}
	return false, v.f.pod.follower.Remove(ctx, v.name)
}

// listed reports whether the ledger of the pod's instance has the zone, under a name.
func (v *visit) listed(name string) bool {
	st, unlock := v.z.state.Lock()
	defer unlock()
	return st.listed(v.f.pod.instance, v.f.zone, name)
}

// A telling is a secondary that is being told of a zone.
type telling struct {
	pod  types.UID
	name string
}

// telling notes that a secondary is being told of a zone, until the function that it returns is called.
func (z *Zones) telling(pod types.UID, name string) (done func()) {
	st, unlock := z.state.Lock()
	defer unlock()
	st.telling[telling{pod, name}]++
	return func() {
		st, unlock := z.state.Lock()
		defer unlock()
		if st.telling[telling{pod, name}]--; st.telling[telling{pod, name}] == 0 {
			delete(st.telling, telling{pod, name})
		}
	}
}

// isTold reports whether a secondary is being told of a zone now.
func (z *Zones) isTold(pod types.UID, name string) bool {
	st, unlock := z.state.Lock()
	defer unlock()
	return st.telling[telling{pod, name}] > 0
}

// awaitsPrimary reports whether a secondary is to wait for the first primary to have the zone; mostly an event tells of
// that. Until then it is not told of the zone: it is not ready as long as it has one that nobody can transfer to it.
func (v *visit) awaitsPrimary(newest delivery.Newest) bool {
	if newest.Serial != 0 {
		return false
	}
	if v.z.serversOf(v.f.zone).Refused(v.f.zone) {
		v.z.pending.wake(v.f.zone) // the pod need not have it to be ready
	}
	_, unlock := v.z.state.Lock()
	defer unlock()
	return !v.f.there()
}

// told notes what a secondary was told, unless it was to be told no more meanwhile.
func (v *visit) told(what string) bool {
	st, unlock := v.z.state.Lock()
	defer unlock()
	if st.follows[v.f.zone][v.f.pod.UID] != v.f {
		return false
	}
	v.f.heard = v.z.Clock.Now()
	if v.f.name != v.name { // what it had under another name is no news of this one
		st.forget(v.f)
	}
	if !v.f.there() && st.others(v.f) {
		st.suspect(v.f, v.z.Clock.Now())
	}
	v.f.told, v.f.name = what, v.name
	return true
}

// hasSerial says whether a secondary has a content as far as is known, and else when it is to be asked.
func (v *visit) hasSerial(c delivery.Newest) (has bool, wait time.Duration) {
	_, unlock := v.z.state.Lock()
	defer unlock()
	v.f.need = cmp.Or(v.f.need, c.Wanted)
	if c.Serial == 0 || v.f.serial != 0 && !rr.SerialLess(v.f.serial, c.Serial) && (v.f.whole || c.Seq < v.f.need) {
		v.f.behind = time.Time{}
		return true, 0
	}
	now := v.z.Clock.Now()
	if v.f.behind.IsZero() {
		v.f.behind, v.f.next, v.f.tries = now, now.Add(firstAgain), 0
	}
	return false, v.f.next.Sub(now)
}

// catchUp asks a secondary for its serial, and has it ask its primaries if it should have had another one long ago.
func (v *visit) catchUp(ctx context.Context, c delivery.Newest) error {
	has, err := v.f.pod.follower.Serial(ctx, v.name)
	ask := v.f.pod.follower.Refresh
	if err == nil && !rr.SerialLess(has, c.Serial) {
		ahead, err := v.ahead(ctx, has)
		switch {
		case err != nil:
			return err
		case !ahead:
			return v.arrived(ctx, has, c)
		}
		ask = v.f.pod.follower.Renew
	}
	_, unlock := v.z.state.Lock()
	now := v.z.Clock.Now()
	if backend.Class(err) != backend.ErrUnavailable {
		v.f.heard = now
	}
	if err == nil && has != v.f.seen {
		v.f.seen, v.f.behind, v.f.tries = has, now, 0
	}
	late := now.Sub(v.f.behind)
	unlock()
	if late < patience || err != nil && backend.Class(err) != backend.ErrUnavailable {
		return v.retry(err)
	}
	if err = ask(ctx, v.name); err == nil && late > stuck {
		err = fmt.Errorf("%s does not get serial %d of the zone from the primaries; its log may say why", v.f.pod.key,
			c.Serial)
	}
	return v.retry(err)
}

// ahead reports whether a secondary has a later serial than all primaries that answer. It did not get that from them:
// what it has is an earlier zone of the name, made by the same object or one that was called like it. They are asked
// only of a serial that is later than the one that is known of them: BIND counts serials by itself when it signs.
func (v *visit) ahead(ctx context.Context, serial uint32) (ahead bool, err error) {
	if !rr.SerialLess(v.z.serversOf(v.f.zone).Newest(v.f.zone).Serial, serial) {
		return false, nil
	}
	for _, p := range v.sources {
		var has uint32
		err := p.call(v.z.Clock.Now, func() (err error) {
			has, err = p.follower.Serial(ctx, v.name)
			return err
		})
		var later *controller.Later
		if errors.As(err, &later) && later.After == callAgain {
			return false, later
		}
		if err == nil && !rr.SerialLess(has, serial) {
			return false, nil
		}
		ahead = ahead || err == nil
	}
	return ahead, nil
}

// arrived takes over that a secondary has a content, or a newer one. Who is not ready yet is not before its doubts have
// ended.
func (v *visit) arrived(ctx context.Context, serial uint32, c delivery.Newest) error {
	_, unlock := v.z.state.Lock()
	whole := v.f.whole
	unlock()
	if !whole {
		if err := v.renew(ctx); err != nil {
			return err
		}
	}
	_, unlock = v.z.state.Lock()
	v.f.serial, v.f.seen, v.f.trouble, v.f.tries = serial, serial, "", 0
	v.f.behind, v.f.heard = time.Time{}, v.z.Clock.Now()
	complete := !v.f.whole && c.Seq >= v.f.need
	v.f.whole = v.f.whole || complete
	unlock()
	v.z.news(v.f.zone)
	if complete {
		v.z.wakeInstances(v.f.pod.instance)
	}
	return v.renew(ctx)
}
