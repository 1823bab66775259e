package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// refusals are the sets that a target does not take, as they were wanted. A refused set is tried again when it is
// wanted otherwise, at audits, and after other changes of the zone were applied, for what a server takes may depend on
// what it has: BIND refuses an MX whose target in the zone has no address yet. One whose refusal may pass
// (Rejection.Temporary) is tried after a while too.
type refusals struct {
	sets       map[rr.Key]refusal
	dirty      bool               // sets changed since shown and gone were made
	shown      map[rr.Key]Refusal // what reports say
	gone       []rr.Key           // and which of them are deletions
	generation int                // of these two
	retry      time.Time          // when the temporary ones are tried again; zero: none
	tries      int

	ripe   time.Time      // when the first of those is tried again that other changes may have made acceptable; zero: none
	pauses map[rr.Key]int // how often these were tried again like that
}

type refusal struct {
	Refusal
	want  rr.Set    // zero: a refused deletion
	unit  []rr.Key  // what was refused together
	again time.Time // when it is tried again because other changes were applied since; zero: none were
}

// add notes the refusal of changes that belong together.
func (r *refusals) add(unit []plan.Change, why Refusal) {
	if r.sets == nil {
		r.sets = map[rr.Key]refusal{}
	}
	keys := make([]rr.Key, len(unit))
	for i, c := range unit {
		keys[i] = c.Key
	}
	for _, c := range unit {
		r.sets[c.Key] = refusal{Refusal: why, want: c.Want, unit: keys}
	}
	r.dirty = true
}

// drop forgets keys and returns them and those that were refused together with them: all are to be compared again.
func (r *refusals) drop(keys []rr.Key) []rr.Key {
	var dropped []rr.Key
	for _, k := range keys {
		if old, ok := r.sets[k]; ok {
			dropped = append(dropped, old.unit...)
			for _, o := range old.unit {
				delete(r.sets, o)
			}
		}
	}
	r.dirty = r.dirty || dropped != nil
	if len(r.sets) == 0 {
		r.retry, r.ripe = time.Time{}, time.Time{}
	}
	return dropped
}

// ripen notes that other changes were applied: what was refused before may be taken now. The first time it is tried at
// once, and later after a pause that doubles, so that a set that is simply bad costs little beside many good ones.
func (r *refusals) ripen(now time.Time) {
	for k, old := range r.sets {
		if !old.again.IsZero() || old.Cause == backend.CauseHeld {
			continue
		}
		old.again = now
		if tries := r.pauses[k]; tries > 0 {
			old.again = now.Add(backend.Doubled{First: time.Second, Most: lastRetry}.After(tries))
		}
		r.sets[k] = old
		r.ripe = earlier(r.ripe, old.again)
	}
}

// ripened returns the keys that are due to be tried again after other changes.
func (r *refusals) ripened(now time.Time) []rr.Key {
	if r.ripe.IsZero() || now.Before(r.ripe) {
		return nil
	}
	r.ripe = time.Time{}
	var keys []rr.Key
	for k, old := range r.sets {
		switch {
		case old.again.IsZero():
		case now.Before(old.again):
			r.ripe = earlier(r.ripe, old.again)
		default:
			keys = append(keys, k)
			if r.pauses == nil {
				r.pauses = map[rr.Key]int{}
			}
			r.pauses[k]++
		}
	}
	return keys
}

// all returns every refused key.
func (r *refusals) all() []rr.Key {
	keys := make([]rr.Key, 0, len(r.sets))
	for k := range r.sets {
		keys = append(keys, k)
	}
	return keys
}

// due returns the keys whose refusal may have passed by now.
func (r *refusals) due(now time.Time) []rr.Key {
	if r.retry.IsZero() || now.Before(r.retry) {
		return nil
	}
	r.retry = time.Time{}
	var keys []rr.Key
	for k, old := range r.sets {
		if old.Temporary {
			keys = append(keys, k)
		}
	}
	return keys
}

// owned returns the keys of sets that somebody else has.
func (r *refusals) owned() []rr.Key { return r.causedBy(backend.CauseOwned) }

// causedBy returns the keys that are refused for a cause.
func (r *refusals) causedBy(cause backend.Cause) []rr.Key {
	var keys []rr.Key
	for k, old := range r.sets {
		if old.Cause == cause {
			keys = append(keys, k)
		}
	}
	return keys
}

// owes reports whether the time has come to look whether somebody else still has a set.
func (r *refusals) owes(now time.Time) bool {
	return !r.retry.IsZero() && !now.Before(r.retry) && len(r.owned()) > 0
}

// The pace at which temporary refusals are tried again.
const firstRetry, lastRetry = 30 * time.Second, time.Hour

// plan says when to try again if there is anything temporary and no time is set. Without refusals it forgets how often
// that was.
func (r *refusals) plan(now time.Time, random float64) {
	if len(r.sets) == 0 {
		r.tries, r.pauses = 0, nil
	}
	if !r.retry.IsZero() {
		return
	}
	for _, old := range r.sets {
		if old.Temporary {
			r.tries++
			r.retry = now.Add(backend.Jitter(backend.Doubled{First: firstRetry, Most: lastRetry}.After(r.tries), random))
			return
		}
	}
}

// outdated returns the keys that are wanted otherwise than they were refused. With all it looks at every refusal.
func (r *refusals) outdated(have, want rr.Sets, scope plan.Scope, keys []rr.Key, all bool) []rr.Key {
	if len(r.sets) == 0 {
		return nil
	}
	if all {
		keys = r.all()
	}
	var out []rr.Key
	for _, k := range keys {
		old, ok := r.sets[k]
		if !ok {
			continue
		}
		h, _ := have.Get(k)
		w, wanted := want.Get(k)
		if wanted {
			w = scope.Goal(h, w)
		}
		if !w.Equal(old.want) {
			delete(r.pauses, k)
			out = append(out, k)
		}
	}
	return out
}

// without returns the changes that were not refused before.
func (r *refusals) without(changes []plan.Change) []plan.Change {
	if len(r.sets) == 0 {
		return changes
	}
	return slices.DeleteFunc(changes, func(c plan.Change) bool {
		old, ok := r.sets[c.Key]
		return ok && old.want.Equal(c.Want)
	})
}

// report returns the refusals by key, and the refused deletions in canonical order. Neither is changed afterwards.
func (r *refusals) report() (map[rr.Key]Refusal, []rr.Key) {
	if !r.dirty {
		return r.shown, r.gone
	}
	r.dirty = false
	var shown map[rr.Key]Refusal
	var gone []rr.Key
	if len(r.sets) > 0 {
		shown = make(map[rr.Key]Refusal, len(r.sets))
	}
	for k, old := range r.sets {
		shown[k] = old.Refusal
		if len(old.want.Data) == 0 {
			gone = append(gone, k)
		}
	}
	slices.SortFunc(gone, rr.Key.Compare)
	if !maps.Equal(shown, r.shown) || !slices.Equal(gone, r.gone) {
		r.shown, r.gone, r.generation = shown, gone, r.generation+1
	}
	return r.shown, r.gone
}
