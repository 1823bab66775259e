package zones

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A secondary is told by its primaries. Only one that makes no progress for patience is had ask them, and one that
// makes none for stuck has something wrong with it.
const patience, stuck = 2 * time.Second, 30 * time.Second

// noSource says that a secondary has no server to transfer a zone from, as a sentence.
func (st *state) noSource(f *follow) string {
	h, primaries := st.hosts[f.pod.instance], st.fleets[f.zone].primaries
	if f.writes || len(primaries) == 0 || slices.ContainsFunc(primaries, func(key client.ObjectKey) bool {
		p := st.hosts[key]
		return p == nil || p.transfer == h.transfer
	}) {
		return ""
	}
	return dialect.Sentence("No primary of the zone belongs to the cluster of Bind9Instance %s, whose servers transfer "+
		"zones only from each other; choose such a primary, or another secondary.", f.pod.instance)
}

// removeStale removes what a secondary has of a zone that it has no server to transfer from: what it had from a cluster
// that it was in, or as a primary, would be answered for ever, and never change.
func (z *Zones) removeStale(ctx context.Context, f *follow, name dnsname.Name) error {
	if err := f.pod.follower.Remove(ctx, name); err != nil {
		return &controller.Later{After: lastAgain, Err: err} // the zone says already why it is not there
	}
	_, unlock := z.state.Lock()
	f.told = nothing
	unlock()
	z.wakePending(f.zone) // the pod need not have it to be ready
	return nil
}

// follow has a secondary follow the primaries, and waits until it has what they have.
func (z *Zones) follow(ctx context.Context, f *follow, name dnsname.Name, sources []*Pod) error {
	newest := z.serversOf(f.zone).Newest(f.zone)
	if z.awaitsPrimary(f, newest) {
		return &controller.Later{After: lastAgain}
	}
	primaries := addressesOf(sources)
	_, transfer, _ := f.pod.Keys()
	if now := fmt.Sprint(name, primaries, transfer.Name); !z.knows(f, now) {
		if begun, err := z.startFollowing(ctx, f, name, primaries, now); !begun || err != nil {
			return err
		}
	}
	has, wait := z.hasSerial(f, newest)
	switch {
	case has:
		if err := z.renew(ctx, f, name); err != nil {
			return err
		}
		z.recovered(f)
		return nil
	case wait > 0:
		return &controller.Later{After: wait}
	}
	return z.catchUp(ctx, f, name, newest, sources)
}

// startFollowing has a secondary follow primaries, and reports whether it does.
func (z *Zones) startFollowing(ctx context.Context, f *follow, name dnsname.Name, primaries []netip.AddrPort,
	what string) (begun bool, err error) {
	text := dialect.CanonicalZone(name.String())
	defer z.telling(f.pod.UID, text)() // what it is to lose from now on waits for that
	switch {
	case !z.wants(f.pod.instance, text):
		return false, nil
	case !z.mayHave(f.pod.instance, f.zone, text):
		z.wakeInstances(f.pod.instance)
		return false, nil // Stored asks again
	}
	// What it has from when it was a primary goes first. Where the zone has another signer now, the engine takes it away.
	if _, err := f.pod.follower.Follow(ctx, name, primaries, !f.pod.primary); err != nil {
		return false, z.retry(f, err)
	}
	switch {
	case z.told(f, name, what):
		return true, nil
	case z.wants(f.pod.instance, text):
		return false, nil
	}
	return false, f.pod.follower.Remove(ctx, name)
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
func (z *Zones) awaitsPrimary(f *follow, newest delivery.Newest) bool {
	if newest.Serial != 0 {
		return false
	}
	if z.serversOf(f.zone).Refused(f.zone) {
		z.wakePending(f.zone) // the pod need not have it to be ready
	}
	_, unlock := z.state.Lock()
	defer unlock()
	return !f.there()
}

// told notes what a secondary was told, unless it was to be told no more meanwhile.
func (z *Zones) told(f *follow, name dnsname.Name, what string) bool {
	st, unlock := z.state.Lock()
	defer unlock()
	if st.follows[f.zone][f.pod.UID] != f {
		return false
	}
	f.heard = z.Clock.Now()
	if f.name != name { // what it had under another name is no news of this one
		st.forget(f)
	}
	if !f.there() && st.others(f) {
		st.suspect(f, z.Clock.Now())
	}
	f.told, f.name = what, name
	return true
}

// hasSerial says whether a secondary has a content as far as is known, and else when it is to be asked.
func (z *Zones) hasSerial(f *follow, c delivery.Newest) (has bool, wait time.Duration) {
	_, unlock := z.state.Lock()
	defer unlock()
	f.need = cmp.Or(f.need, c.Wanted)
	if c.Serial == 0 || f.serial != 0 && !rr.SerialLess(f.serial, c.Serial) && (f.whole || c.Seq < f.need) {
		f.behind = time.Time{}
		return true, 0
	}
	now := z.Clock.Now()
	if f.behind.IsZero() {
		f.behind, f.next, f.tries = now, now.Add(firstAgain), 0
	}
	return false, f.next.Sub(now)
}

// catchUp asks a secondary for its serial, and has it ask its primaries if it should have had another one long ago.
func (z *Zones) catchUp(ctx context.Context, f *follow, name dnsname.Name, c delivery.Newest, sources []*Pod) error {
	has, err := f.pod.follower.Serial(ctx, name)
	ask := f.pod.follower.Refresh
	if err == nil && !rr.SerialLess(has, c.Serial) {
		ahead, err := z.ahead(ctx, f, name, has, sources)
		switch {
		case err != nil:
			return err
		case !ahead:
			return z.arrived(ctx, f, name, has, c)
		}
		ask = f.pod.follower.Renew
	}
	_, unlock := z.state.Lock()
	now := z.Clock.Now()
	if backend.Class(err) != backend.ErrUnavailable {
		f.heard = now
	}
	if err == nil && has != f.seen {
		f.seen, f.behind, f.tries = has, now, 0
	}
	late := now.Sub(f.behind)
	unlock()
	if late < patience || err != nil && backend.Class(err) != backend.ErrUnavailable {
		return z.retry(f, err)
	}
	if err = ask(ctx, name); err == nil && late > stuck {
		err = fmt.Errorf("%s does not get serial %d of the zone from the primaries; its log may say why", f.pod.key, c.Serial)
	}
	return z.retry(f, err)
}

// ahead reports whether a secondary has a later serial than all primaries that answer. It did not get that from them:
// what it has is an earlier zone of the name, made by the same object or one that was called like it. They are asked
// only of a serial that is later than the one that is known of them: BIND counts serials by itself when it signs.
func (z *Zones) ahead(ctx context.Context, f *follow, name dnsname.Name, serial uint32,
	sources []*Pod) (ahead bool, err error) {
	if !rr.SerialLess(z.serversOf(f.zone).Newest(f.zone).Serial, serial) {
		return false, nil
	}
	for _, p := range sources {
		var has uint32
		err := p.call(z.Clock.Now, func() (err error) {
			has, err = p.follower.Serial(ctx, name)
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
func (z *Zones) arrived(ctx context.Context, f *follow, name dnsname.Name, serial uint32, c delivery.Newest) error {
	_, unlock := z.state.Lock()
	whole := f.whole
	unlock()
	if !whole {
		if err := z.renew(ctx, f, name); err != nil {
			return err
		}
	}
	_, unlock = z.state.Lock()
	f.serial, f.seen, f.trouble, f.tries, f.behind, f.heard = serial, serial, "", 0, time.Time{}, z.Clock.Now()
	complete := !f.whole && c.Seq >= f.need
	f.whole = f.whole || complete
	unlock()
	z.news(f.zone)
	if complete {
		z.wakeInstances(f.pod.instance)
	}
	return z.renew(ctx, f, name)
}
