package engine

import (
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A spot is what one worker has of a target: the zone, or the sets of a feed that lie over it.
//
// Feeds that have sets of their own (FeedConfig.Overlay) and a feed that has the zone do not know of each other's
// state, and fail and wait by themselves. They meet in three things: they do not run at the same time; a set that an
// overlay wants, and has brought there, is out of reach for the zone, which hears that it is refused; and a set that an
// overlay gives up becomes what another one, or else the zone, wants of it.
//
// Each overlay has credentials of its own. What one asks for is never sent with those of another one.
type spot struct {
	backend.TargetKey
	over string // the ID of the feed of an overlay; "": the zone
}

func (at spot) overlay() bool { return at.over != "" }

// at returns the spot that a feed has of a target.
func (f *Feed) at(key backend.TargetKey) spot {
	if f.overlay {
		return spot{key, f.id}
	}
	return spot{TargetKey: key}
}

// place returns who works at a target: the zone first, then overlays in their order.
func (s *scheduler) place(key backend.TargetKey) []*target { return s.places[key] }

// beneath returns the target of the zone that an overlay lies over, nil if nobody has that.
func (t *target) beneath() *target { return t.scheduler.targets[spot{TargetKey: t.TargetKey}] }

// wanted are the sets that are to be delivered.
func (t *target) wanted() rr.Sets {
	if t == nil {
		return rr.Sets{}
	}
	if a := t.holder(); a != nil && !a.leaving && !a.Observe {
		return a.feed.want.Sets
	}
	return rr.Sets{}
}

// covers are the sets of an overlay that are out of reach for the zone. One that has never been there, as of
// credentials that do not suffice, is not.
func (t *target) covers() rr.Sets {
	if len(t.unproved) == 0 {
		return t.wanted()
	}
	txn := t.wanted().Txn()
	for k := range t.unproved {
		txn.Delete(k)
	}
	return txn.Sets()
}

// above are the sets of the overlays of a place. They never change.
func (w *worker) above() (sets rr.Sets) {
	t, unlock := w.lock()
	defer unlock()
	for _, o := range t.scheduler.place(t.TargetKey) {
		if o.overlay() {
			sets = union(o.covers(), sets)
		}
	}
	return sets
}

// instead returns what a set of an overlay becomes that it gives up: what another one wants, or else the zone.
func (t *target) instead(k rr.Key) (set rr.Set, is bool) {
	for _, o := range t.scheduler.place(t.TargetKey) {
		switch {
		case o == t:
		case !o.overlay():
			if set, is = o.wanted().Get(k); is {
				set.Hint = rr.HintPlain
			}
		default:
			if other, wants := o.covers().Get(k); wants {
				return other, true
			}
		}
	}
	return set, is
}

// assertions are the changes that make sets of an overlay what they should be, whatever is there. What the overlay
// gives up becomes what the zone wants of it, or goes.
func (w *worker) assertions(j *job) []plan.Change {
	s, now := &w.state, w.now()
	keys := append(j.keys, s.refused.drop(s.refused.due(now))...)
	keys = append(keys, s.refused.drop(s.refused.ripened(now))...)
	keys = append(keys, s.refused.drop(j.keys)...)
	slices.SortFunc(keys, rr.Key.Compare)
	j.keys = slices.Compact(keys)
	scope, instead := j.scope(rr.Sets{}), map[rr.Key]rr.Set{}
	t, unlock := w.lock()
	j.keys = slices.DeleteFunc(j.keys, func(k rr.Key) bool { return t.released(j, k) })
	for _, k := range j.keys {
		instead[k], _ = t.instead(k)
	}
	unlock()
	changes := make([]plan.Change, 0, len(j.keys))
	for _, k := range j.keys {
		want, ok := j.content.Sets.Get(k)
		if !ok {
			want = instead[k]
		}
		change := plan.Change{Key: k, Want: scope.Clamp(want)}
		if change.Deletes() {
			change.Have = w.believed(k)
		}
		changes = append(changes, change)
	}
	return s.fitting(j, plan.Order(changes))
}

// released reports whether a set was sent once, or was to be, and has been let go since: it stays on the server as it
// is. Only what somebody has asserted not to be wanted is deleted.
func (t *target) released(j *job, k rr.Key) bool {
	if _, wanted := j.content.Sets.Get(k); wanted {
		return false
	}
	if _, wanted := t.instead(k); wanted {
		return false
	}
	return t.gone[k].feed != j.feed
}

// A parting is a set that an overlay does not want any more.
type parting struct {
	feed *Feed  // that has said so
	left rr.Set // Content.Left
}

// believed returns what a set that is to be deleted probably is.
func (w *worker) believed(k rr.Key) rr.Set {
	if sent, ok := w.state.sent.Get(k); ok {
		return sent
	}
	t, unlock := w.lock()
	defer unlock()
	return t.gone[k].left
}

// deleted forgets what was to be deleted and is, unless it has been asserted again since.
func (w *worker) deleted(done []plan.Change) {
	t, unlock := w.lock()
	defer unlock()
	for _, c := range done {
		if _, again := t.dirty[c.Key]; !again {
			delete(t.gone, c.Key)
		}
	}
}

// prove notes which sets of an overlay are there after a run that was confirmed, whichever has sent them: those that
// are not refused, and not to be sent yet. From now on they are out of reach for the zone.
func (w *worker) prove() {
	t, unlock := w.lock()
	defer unlock()
	var proved []rr.Key
	for k := range t.unproved {
		_, refused := w.state.refused.sets[k]
		if _, due := t.dirty[k]; !due && !refused {
			delete(t.unproved, k)
			proved = append(proved, k)
		}
	}
	if beneath := t.beneath(); beneath != nil && len(proved) > 0 {
		beneath.markDirty(proved, beneath.wanted().Len())
		t.scheduler.wake(beneath, wakeWant)
	}
}

// Sending reports whether a run of an overlay is under way that may write a set of a target. What its feed has let go
// before the run began is not written.
func (e *Engine) Sending(key backend.TargetKey, of *Feed, set rr.Key) bool {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	t := s.targets[of.at(key)]
	return t != nil && t.running && slices.Contains(t.sending, set)
}

// forget ends a run of an overlay: others write to the zone between its runs, so that it relies on nothing that it saw.
func (s *state) forget() {
	s.known, s.have, s.soa = false, rr.Sets{}, rr.SOA{}
}

// covered refuses what of the zone's changes is about sets of an overlay, and drops it. What the zone does not want of
// these any more leaves the ledger: it is not there on behalf of the zone.
func (s *state) covered(j *job, over rr.Sets, changes []plan.Change) []plan.Change {
	if over.Len() == 0 {
		return changes
	}
	keys := j.keys
	if j.all {
		keys = keysOf(over)
	}
	written := s.written.Txn()
	for _, k := range keys {
		want, wanted := j.content.Sets.Get(k)
		switch _, is := over.Get(k); {
		case !is:
		case !wanted:
			if s.late.IsZero() {
				written.Delete(k)
			}
		default:
			s.refuse(j, []plan.Change{{Key: k, Want: want}},
				Refusal{Reason: "objects that overwrite what they find have this set on the server"})
			if s.overlaid == nil {
				s.overlaid = map[rr.Key]struct{}{}
			}
			s.overlaid[k] = struct{}{}
		}
	}
	s.written = written.Sets()
	return slices.DeleteFunc(changes, func(c plan.Change) bool {
		_, is := over.Get(c.Key)
		return is
	})
}

// lifted reports whether an overlay has let go of sets that were refused because of it: it may have left anything
// there.
func (s *state) lifted(over rr.Sets) bool {
	for k := range s.overlaid {
		if _, is := over.Get(k); !is {
			return true
		}
	}
	return false
}

// uncovered returns the keys that were refused because of an overlay that does not want them any more.
func (s *state) uncovered(over rr.Sets) []rr.Key {
	var keys []rr.Key
	for k := range s.overlaid {
		if _, is := over.Get(k); !is {
			keys = append(keys, k)
			delete(s.overlaid, k)
		}
	}
	return keys
}

// assert marks sets to be sent, and lets the zone beneath know. Nil keys are all that the feed wants. Before are the
// sets that it has wanted until now.
func (f *feed) assert(keys []rr.Key, before rr.Sets) {
	if keys == nil {
		keys = keysOf(f.want.Sets)
	}
	for _, t := range f.holding() {
		for _, k := range keys {
			t.dirty[k] = struct{}{}
			_, wanted := f.want.Sets.Get(k)
			_, was := before.Get(k)
			switch {
			case !wanted:
				left, _ := f.want.Left.Get(k)
				t.gone[k] = parting{f.of, left}
				delete(t.unproved, k)
			case !was:
				t.unproved[k] = struct{}{}
				fallthrough
			default:
				delete(t.gone, k)
			}
		}
		f.scheduler.wake(t, wakeWant)
		if beneath := t.beneath(); beneath != nil {
			if len(keys) > 0 {
				beneath.markDirty(keys, f.want.Sets.Len())
			}
			f.scheduler.wake(beneath, wakeWant) // what was let go is within its reach
		}
	}
}

// pause keeps a worker from running beside others of its place, and while zones are held.
func (t *target) pause() bool {
	t.paused = t.isHeld() || slices.ContainsFunc(t.scheduler.place(t.TargetKey), func(o *target) bool {
		return o != t && o.running
	})
	return t.paused
}

// resume has the other workers of a place run that waited for this one.
func (t *target) resume() {
	for _, o := range t.scheduler.place(t.TargetKey) {
		if o != t && o.paused {
			o.paused, o.queued = false, false
			t.scheduler.enqueue(o)
		}
	}
}

// among counts the sets whose keys are among others.
func among(sets []rr.Set, others rr.Sets) int {
	n := 0
	for _, set := range sets {
		if _, is := others.Get(set.Key()); is {
			n++
		}
	}
	return n
}
