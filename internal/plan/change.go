package plan

import "github.com/zonefold/zonefold/internal/rr"

// A Change takes one set from what a target has to what it should have.
// The zero Set stands for "no set": Have is zero when the set is new, Want is zero when it goes.
type Change struct {
	Key  rr.Key
	Have rr.Set // what the target is believed to hold
	Want rr.Set // what it should hold
}

// Deletes reports whether the change removes the whole set.
func (c Change) Deletes() bool { return len(c.Want.Data) == 0 }

// Creates reports whether the target is believed to hold nothing under the key.
func (c Change) Creates() bool { return len(c.Have.Data) == 0 }
