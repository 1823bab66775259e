package plan

import (
	"time"

	"github.com/zonefold/zonefold/internal/rr"
)

// Window is how long deletions count.
const Window = time.Hour

// step is how exactly the time of a deletion is kept: so often at most old ones are looked for.
const step = time.Minute

// Recent are the sets that were deleted within the last Window. One that came again and was deleted again counts once.
type Recent struct {
	at     map[rr.Key]time.Time
	oldest time.Time
}

// Add notes deletions.
func (r *Recent) Add(deletions []rr.Key, now time.Time) {
	if len(deletions) == 0 {
		return
	}
	if r.at == nil {
		r.at = make(map[rr.Key]time.Time, len(deletions))
	}
	now = now.Truncate(step).Add(step) // rather too long than too short
	for _, k := range deletions {
		r.at[k] = now
	}
	if r.oldest.IsZero() {
		r.oldest = now
	}
}

// Forget drops what is older than a Window.
func (r *Recent) Forget(now time.Time) {
	if r.oldest.IsZero() || now.Before(r.oldest.Add(Window)) {
		return
	}
	r.oldest = time.Time{}
	for k, at := range r.at {
		switch {
		case !now.Before(at.Add(Window)):
			delete(r.at, k)
		case r.oldest.IsZero() || at.Before(r.oldest):
			r.oldest = at
		}
	}
}

// Until returns when the first of the deletions stops counting; zero: there are none.
func (r *Recent) Until() time.Time {
	if r.oldest.IsZero() {
		return time.Time{}
	}
	return r.oldest.Add(Window)
}

// Len returns how many there are.
func (r *Recent) Len() int { return len(r.at) }

// Absent returns how many have not come again, into sets.
func (r *Recent) Absent(sets rr.Sets) int {
	n := 0
	for k := range r.at {
		if _, again := sets.Get(k); !again {
			n++
		}
	}
	return n
}

// With returns how many there are together with other deletions.
func (r *Recent) With(deletions []rr.Key) int {
	n := len(r.at)
	for _, k := range deletions {
		if _, there := r.at[k]; !there {
			n++
		}
	}
	return n
}
