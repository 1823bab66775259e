package engine

import (
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A spot is what one worker has of a target: the zone, or the sets that lie over it.
//
// A feed that has sets of its own (FeedConfig.Overlay) and a feed that has the zone do not know of each other's state,
// and fail and wait by themselves. They meet in three things: they do not run at the same time; a set that the overlay
// wants is out of reach for the zone, which hears that it is refused; and a set that the overlay gives up becomes what
// the zone wants of it.
type spot struct {
	backend.TargetKey
	overlay bool
}

// spots are the workers that a target may have.
func spots(key backend.TargetKey) [2]spot { return [2]spot{{key, false}, {key, true}} }

// other is the other target of the same place, nil if there is none.
func (t *target) other() *target { return t.scheduler.targets[spot{t.TargetKey, !t.overlay}] }

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

// beside are the sets that the other worker of the place is to deliver. They never change.
func (w *worker) beside() rr.Sets {
	t, unlock := w.lock()
	defer unlock()
	return t.other().wanted()
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
	scope, beneath := j.scope(rr.Sets{}), w.beside()
	t, unlock := w.lock()
	j.keys = slices.DeleteFunc(j.keys, func(k rr.Key) bool { return t.released(j, beneath, k) })
	unlock()
	changes := make([]plan.Change, 0, len(j.keys))
	for _, k := range j.keys {
		want, ok := j.content.Sets.Get(k)
		if !ok {
			want, _ = beneath.Get(k)
			want.Hint = rr.HintPlain
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
func (t *target) released(j *job, beneath rr.Sets, k rr.Key) bool {
	if _, wanted := j.content.Sets.Get(k); wanted {
		return false
	}
	if _, wanted := beneath.Get(k); wanted {
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

// Sending reports whether an overlay's run is under way that may write a set of a target. What its feed has let go
// before the run began is not written.
func (e *Engine) Sending(key backend.TargetKey, set rr.Key) bool {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	t := s.targets[spot{key, true}]
	return t != nil && t.running && slices.Contains(t.sending, set)
}

// forget ends a run of an overlay: others write to the zone between its runs, so that it relies on nothing that it saw.
func (s *state) forget() {
	s.known, s.have, s.soa = false, rr.Sets{}, rr.SOA{}
}

// covered refuses what of the zone's changes is about sets of an overlay, and drops it.
func (s *state) covered(j *job, over rr.Sets, changes []plan.Change) []plan.Change {
	if over.Len() == 0 {
		return changes
	}
	keys := j.keys
	if j.all {
		keys = keysOf(over)
	}
	for _, k := range keys {
		want, wanted := j.content.Sets.Get(k)
		if _, is := over.Get(k); is && wanted {
			s.refuse(j, []plan.Change{{Key: k, Want: want}},
				Refusal{Reason: "objects that overwrite what they find have this set on the server"})
			if s.overlaid == nil {
				s.overlaid = map[rr.Key]struct{}{}
			}
			s.overlaid[k] = struct{}{}
		}
	}
	return slices.DeleteFunc(changes, func(c plan.Change) bool {
		_, is := over.Get(c.Key)
		return is
	})
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

// assert marks sets to be sent, and lets the zone beneath know. Nil keys are all that the feed wants.
func (f *feed) assert(keys []rr.Key) {
	if keys == nil {
		keys = keysOf(f.want.Sets)
	}
	for _, t := range f.holding() {
		for _, k := range keys {
			t.dirty[k] = struct{}{}
			if _, wanted := f.want.Sets.Get(k); wanted {
				delete(t.gone, k)
			} else {
				left, _ := f.want.Left.Get(k)
				t.gone[k] = parting{f.of, left}
			}
		}
		f.scheduler.wake(t, wakeWant)
		if beneath := t.other(); beneath != nil && len(keys) > 0 {
			beneath.markDirty(keys, f.want.Sets.Len())
			f.scheduler.wake(beneath, wakeWant)
		}
	}
}

// pause keeps a worker from running beside the other one of its place, and while zones are held.
func (t *target) pause() bool {
	o := t.other()
	t.paused = o != nil && o.running || t.isHeld()
	return t.paused
}

// resume has the other worker of a place run that waited for this one.
func (t *target) resume() {
	if o := t.other(); o != nil && o.paused {
		o.paused, o.queued = false, false
		t.scheduler.enqueue(o)
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
