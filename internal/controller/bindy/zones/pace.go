package zones

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// How soon a server is asked again: it is about to have what it is asked for.
const firstAgain, lastAgain = 50 * time.Millisecond, 10 * time.Second

// A secondary is told by its primaries. Only one that makes no progress for patience is had ask them, and one that
// makes none for stuck has something wrong with it.
const patience, stuck = 2 * time.Second, 30 * time.Second

// forgiven is how many failures in a row, which take three seconds, are no news: a zone is not there before it is
// transferred.
const forgiven = 5

// A newestContent is one that a primary has.
type newestContent struct {
	serial uint32 // 0: none has any
	seq    uint64
}

// newest is the newest content of a zone that a primary has, and the sequence number of what is wanted.
func (z *Zones) newest(id zone.ID) (newestContent, uint64) {
	serial, seq, wanted := z.deliveriesOf(id).Newest(id)
	return newestContent{serial, seq}, wanted
}

// untilPrimary says how long a secondary is to wait for the first primary to have the zone; mostly an event tells
// before that. Until then it is not told of the zone: it is not ready as long as it has one that nobody can transfer to
// it.
func (z *Zones) untilPrimary(f *follow, newest newestContent) time.Duration {
	refused := newest.serial == 0 && z.deliveriesOf(f.zone).Refused(f.zone)
	_, unlock := z.state.Lock()
	news := refused && !f.refused
	f.refused = refused
	there := f.there
	unlock()
	if news { // the instance need not wait for it any more
		z.wakeInstances(f.pod.instance)
	}
	if there || newest.serial != 0 {
		return 0
	}
	return lastAgain
}

// wantSerial says whether a secondary has a content as far as is known, and else when it is to be asked.
func (z *Zones) wantSerial(f *follow, c newestContent, wanted uint64) (has bool, wait time.Duration) {
	_, unlock := z.state.Lock()
	defer unlock()
	f.need = cmp.Or(f.need, wanted)
	if c.serial == 0 || f.serial != 0 && !rr.SerialLess(f.serial, c.serial) && (f.whole || c.seq < f.need) {
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
func (z *Zones) catchUp(ctx context.Context, f *follow, name dnsname.Name, c newestContent) error {
	has, err := f.pod.follower.Serial(ctx, name)
	z.answered(f, err)
	ahead := false
	if err == nil && !rr.SerialLess(has, c.serial) {
		if ahead, err = z.ahead(ctx, f, name, has); err != nil {
			return err
		}
		if !ahead {
			return z.arrived(ctx, f, name, has, c)
		}
	}
	_, unlock := z.state.Lock()
	now := z.Clock.Now()
	if err == nil && has != f.seen {
		f.seen, f.behind, f.tries = has, now, 0
	}
	late := now.Sub(f.behind)
	unlock()
	if late < patience || err != nil && backend.Class(err) != backend.ErrUnavailable {
		return z.retry(f, err)
	}
	current := false
	if ahead {
		err = f.pod.follower.Renew(ctx, name)
	} else {
		current, err = f.pod.follower.CatchUp(ctx, name, c.serial)
	}
	if err == nil && !current && late > stuck {
		err = fmt.Errorf("%s does not get serial %d of it from the primaries, as its log may explain", f.pod.key, c.serial)
	}
	return z.retry(f, err)
}

// answered notes when a secondary was heard of.
func (z *Zones) answered(f *follow, err error) {
	if backend.Class(err) == backend.ErrUnavailable {
		return
	}
	_, unlock := z.state.Lock()
	defer unlock()
	f.heard = z.Clock.Now()
}

// arrived takes over that a secondary has a content, or a newer one. Who is not ready yet is not before its doubts have
// ended.
func (z *Zones) arrived(ctx context.Context, f *follow, name dnsname.Name, serial uint32, c newestContent) error {
	_, unlock := z.state.Lock()
	whole := f.whole
	unlock()
	if !whole {
		if err := z.renew(ctx, f, name); err != nil {
			return err
		}
	}
	z.caughtUp(f, serial, c)
	return z.renew(ctx, f, name)
}

// ahead reports whether a secondary has a later serial than all primaries that answer. It did not get that from them:
// what it has is an earlier zone of the name, made by the same object or one that was called like it. They are asked
// only of a serial that is later than the one that is known of them: BIND counts serials by itself when it signs.
func (z *Zones) ahead(ctx context.Context, f *follow, name dnsname.Name, serial uint32) (ahead bool, err error) {
	if newest, _ := z.newest(f.zone); !rr.SerialLess(newest.serial, serial) {
		return false, nil
	}
	for _, p := range z.primariesOf(f.zone) {
		now := z.Clock.Now()
		if wait := p.enter(now); wait == callAgain {
			return false, &controller.Later{After: wait}
		} else if wait > 0 {
			continue
		}
		has, err := p.follower.Serial(ctx, name)
		p.leave(now, z.Clock.Now(), err)
		if err == nil && !rr.SerialLess(has, serial) {
			return false, nil
		}
		ahead = ahead || err == nil
	}
	return ahead, nil
}

// primariesOf are the pods that are primaries of a zone.
func (z *Zones) primariesOf(id zone.ID) (out []*Pod) {
	st, unlock := z.state.Lock()
	defer unlock()
	for _, key := range st.held(id, st.fleets[id].primaries) {
		if h := st.hosts[key]; h != nil {
			out = append(out, h.pods...)
		}
	}
	return out
}

// caughtUp notes that a secondary has a content, or a newer one.
func (z *Zones) caughtUp(f *follow, serial uint32, c newestContent) {
	_, unlock := z.state.Lock()
	f.serial, f.seen, f.trouble, f.tries, f.behind = serial, serial, "", 0, time.Time{}
	complete := !f.whole && c.seq >= f.need
	f.whole = f.whole || complete
	unlock()
	z.news(f.zone)
	if complete {
		z.wakeInstances(f.pod.instance)
	}
}

// recovered ends the trouble of a secondary that has what it is to have, and has been told all.
func (z *Zones) recovered(f *follow) {
	_, unlock := z.state.Lock()
	news := f.trouble != ""
	f.trouble, f.tries = "", 0
	unlock()
	if news {
		z.news(f.zone)
	}
}

// retry notes what went wrong, if anything did, and asks for another look.
func (z *Zones) retry(f *follow, err error) error {
	_, unlock := z.state.Lock()
	f.tries++
	after := backend.Doubled{First: firstAgain, Most: lastAgain}.After(f.tries + 1)
	f.next = z.Clock.Now().Add(after)
	f.there = f.there && (err == nil || backend.Class(err) != backend.ErrNoZone) // somebody has removed it
	before := f.trouble
	if err != nil && f.tries > forgiven {
		f.trouble = dialect.Sentence("%v.", err)
	}
	news := before != f.trouble
	unlock()
	if news {
		z.news(f.zone)
	}
	return &controller.Later{After: after, Err: err}
}

// Bounds of the calls about zones to one pod. A pod whose node is lost keeps whoever calls it waiting, and would have
// all workers wait if each of its zones called it.
const (
	callsAtOnce = 3
	slowFailure = time.Second
	callAgain   = 100 * time.Millisecond
)

// A gate lets few calls to a pod through, and for a while none after one has failed slowly.
type gate struct {
	calls int
	fails int
	until time.Time
}

// enter says how long to wait; 0: leave has to follow.
func (p *Pod) enter(now time.Time) time.Duration {
	s, unlock := p.state.Lock()
	defer unlock()
	switch {
	case now.Before(s.gate.until):
		return s.gate.until.Sub(now)
	case s.gate.calls >= callsAtOnce, s.gate.calls > 0 && s.gate.fails > 0:
		return callAgain
	}
	s.gate.calls++
	return 0
}

func (p *Pod) leave(began, now time.Time, err error) {
	s, unlock := p.state.Lock()
	defer unlock()
	s.gate.calls--
	var later *controller.Later
	if errors.As(err, &later) {
		err = later.Err
	}
	if err == nil || now.Sub(began) < slowFailure {
		s.gate.fails = 0
		return
	}
	s.gate.fails++
	s.gate.until = now.Add(backend.Doubled{First: time.Second, Most: 3 * lastAgain}.After(s.gate.fails))
}
