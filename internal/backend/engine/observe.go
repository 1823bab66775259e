package engine

import (
	"iter"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Difference is what a target under Observe would be changed by.
type Difference struct {
	Added, Changed, Deleted int     // sets
	Have, Want              rr.Sets // the sets that differ, as they are and as they should be
}

// observe notes the difference instead of making it.
func (s *state) observe(j *job, changes []plan.Change) {
	s.seq, s.complete = j.seq, true
	if s.difference != nil && !j.all && len(j.keys) == 0 {
		return
	}
	d := Difference{}
	if s.difference != nil && !j.all {
		d = *s.difference
		d.forget(j.keys)
	}
	d.add(changes)
	if s.difference == nil || !s.difference.equal(&d) {
		s.difference = &d
		s.diffGen++
	}
}

// add notes sets that differ.
func (d *Difference) add(changes []plan.Change) {
	have, want := d.Have.Txn(), d.Want.Txn()
	for _, c := range changes {
		switch {
		case c.Creates():
			d.Added++
			want.Put(c.Want)
		case c.Deletes():
			d.Deleted++
			have.Put(c.Have)
		default:
			d.Changed++
			have.Put(c.Have)
			want.Put(c.Want)
		}
	}
	d.Have, d.Want = have.Sets(), want.Sets()
}

// forget takes keys out, before they are compared anew.
func (d *Difference) forget(keys []rr.Key) {
	have, want := d.Have.Txn(), d.Want.Txn()
	for _, k := range keys {
		had, wanted := have.Delete(k), want.Delete(k)
		switch {
		case had && wanted:
			d.Changed--
		case had:
			d.Deleted--
		case wanted:
			d.Added--
		}
	}
	d.Have, d.Want = have.Sets(), want.Sets()
}

func (d *Difference) equal(o *Difference) bool {
	return d.Added == o.Added && d.Changed == o.Changed && d.Deleted == o.Deleted &&
		sameSets(d.Have, o.Have) && sameSets(d.Want, o.Want)
}

func sameSets(a, b rr.Sets) bool {
	if a.Len() != b.Len() {
		return false
	}
	next, stop := iter.Pull(b.All())
	defer stop()
	for s := range a.All() {
		if o, _ := next(); !s.Equal(o) {
			return false
		}
	}
	return true
}
