package delivery

import (
	"context"
	"fmt"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An Earlier finds the content of a Zone that a serial stood for, from the content that is published. A refusal is a
// sentence that says why nobody can tell; an error means to try again.
type Earlier func(ctx context.Context, now zone.Snapshot, serial uint32) (then zone.Snapshot, refusal, err error)

// rollBack has a frozen Zone hold the content that its object asks for, once what is published is known.
func (d *Deliveries) rollBack(ctx context.Context, id zone.ID) error {
	asked, now := d.asksBack(id)
	if asked == 0 {
		return nil
	}
	then, refusal, err := d.history(ctx, now, asked)
	if err != nil {
		return fmt.Errorf("finding the content of %s with serial %d: %w", id, asked, err)
	}
	then.ID = id
	keys, ok := d.goBack(asked, now, then, refusal)
	if !ok {
		return &controller.Later{}
	}
	d.republished(id)
	d.tellWaiting(id, keys)
	d.changed(id)
	return nil
}

// asksBack returns the serial whose content is asked for of a Zone, 0 if none is, and what is published of it now.
func (d *Deliveries) asksBack(id zone.ID) (serial uint32, now zone.Snapshot) {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil || !z.frozen.rollsBack() || d.history == nil {
		return 0, zone.Snapshot{}
	}
	return z.frozen.Serial, z.frozen.content
}

// goBack has a Zone that was asked for and published as said hold an earlier content, or notes why it does not. It
// returns the sets that wait, or do not any more.
func (d *Deliveries) goBack(asked uint32, now, then zone.Snapshot, refusal error) (keys []rr.Key, ok bool) {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[then.ID]
	if z == nil {
		return nil, false
	}
	f := z.frozen
	if f == nil || f.Serial != asked || f.content.Hash != now.Hash || f.content.Name != now.Name {
		return nil, false
	}
	keys = f.keys()
	f.at, f.refusal = asked, refusal
	if refusal == nil {
		f.content = then
		f.compare()
		z.snapshot = f.outgoing()
		if l := z.current(); l != nil {
			l.live = false // it is published when the Zone is looked at
			l.thawed = map[rr.Key]struct{}{}
			for _, key := range keys {
				l.thawed[key] = struct{}{}
			}
		}
		keys = append(keys, f.keys()...)
	}
	d.queue.Enqueue(then.ID)
	return keys, true
}

// rollsBack reports whether an earlier content is asked for that was not looked for yet.
func (f *frozen) rollsBack() bool {
	return f != nil && f.Serial != 0 && f.Serial != f.at && f.recalled && f.holds()
}
