package homelab

import (
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// A plan has what is known of classes and their slots. It decides what is done next about a slot, and what statuses say
// of it.
type plan struct {
	clock clock.PassiveClock
	late  func() time.Time // see Config.Late
	look  func(slotKey)    // has a slot looked at

	slots   map[slotKey]*slot
	classes map[string]*class
}

// A step is what is done next about a slot. At most one of the fields is set; none: there is nothing to do now.
type step struct {
	prepare *record           // before anything is sent it is written down what its status is to say,
	place   *v1alpha1.Applied // its place; nil: that nobody knows what the server has
	upsert  *want
	adopt   *want        // the server has it already, by another object
	remove  []dnshook.ID // the server is to have these no more
	free    []evidence   // of these; without remove they are forgotten only
	after   time.Duration
}

// calls reports whether the server is called; the class exists then.
func (do step) calls() bool { return do.upsert != nil || do.remove != nil }

// begins reports whether a step is the first one for a slot in which no server has anything.
func (do step) begins(s *slot) bool {
	return (do.place != nil || do.upsert != nil) && len(s.holders) == 0
}

// owner is whose step it is that begins.
func (do step) owner() *record {
	if do.upsert != nil {
		return do.upsert.owner
	}
	return do.prepare
}

// evidence is one thing that a server may have of a record.
type evidence struct {
	record *record
	place  v1alpha1.Applied
}

// next decides about a slot.
func (p *plan) next(s *slot) step {
	w, known := p.want(s)
	if !known || p.classes[s.key.class] == nil {
		return step{}
	}
	var do step
	switch {
	case w != nil:
		do = p.keep(s, w)
	case len(s.holders) == 0:
		do = p.clearAgain(s)
	default:
		do = p.clear(s)
	}
	if !do.calls() && !do.begins(s) {
		if s.course != nil && (w != nil && s.confirmed == w.hash || len(s.holders) == 0) {
			s.course.upserts, s.course.removals = attempts{}, attempts{}
			s.tidy()
		}
		return do
	}
	if wait := p.wait(s, w, do); wait > 0 {
		return step{after: wait}
	}
	if r := misled(s, do); r != nil {
		return step{prepare: r}
	}
	return do
}

// wait is how long there is nothing to send yet, for what a slot is to hold and for the step that is next.
func (p *plan) wait(s *slot, w *want, do step) time.Duration {
	now, c := p.clock.Now(), s.ownCourse()
	if do.remove == nil {
		c.upserts.ResetFor(w.hash + p.classes[s.key.class].revision)
		return c.upserts.Next.Sub(now)
	}
	c.removals.ResetFor(p.classes[s.key.class].revision)
	wait := c.removals.Next.Sub(now)
	if w != nil && s.confirmed != w.hash {
		return min(wait, c.upserts.Next.Sub(now)) // the upsert has its turn, too
	}
	return wait
}

// orphaned are the holdings about which no server is asked.
func orphaned(s *slot) []evidence {
	return slices.DeleteFunc(evidenceOf(s), func(h evidence) bool { return !h.record.left(h.place) })
}

// keep brings the server to what a slot is to hold.
func (p *plan) keep(s *slot, w *want) step {
	if other := p.inTheWay(s); other != nil {
		p.look(*other)
		return step{}
	}
	r := w.owner
	if !r.prepared(w.place) {
		return step{prepare: r, place: &w.place}
	}
	if !s.loaded {
		s.loaded, s.confirmed = true, remembered(s, w)
		if s.confirmed == w.hash {
			p.wakeLeft(s)
		}
	}
	if s.confirmed != w.hash {
		upserts := &s.ownCourse().upserts
		upserts.ResetFor(w.hash + p.classes[s.key.class].revision)
		if gone := departing(s); gone.remove != nil && upserts.Slow && p.clock.Now().Before(upserts.Next) {
			return gone // who goes does not wait for what a successor cannot have
		}
		return step{upsert: w}
	}
	if r.applied == nil || !samePlace(*r.applied, w.place) || !r.applied.Confirmed {
		return step{adopt: w}
	}
	var free, gone step
	for _, h := range evidenceOf(s) {
		switch {
		case h.record == r && samePlace(h.place, w.place):
		case idOf(h.place) == idOf(w.place): // the record is somebody else's by now
			free.free = append(free.free, h)
		default:
			gone.takeOff(h)
		}
	}
	if len(gone.remove) > 0 {
		return gone
	}
	return free
}

// departing are the holdings of objects that are being deleted.
func departing(s *slot) (do step) {
	for _, h := range evidenceOf(s) {
		if h.record.deleting() {
			do.takeOff(h)
		}
	}
	return do
}

// takeOff has a step remove what a server has of a record, once for all who have it, and forget that it has.
func (do *step) takeOff(h evidence) {
	do.free = append(do.free, h)
	if !slices.Contains(do.remove, idOf(h.place)) {
		do.remove = append(do.remove, idOf(h.place))
	}
}

// clear brings the server to hold nothing in a slot, as far as it is certain that nobody wants it.
func (p *plan) clear(s *slot) step {
	var do step
	for _, h := range evidenceOf(s) {
		switch {
		case p.stays(h) && !p.awaited(s.key):
		case p.succeeded(h):
			return step{free: []evidence{h}}
		default:
			do.takeOff(h)
		}
	}
	return do
}

// stays reports whether something is not to be removed yet: what its object wants is not known, or it wants something
// else that the server does not have yet.
func (p *plan) stays(h evidence) bool {
	r := h.record
	switch {
	case r.unknown():
		return true
	case r.deleting():
		return r.settled != core.Version{} // it is not decided yet who gets the record next
	case !r.verdict.Accepted:
		return false
	}
	old, now := slotOf(h.place), r.key
	if old.fqdn == now.fqdn && old.kind != now.kind && (old.kind == "CNAME" || now.kind == "CNAME") {
		return false // the two cannot coexist, and both classes may be about one zone: the old one goes first
	}
	s := p.slots[now]
	if s == nil {
		return true
	}
	w, known := p.want(s)
	return !known || w == nil || s.confirmed != w.hash
}

// awaited reports whether somebody has been given a record that cannot stand beside this one, and has to wait for it.
func (p *plan) awaited(key slotKey) bool {
	for _, other := range excluded(key) {
		if s := p.slots[other]; s != nil {
			if w, known := p.want(s); known && w != nil {
				return true
			}
		}
	}
	return false
}

// succeeded reports whether the record at the place is, under another class of the same server, the one that is wanted
// now.
func (p *plan) succeeded(h evidence) bool {
	r := h.record
	if r.deleting() || !r.verdict.Accepted {
		return false
	}
	w, known := p.want(p.slot(r.key))
	return known && w != nil && w.place.Class != h.place.Class && servers.SameServer(w.place.Server, h.place.Server) &&
		idOf(w.place) == idOf(h.place)
}

// inTheWay returns a slot that has to be empty before this one is filled.
func (p *plan) inTheWay(s *slot) *slotKey {
	for _, key := range excluded(s.key) {
		if other := p.slots[key]; other != nil && len(other.holders) > 0 {
			return &key
		}
	}
	return nil
}

// excluded are the slots of the same name that cannot stand beside one: a CNAME stands alone (RFC 1034 §3.6.2).
func excluded(key slotKey) []slotKey {
	kinds := []string{"CNAME"}
	if key.kind == "CNAME" {
		kinds = dnshook.Types()
	}
	var out []slotKey
	for _, kind := range kinds {
		if kind != key.kind {
			out = append(out, slotKey{key.class, key.fqdn, kind})
		}
	}
	return out
}

// evidenceOf lists what the server may have in a slot, oldest object first.
func evidenceOf(s *slot) []evidence {
	var out []evidence
	for _, r := range s.holders {
		for _, a := range r.evidence() {
			if slotOf(a) == s.key {
				out = append(out, evidence{r, a})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b evidence) int { return a.record.compare(b.record) })
	return out
}

// stillLate is how long messages of who led before may arrive still; 0: none can. The protocol has no condition by
// which a server could refuse them, so what could have come late is looked at once more when nothing can any more.
func (p *plan) stillLate() time.Duration {
	return max(0, p.late().Sub(p.clock.Now()))
}

// clearAgain removes a second time what nobody wants or has in a slot.
func (p *plan) clearAgain(s *slot) step {
	if len(s.again) == 0 {
		return step{}
	}
	if late := p.stillLate(); late > 0 {
		return step{after: late}
	}
	return step{remove: s.again}
}

// removedAgain follows a removal: it is made once more where who led before may have sent what was removed.
func (p *plan) removedAgain(s *slot, do step) {
	switch {
	case p.stillLate() > 0:
		s.again = append(s.again, do.remove...)
	case len(do.free) == 0:
		if s.again = nil; len(s.claims)+len(s.holders) == 0 {
			delete(p.slots, s.key)
		}
	}
}
