package backend

import (
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// refusals are the sets that a target does not take, as they were wanted. A refused set is tried again when it is wanted
// otherwise and at audits; one whose refusal may pass (Rejection.Temporary) also after a while.
type refusals struct {
	sets       map[rr.Key]refusal
	dirty      bool              // sets changed since shown and gone were made
	shown      map[rr.Key]string // what reports say
	gone       []rr.Key          // and which of them are deletions
	generation int               // of these two
	retry      time.Time         // when the temporary ones are tried again; zero: none
	tries      int
}

type refusal struct {
	want      rr.Set // zero: a refused deletion
	reason    string
	temporary bool
	unit      []rr.Key // what was refused together
}

// add notes the refusal of changes that belong together.
func (r *refusals) add(unit []plan.Change, reason string, temporary bool) {
	if r.sets == nil {
		r.sets = map[rr.Key]refusal{}
	}
	keys := make([]rr.Key, len(unit))
	for i, c := range unit {
		keys[i] = c.Key
	}
	for _, c := range unit {
		r.sets[c.Key] = refusal{c.Want, reason, temporary, keys}
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
		r.retry, r.tries = time.Time{}, 0
	}
	return dropped
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
		if old.temporary {
			keys = append(keys, k)
		}
	}
	return keys
}

// The pace at which temporary refusals are tried again.
const firstRetry, lastRetry = 30 * time.Second, time.Hour

// plan says when to try again if there is anything temporary and no time is set.
func (r *refusals) plan(now time.Time, random float64) {
	if !r.retry.IsZero() {
		return
	}
	for _, old := range r.sets {
		if old.temporary {
			r.tries = min(r.tries+1, 16)
			r.retry = now.Add(jitter(min(firstRetry<<(r.tries-1), lastRetry), random))
			return
		}
	}
}

// outdated returns the keys that are wanted otherwise than they were refused. With all it looks at every refusal.
func (r *refusals) outdated(want rr.Sets, scope plan.Scope, keys []rr.Key, all bool) []rr.Key {
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
		if w, _ := want.Get(k); !scope.Clamp(w).Equal(old.want) {
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

// report returns the reasons by key, and the refused deletions in canonical order. Neither is changed afterwards.
func (r *refusals) report() (map[rr.Key]string, []rr.Key) {
	if !r.dirty {
		return r.shown, r.gone
	}
	r.dirty = false
	var shown map[rr.Key]string
	var gone []rr.Key
	if len(r.sets) > 0 {
		shown = make(map[rr.Key]string, len(r.sets))
	}
	for k, old := range r.sets {
		shown[k] = old.reason
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
