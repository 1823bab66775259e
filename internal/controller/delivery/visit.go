package delivery

import (
	"context"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A visit brings the delivery of one Zone to what it should be. It goes on in steps, which have the lock, and between
// them there are effects, which have not: what has to be stored or asked before the next step.
type visit struct {
	*Deliveries
	id     zone.ID
	stored Stored
	exists bool
	z      guarded.Part[state, delivery]

	wanted  []*Place
	was     standing
	claims  []zone.ID // to be told
	waiting []rr.Key  // sets whose claims are to be told
	frozen  bool      // the Zone is: what is published of it may be known only since this visit
}

type (
	step   func(*state) effect                          // nil: the visit is over
	effect func(context.Context) (next step, err error) // nil: there is no next one
)

// take takes a step, and those that follow.
func (v *visit) take(ctx context.Context, next step) (err error) {
	for next != nil {
		st, unlock := v.state.Lock()
		do := next(st)
		unlock()
		if do == nil {
			return nil
		}
		if next, err = do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin takes in what is stored.
func (v *visit) begin(st *state) effect {
	if !st.knows() {
		st.asked = append(st.asked, v.id)
		return nil // Settle asks again
	}
	st.rememberAll()
	if !v.exists {
		return v.vanish(st)
	}
	z := st.deliveryOf(v.id)
	v.z = guarded.PartOf[state](z)
	st.remember(z, v.stored)
	v.waiting = z.recall(v.stored)
	if v.stored.Deleting && z.accepted {
		return nil // who has the name by now is not known yet: Settle asks again
	}
	if heirs := st.heirs.of(z); len(heirs) > 0 {
		return v.askHeirs(heirs)
	}
	return v.hold(st)
}

// vanish ends the delivery of a Zone whose object is gone.
func (v *visit) vanish(st *state) effect {
	z := st.zones[v.id]
	if z == nil {
		return nil
	}
	st.forget(z)
	return func(context.Context) (step, error) {
		v.changed(v.id)
		return nil, nil
	}
}

// askHeirs finds out whether somebody else is about to be attached where the Zone is.
func (v *visit) askHeirs(heirs []zone.ID) effect {
	return func(context.Context) (step, error) {
		found := map[zone.ID]Stored{}
		for _, id := range heirs {
			if stored, exists := v.store.Load(id); exists {
				found[id] = stored
			}
		}
		return func(st *state) effect {
			if st.awaitsHeir(v.z.In(st), found) {
				return nil
			}
			return v.hold(st)
		}, nil
	}
}

// hold sees to it that it is stored where the Zone is going to be.
func (v *visit) hold(st *state) effect {
	z := v.z.In(st)
	v.wanted = st.places.wanted(z, v.stored)
	hold := z.holds(v.wanted)
	z.intended = nil
	if !missing(hold, v.stored.Delivered) {
		return v.deliver(st)
	}
	held := union(hold, v.stored.Delivered)
	z.looked, z.intended = true, held
	return func(ctx context.Context) (step, error) {
		return func(st *state) effect {
			if st.movedSince(v.z.In(st), v.stored, v.wanted, held) {
				return func(context.Context) (step, error) { return nil, &controller.Later{} }
			}
			return v.deliver(st)
		}, v.store.Hold(ctx, v.id, held)
	}
}

// deliver attaches what is wanted and withdraws the rest, or leaves it behind.
func (v *visit) deliver(st *state) effect {
	z := v.z.In(st)
	v.was = z.standing()
	v.claims = st.deliver(z, v.wanted, v.stored)
	z.intended = nil
	behind, goes := st.goes(z, v.stored)
	if !goes {
		return v.end(st)
	}
	return func(ctx context.Context) (step, error) {
		return func(st *state) effect {
			st.leave(v.z.In(st), behind)
			return v.end(st)
		}, v.leave(ctx, behind)
	}
}

// end notes where the Zone is by now, and tells of it.
func (v *visit) end(st *state) effect {
	z := v.z.In(st)
	z.uid, z.created, z.fleets = v.stored.UID, v.stored.Created, fleetsOf(v.wanted)
	z.looked, z.placed = true, true
	hold := z.holds(v.wanted)
	l, live := z.feeds[z.snapshot.Name], z.accepted && !v.stored.Deleting
	if z.lacks = nil; live {
		z.lacks = st.places.lacking(z, v.wanted, v.stored.Refs)
	}
	news := z.differs(v.was)
	v.waiting, v.frozen = append(v.waiting, l.told()...), z.frozen != nil
	var unserved *engine.Feed
	if live && l != nil && len(v.wanted) == 0 {
		unserved = l.feed
	}
	return func(ctx context.Context) (step, error) { return nil, v.tell(ctx, hold, unserved, news) }
}

// tell tells of what was done, and stores where the Zone is.
func (v *visit) tell(ctx context.Context, hold []Delivered, unserved *engine.Feed, news bool) error {
	v.settled(v.claims)
	if v.frozen {
		v.republished(v.id)
	}
	v.tellWaiting(v.id, v.waiting)
	if unserved != nil {
		if _, err := unserved.Mint(ctx); err != nil {
			return err
		}
	}
	v.changed(v.id)
	if news {
		v.refresh(v.id)
	}
	if len(hold) == 0 || missing(v.stored.Delivered, hold) {
		return v.store.Hold(ctx, v.id, hold)
	}
	return nil
}
