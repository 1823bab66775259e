package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A registrar has the notes of external-dns in a zone say what of a job's changes may be made. Sets of owners whose
// place zonefold does not take are left as they are, and their notes with them. Notes of the others follow zonefold's
// sets: they go when the set becomes zonefold's, or are kept about each of its sets (registry.Registry.Writes).
type registrar struct {
	*registry.Registry
	s *state
	j *job

	others map[rr.Key]registry.Claim // sets that are others'
	about  map[rr.Key]struct{}       // the sets whose notes are to be looked at
	notes  map[rr.Key]struct{}       // the notes to be looked at
}

// registered drops changes of sets that are others', refuses those that are wanted, and adds what becomes of notes.
func (s *state) registered(j *job, changes []plan.Change) []plan.Change {
	j.others = nil
	if j.a.Registry == nil {
		return changes
	}
	r := &registrar{Registry: j.a.Registry, s: s, j: j, others: map[rr.Key]registry.Claim{},
		about: map[rr.Key]struct{}{}, notes: map[rr.Key]struct{}{}}
	r.gather(changes)
	for k := range r.about {
		r.judge(k)
	}
	j.others = r.others
	changes = slices.DeleteFunc(slices.Clone(changes), r.bars)
	changes = append(changes, r.follow()...)
	slices.SortFunc(changes, func(a, b plan.Change) int { return a.Key.Compare(b.Key) })
	if j.all {
		s.untaken = r.untaken()
	}
	return plan.Order(changes)
}

// gather finds out what there is to look at: in a whole zone all that notes are about, else what has changed.
func (r *registrar) gather(changes []plan.Change) {
	for _, c := range changes {
		r.about[c.Key] = struct{}{}
	}
	if !r.j.all {
		for _, k := range r.j.keys {
			r.about[k] = struct{}{}
		}
	} else {
		r.gatherAll()
	}
	for k := range r.about {
		for _, c := range r.Said(r.s.have, k) {
			r.notes[rr.Key{Name: c.Note, Type: rr.TypeTXT}] = struct{}{}
		}
	}
}

func (r *registrar) gatherAll() {
	have, want := r.s.have, r.j.content.Sets
	for set := range have.All() {
		if set.Type != rr.TypeTXT || !r.IsNote(set) {
			continue
		}
		r.notes[set.Key()] = struct{}{}
		for _, k := range r.Covered(set.Name, have, want) {
			r.about[k] = struct{}{}
		}
	}
	for set := range want.All() {
		if r.Writes != nil || set.Type == rr.TypeTXT {
			r.about[set.Key()] = struct{}{}
		}
	}
}

// judge finds out whether a set is somebody else's, and refuses it if it is wanted.
func (r *registrar) judge(k rr.Key) {
	want, wanted := r.j.content.Sets.Get(k)
	why := ""
	claim, is := r.claimed(k)
	switch {
	case is:
		why = "it belongs to " + said(claim)
	case !wanted:
	case r.IsNote(want):
		claim, is = registry.Claim{Note: k.Name}, true
		why = "its text has the form of external-dns' registry records; choose another text"
	default:
		var other rr.Key
		if other, claim, is = r.beside(k); is {
			why = fmt.Sprintf("it cannot coexist with %s, which belongs to %s", other, said(claim))
		}
	}
	if is {
		r.others[k] = claim
	}
	if is && wanted {
		r.s.refuse(r.j, []plan.Change{{Key: k, Want: want}}, Refusal{Reason: why, Cause: backend.CauseOwned, Temporary: true})
	}
}

// said names an owner, and where it is written.
func said(c registry.Claim) string {
	owner := fmt.Sprintf("owner %q of external-dns", c.Owner)
	if c.Owner == "" {
		owner = "an unknown owner of external-dns"
	}
	return fmt.Sprintf("%s, according to %s; remove it there, or set that owner in spec.registries of the Backend",
		owner, c.Where())
}

// claimed returns who else has a set by the notes that the server holds. A note is its owner's too.
func (r *registrar) claimed(k rr.Key) (registry.Claim, bool) {
	for _, c := range r.Claims(r.s.have, k) {
		if !r.Ours(c) {
			return c, true
		}
	}
	has, _ := r.s.have.Get(k)
	for _, c := range r.Notes(has) {
		if !r.Ours(c) {
			return c, true
		}
	}
	return registry.Claim{}, false
}

// beside returns somebody else's set that a set cannot stand beside (RFC 1034 §3.6.2).
func (r *registrar) beside(k rr.Key) (rr.Key, registry.Claim, bool) {
	for set := range r.s.have.At(k.Name) {
		o := set.Key()
		if o == k || k.Type != rr.TypeCNAME && o.Type != rr.TypeCNAME || plan.ServerMade(o.Type) {
			continue
		}
		if c, is := r.claimed(o); is {
			return o, c, true
		}
	}
	return rr.Key{}, registry.Claim{}, false
}

// bars reports whether a change is not to be made. What becomes of notes, follow says.
func (r *registrar) bars(c plan.Change) bool {
	if _, is := r.others[c.Key]; is {
		return true
	}
	_, is := r.notes[c.Key]
	return is && c.Deletes()
}

// follow returns what becomes of the notes of owners whose place zonefold takes.
func (r *registrar) follow() []plan.Change {
	var changes []plan.Change
	kept := map[rr.Key]struct{}{}
	for k := range r.about {
		note, ok := r.Note(k, r.j.feed.zone)
		if !ok || !r.mine(k, true) {
			continue
		}
		key := note.Key()
		kept[key] = struct{}{}
		_, there := r.s.have.Get(key)
		_, wanted := r.j.content.Sets.Get(key)
		if wanted || there {
			continue // the note is there, or a text of somebody else
		}
		changes = append(changes, plan.Change{Key: key, Want: note})
	}
	for key := range r.notes {
		has, there := r.s.have.Get(key)
		_, wanted := r.j.content.Sets.Get(key)
		if _, keep := kept[key]; !keep && there && !wanted && r.spent(has) {
			changes = append(changes, plan.Change{Key: key, Have: has})
		}
	}
	return changes
}

// spent reports whether a note says nothing any more: it is of an owner whose place zonefold takes, each set that it is
// about is zonefold's, and none of these has to have it. What is about nothing here may be about a set of another zone
// if it is in a table; and beside a table, external-dns moves such a note there.
func (r *registrar) spent(note rr.Set) bool {
	for _, c := range r.Notes(note) {
		if !r.Ours(c) {
			return false
		}
	}
	covered := r.Covered(note.Name, r.s.have, r.j.content.Sets)
	for _, k := range covered {
		if !r.mine(k, false) || r.Writes != nil && r.mine(k, true) {
			return false
		}
	}
	return len(covered) > 0 || r.Writes != nil && r.Writes.Table == "" && !registry.IsInTable(note.Key())
}

// mine reports whether a set is zonefold's: it is wanted, or, if that is not asked, zonefold wrote it.
func (r *registrar) mine(k rr.Key, wanted bool) bool {
	if _, is := r.others[k]; is || r.j.isApexNS(k) {
		return false
	}
	if _, is := r.j.content.Sets.Get(k); is {
		return true
	}
	return !wanted && r.written(k)
}

func (r *registrar) written(k rr.Key) bool {
	_, is := r.s.written.Get(k)
	return is
}

// untaken counts the sets of owners whose place zonefold takes that are not zonefold's, as no object wants them.
func (r *registrar) untaken() int {
	n := 0
	for k := range r.about {
		_, there := r.s.have.Get(k)
		if there && !r.mine(k, false) && slices.ContainsFunc(r.Claims(r.s.have, k), r.Ours) {
			n++
		}
	}
	return n
}

// reconsider has the server asked whether somebody else still has what was refused for that.
func (s *state) reconsider(j *job, now time.Time) {
	if j.limits.Read == backend.ReadZone && s.refused.owes(now) {
		s.known, s.raced = false, s.known || s.raced
	}
}
