package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// brake is what holds deletions of a target. What is held is among the refusals, by CauseHeld; only deletions of the
// zone itself are: what an overlay asserts, its objects have been promised.
type brake struct {
	protection plan.Protection // by which it was decided last
	approvals  []string
	recent     plan.Recent
	approved   map[rr.Key]struct{} // deletions that were approved, until they are made or not wanted any more
	room       int                 // so many held deletions would not be held by themselves
	retry      time.Time           // when there is more room; zero: there is none to come
	told       *Held
	generation int    // of told
	kind       string // of the attachment that told was for
}

// Held is what a Protection keeps a target from.
type Held struct {
	Plan      string // what approves it (Attachment.Approved); "": nothing does, the policy is meant
	Policy    plan.Policy
	Deletions int      // sets that stay
	Changes   int      // sets that stay as they are, or are not added because of those that stay
	Of        int      // how many sets there were
	Room      int      // how many of them may be deleted within plan.Window
	Recent    int      // how many were
	Examples  []rr.Key // the first few, in canonical order
}

// heldExamples is how many sets are named.
const heldExamples = 5

// braked holds what the protection of a job says, and returns the other changes.
func (s *state) braked(j *job, changes []plan.Change, now time.Time) []plan.Change {
	p, b := j.a.Protection, &s.brake
	if b.protection != p {
		b.approved = nil
	}
	b.protection, b.approvals = p, j.approvals
	if p == (plan.Protection{}) || j.a.Observe {
		s.tell(j, nil)
		return changes
	}
	b.recent.Forget(now)
	if slices.ContainsFunc(changes, s.concernsHeld) {
		changes = s.withHeld(j, changes)
	}
	own := s.own(j)
	rule := plan.Brake{Protection: p, Base: own.Len() + b.recent.Absent(own), Recent: &b.recent, Approved: b.approved,
		Approves: func(keys []rr.Key) bool { return slices.Contains(j.approvals, plan.ID(j.feed.zone, keys)) },
		Exempt:   j.isNote()}
	out := rule.Hold(changes)
	b.recent.Add(out.Counted, now)
	for _, k := range out.Approved {
		if b.approved == nil {
			b.approved = map[rr.Key]struct{}{}
		}
		b.approved[k] = struct{}{}
	}
	for _, unit := range out.Held {
		s.refused.add(unit, Refusal{Reason: heldReason(p), Cause: backend.CauseHeld})
	}
	s.noteHeld(j, rule)
	return s.withoutNotes(j, out.Free)
}

// heldReason says why a set is not changed, in words that do not depend on the others.
func heldReason(p plan.Protection) string {
	switch p.Policy {
	case plan.PolicyUpsertOnly:
		return "the policy UpsertOnly of its Backend deletes nothing"
	case plan.PolicyCreateOnly:
		return "the policy CreateOnly of its Backend changes no existing set"
	}
	return "more sets would be deleted than the protection of its Backend allows"
}

// concernsHeld reports whether a change is to be decided together with what is held already: it is of the same plan, or
// what is held may be in its way.
func (s *state) concernsHeld(c plan.Change) bool {
	return c.Deletes() || c.Key.Type.Exclusive() || c.Key.Type == rr.TypeDNAME ||
		s.refused.sets[rr.Key{Name: c.Key.Name, Type: rr.TypeCNAME}].Cause == backend.CauseHeld
}

// withHeld returns changes with those that are held already.
func (s *state) withHeld(j *job, changes []plan.Change) []plan.Change {
	held := s.refused.drop(s.refused.causedBy(backend.CauseHeld))
	if len(held) == 0 {
		return changes
	}
	if !j.all {
		j.keys = append(j.keys, held...)
	}
	again := plan.DiffKeys(s.have, j.content.Sets, held, j.scope(s.written)).Changes
	changes = append(slices.Clone(changes), again...)
	slices.SortFunc(changes, func(a, b plan.Change) int { return a.Key.Compare(b.Key) })
	return plan.Order(slices.CompactFunc(changes, func(a, b plan.Change) bool { return a.Key == b.Key }))
}

// unbraked returns what is held and has to be decided again: by other limits, with an approval, with more room, or
// because little of it is left.
func (s *state) unbraked(j *job, now time.Time) []rr.Key {
	b := &s.brake
	if b.told == nil {
		return nil
	}
	same := b.protection == j.a.Protection && slices.Equal(b.approvals, j.approvals)
	held := s.refused.causedBy(backend.CauseHeld)
	if same && !due(b.retry, now) && len(held) > b.room {
		return nil
	}
	return held
}

func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// own returns the sets of the target that could be deleted.
func (s *state) own(j *job) rr.Sets {
	if j.a.Keep {
		return s.written
	}
	return s.have
}

// noteHeld finds out what is held now.
func (s *state) noteHeld(j *job, rule plan.Brake) {
	b := &s.brake
	h := &Held{Policy: rule.Policy, Of: rule.Base, Room: rule.Room(rule.Base), Recent: b.recent.Len()}
	b.room, b.retry = 0, time.Time{}
	var deletions []rr.Key
	for k, r := range s.refused.sets {
		switch {
		case r.Cause != backend.CauseHeld:
		case len(r.want.Data) == 0:
			deletions = append(deletions, k)
		default:
			h.Changes++
			h.Examples = append(h.Examples, k)
		}
	}
	if h.Deletions = len(deletions); h.Deletions+h.Changes == 0 {
		s.tell(j, nil)
		return
	}
	slices.SortFunc(deletions, rr.Key.Compare)
	if rule.Policy == plan.PolicySync {
		h.Plan = plan.ID(j.feed.zone, deletions)
		b.room, b.retry = h.Room-h.Recent, b.recent.Until()
	}
	if h.Deletions > 0 {
		h.Examples = deletions
	} else {
		slices.SortFunc(h.Examples, rr.Key.Compare)
	}
	h.Examples = slices.Clone(h.Examples[:min(len(h.Examples), heldExamples)])
	s.tell(j, h)
}

// tell has reports say what is held. While that is the same, so are its circumstances.
func (s *state) tell(j *job, h *Held) {
	b := &s.brake
	old := b.told
	if h == nil {
		b.room, b.retry = 0, time.Time{}
	}
	if h == old || h.same(old) {
		return
	}
	b.told, b.generation, b.kind = h, b.generation+1, j.a.Kind
}

// same reports whether the same sets are held for the same reason.
func (h *Held) same(as *Held) bool {
	return h != nil && as != nil && h.Plan == as.Plan && h.Policy == as.Policy && h.Deletions == as.Deletions &&
		h.Changes == as.Changes && slices.Equal(h.Examples, as.Examples)
}

func (h *Held) sets() int {
	if h == nil || h.Plan == "" {
		return 0 // what a policy holds is meant to stay
	}
	return h.Deletions + h.Changes
}

// approvedDone forgets approvals of what has been deleted, or is wanted by now.
func (s *state) approvedDone(j *job) {
	maps.DeleteFunc(s.brake.approved, func(k rr.Key, _ struct{}) bool {
		_, there := s.have.Get(k)
		_, wanted := j.content.Sets.Get(k)
		return !there || wanted
	})
}

// isNote returns whether a change deletes a note of external-dns: it goes with the set that it is about, and is none.
func (j *job) isNote() func(plan.Change) bool {
	if j.a.Registry == nil {
		return nil
	}
	return func(c plan.Change) bool { return c.Deletes() && j.a.Registry.IsNote(c.Have) }
}

// withoutNotes holds the deletions of notes about sets that are held.
func (s *state) withoutNotes(j *job, changes []plan.Change) []plan.Change {
	r := j.a.Registry
	if r == nil || s.brake.told == nil {
		return changes
	}
	isNote := j.isNote()
	return slices.DeleteFunc(changes, func(c plan.Change) bool {
		return isNote(c) && slices.ContainsFunc(r.Covered(c.Key.Name, s.have, j.content.Sets), func(k rr.Key) bool {
			return s.refused.sets[k].Cause == backend.CauseHeld
		})
	})
}

// mayRemove reports whether a whole zone may go that nothing lies over. If not, what holds it is among the refusals.
func (s *state) mayRemove(j *job, now time.Time) bool {
	if j.a.Protection == (plan.Protection{}) {
		return true
	}
	j.all = true
	s.plan(j, rr.Sets{}, now)
	return s.brake.told == nil
}
