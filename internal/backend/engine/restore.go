package engine

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// kept is what a protection keeps at the servers of an attachment although it is not wanted, with the SOA and the name
// servers that it needs. The feed remembers it, since a server may lose it and nobody else has it.
type kept struct {
	sets  rr.Sets
	soa   rr.SOA
	whole bool // it is all that a zone that is withdrawn has; else what is wanted joins it
}

// lost returns what a server would have that has no zone: as the brake decides about a server that has it, it decides
// about one that comes in its place. What is withdrawn may have been given to a server that was never looked at since.
func (a *attachment) lost() kept {
	p, f := a.Protection, a.feed
	if !a.Restore || !p.Limited || p.Policy != plan.PolicySync {
		return kept{}
	}
	k := f.kept[a.Name]
	if !a.leaving || k.whole || f.label.ID == "" {
		return k
	}
	sets := f.want.Sets.Txn()
	for set := range k.sets.All() {
		if fits(f.want.Sets, set) {
			sets.Put(set)
		}
	}
	return kept{sets: sets.Sets(), soa: cmp.Or(k.soa, f.want.SOA)}
}

// endsWithout reports whether a server that has no zone is as it should be.
func (j *job) endsWithout() bool { return j.leaving && j.lost.sets.Len() == 0 }

// fits reports whether a set can stand beside others: a CNAME is alone at its name (RFC 1034 §3.6.2). The one that is
// wanted is.
func fits(beside rr.Sets, set rr.Set) bool {
	for other := range beside.At(set.Name) {
		if other.Type == set.Type || other.Type == rr.TypeCNAME || set.Type == rr.TypeCNAME {
			return false
		}
	}
	return true
}

// restoring adds to the changes of a server that has lost its zone all that it is to have beside them.
func (s *state) restoring(changes []plan.Change) []plan.Change {
	if !s.absent {
		return changes
	}
	all := plan.Apply(s.have, changes)
	s.have, s.base = rr.Sets{}, &backend.Known{}
	return plan.Order(putAll(slices.Collect(all.All())))
}

// keep has the feed remember what the protection keeps at a server after a run, or that it keeps no more.
func (t *target) keep(s *state, j *job) {
	a := j.through.In(t.scheduler)
	if !a.Restore {
		return
	}
	f, told := a.feed, s.brake.told
	if f.kept == nil {
		f.kept = map[string]kept{}
	}
	switch {
	case told != nil && told == s.kept:
	case told != nil && told.Plan != "":
		f.kept[a.Name] = s.keeps(j)
	case j.leaving && s.complete: // decided, so that nothing comes back
		f.kept[a.Name] = kept{whole: true}
	case s.kept != nil || j.restored || f.kept[a.Name].whole && !j.leaving:
		delete(f.kept, a.Name)
	}
	s.kept = told
}

// keeps returns what is kept at the target.
func (s *state) keeps(j *job) kept {
	if j.leaving {
		return kept{s.have, s.soa, true}
	}
	held := append(s.refused.causedBy(backend.CauseHeld), apexNS(j.feed.zone))
	return kept{sets: s.have.Only(held), soa: s.soa}
}
