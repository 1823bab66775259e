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
func (v *visit) rollBack(st *state) effect {
	z := st.zones[v.id]
	if z == nil || !z.frozen.rollsBack() || v.history == nil {
		return nil
	}
	asked, now := z.frozen.Serial, z.frozen.content
	return func(ctx context.Context) (step, error) {
		then, refusal, err := v.history(ctx, now, asked)
		if err != nil {
			return nil, fmt.Errorf("finding the content of %s with serial %d: %w", v.id, asked, err)
		}
		then.ID = v.id
		return func(st *state) effect {
			keys, ok := st.goBack(asked, now, then, refusal)
			return func(context.Context) (step, error) {
				if !ok {
					return nil, &controller.Later{}
				}
				v.republished(v.id)
				v.tellWaiting(v.id, keys)
				v.changed(v.id)
				return nil, nil
			}
		}, nil
	}
}

// goBack has a Zone that was asked for and published as said hold an earlier content, or notes why it does not. It
// returns the sets that wait, or do not any more.
func (st *state) goBack(asked uint32, now, then zone.Snapshot, refusal error) (keys []rr.Key, ok bool) {
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
	st.queue.Enqueue(then.ID)
	return keys, true
}

// rollsBack reports whether an earlier content is asked for that was not looked for yet.
func (f *frozen) rollsBack() bool {
	return f != nil && f.Serial != 0 && f.Serial != f.at && f.recalled && f.holds()
}
