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
	d.mu.Lock()
	z := d.zones[id]
	if z == nil || !z.frozen.rollsBack() || d.history == nil {
		d.mu.Unlock()
		return nil
	}
	asked, now := z.frozen.Freeze, z.frozen.content
	d.mu.Unlock()
	then, refusal, err := d.history(ctx, now, asked.Serial)
	if err != nil {
		return fmt.Errorf("finding the content of %s with serial %d: %w", id, asked.Serial, err)
	}
	d.mu.Lock()
	f := z.frozen
	if f == nil || f.Serial != asked.Serial || f.content.Hash != now.Hash || f.content.Name != now.Name {
		d.mu.Unlock()
		return &controller.Later{}
	}
	keys := f.keys()
	f.at, f.refusal = asked.Serial, refusal
	if refusal == nil {
		then.ID = id
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
	d.queue.Enqueue(id)
	d.mu.Unlock()
	d.republished(id)
	d.tellWaiting(id, keys)
	d.changed(id)
	return nil
}

// rollsBack reports whether an earlier content is asked for that was not looked for yet.
func (f *frozen) rollsBack() bool {
	return f != nil && f.Serial != 0 && f.Serial != f.at && f.recalled && f.holds()
}
