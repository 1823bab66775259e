package delivery

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// hear takes in the engine's news, and returns what tells those whom it concerns, without the lock; nil: nobody.
func (st *state) hear(l *zoneFeed, r engine.Report) (tell func()) {
	key := attachmentKey{l.placeOf(r.Name), r.Target}
	a := l.at[key]
	switch {
	case a == nil, r.Version != a.version:
		return nil
	case r.Withdrawn:
		return st.hearWithdrawn(l, key)
	}
	before := cmp.Or(a.report, &engine.Report{})
	failed := r.Err != nil && (before.Err == nil || before.Err.Error() != r.Err.Error())
	// every claim of the zone has to be told that one more Backend has it, or why it has nothing
	all := before.Seq == 0 && (r.Seq > 0 || failed)
	left := l.zone.Kind == KindLeft // its Backend says how that stands
	ofPlace := left || (before.Err == nil) != (r.Err == nil) || declined(before.Err) != declined(r.Err) ||
		r.Seq > 0 && before.Seq == 0
	if failed && a.leaving && !left {
		st.queue.Enqueue(l.zone) // it may have waited long enough
	}
	a.report, a.unread = &r, a.unread && r.Err != nil
	claims := st.confirm(l)
	if l.unheard > 0 && l.done >= l.unheard {
		l.unheard, all = 0, true
	}
	refused := append(changedRefusals(before.Refused, r.Refused), l.told()...)
	if failed {
		claims = append(claims, slices.Collect(maps.Keys(l.waits))...)
	}
	opened, o := st.opening.arrived(l.zone, st.zones[l.zone]), st.outside
	return func() {
		if ofPlace {
			o.onPlace(key.place)
		}
		if opened != nil {
			opened()
		}
		o.settled(claims)
		o.changed(l.zone)
		switch {
		case all:
			o.refresh(l.zone)
		case len(refused) > 0:
			o.refreshSets(l.zone, refused)
		}
	}
}

// hearWithdrawn takes in that a server has a zone no more.
func (st *state) hearWithdrawn(l *zoneFeed, key attachmentKey) (tell func()) {
	delete(l.at, key)
	l.rid[key] = struct{}{}
	st.queue.Enqueue(l.zone)
	last, o := l.live && len(l.at) == 0, st.outside
	return func() {
		o.onPlace(key.place) // it has one Zone less
		if last {
			o.refresh(l.zone) // the claims are served nowhere
		}
	}
}

// changedRefusals returns the sets that a server refuses otherwise than before, or not any more.
func changedRefusals(before, now map[rr.Key]engine.Refusal) []rr.Key {
	var keys []rr.Key
	for key, r := range now {
		if before[key] != r {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, still := now[key]; !still {
			keys = append(keys, key)
		}
	}
	return keys
}

// confirmable reports whether anybody is going to confirm what is published.
func (l *zoneFeed) confirmable() bool {
	for _, a := range l.at {
		if !a.observe && !a.leaving {
			return true
		}
	}
	return false
}

// failing reports whether the last attempt at some place has failed.
func (l *zoneFeed) failing() bool {
	for _, a := range l.at {
		if a.report != nil && a.report.Err != nil {
			return true
		}
	}
	return false
}

// confirm works out what is confirmed everywhere and returns the claims to be told.
func (st *state) confirm(l *zoneFeed) []zone.ID {
	l.done = 0
	if l.confirmable() {
		l.done = l.seq
	}
	for _, a := range l.at {
		switch {
		case a.observe || a.leaving:
		case a.report == nil:
			l.done = 0
		default:
			l.done = min(l.done, a.report.Seq)
		}
	}
	l.share()
	var claims []zone.ID
	for len(l.waiting) > 0 && l.waiting[0].seq <= l.done {
		for _, claim := range l.waiting[0].claims {
			if l.waits[claim] == l.waiting[0].seq {
				delete(l.waits, claim)
				claims = append(claims, claim)
			}
		}
		l.waiting = l.waiting[1:]
	}
	l.arrive(st.clock())
	for len(l.times) > 0 && l.times[0].seq <= l.done {
		st.metrics.Confirmed(st.clock().Sub(l.times[0].at))
		l.times = l.times[1:]
	}
	return claims
}

// track notes that a content was published now, unless so many are on their way that a server seems to be away.
func (st *state) track(l *zoneFeed) {
	if l.confirmable() && l.seq > l.done && len(l.times) < mostTraced &&
		(len(l.times) == 0 || l.times[len(l.times)-1].seq < l.seq) {
		l.times = append(l.times, published{l.seq, st.clock()})
	}
}

// wait notes which claims wait for which content.
func (st *state) wait(s core.Settlement) {
	byLine := map[*zoneFeed][]zone.ID{}
	var others []zone.ID
	seen := make(map[zone.ID]bool, len(s.Inputs)+len(s.Delta.Verdicts))
	look := func(id zone.ID) {
		if seen[id] {
			return
		}
		seen[id] = true
		v, ok := s.View.Verdict(id)
		if z := st.zones[v.Serving()]; ok && v.Accepted && id.Kind != zone.KindZone && z != nil {
			if l := z.current(); l != nil {
				byLine[l] = append(byLine[l], id)
				return
			}
		}
		others = append(others, id)
	}
	for _, o := range s.Inputs {
		look(o.ID)
	}
	for _, id := range s.Delta.Verdicts {
		look(id)
	}
	defer st.traceStep(s)
	for l, claims := range byLine {
		st.track(l)
		heard := l.confirmable()
		if !heard {
			l.unheard = l.seq
		}
		if l.seq <= l.done || !heard {
			others = append(others, claims...)
			continue
		}
		l.sweep(s.View)
		l.waiting = append(l.waiting, waiting{l.seq, claims})
		for _, claim := range claims {
			l.waits[claim] = l.seq
		}
		if l.failing() { // the next attempt that fails alike is no news
			others = append(others, claims...)
		}
	}
	st.settled(others)
}

// leastSwept is how many contents claims wait for without a look at whether they still do.
const leastSwept = 64

// sweep drops claims that wait for a newer content by now, or for none of this Zone. It does so whenever there are
// twice as many contents as were left: while a server is away, claims may change and go for weeks.
func (l *zoneFeed) sweep(w *zone.World) {
	if len(l.waiting) < l.swept {
		return
	}
	var still []waiting
	for _, at := range l.waiting {
		at.claims = slices.DeleteFunc(at.claims, func(claim zone.ID) bool {
			if l.waits[claim] != at.seq {
				return true
			}
			v, known := w.Verdict(claim)
			gone := !known || !v.Accepted || v.Serving() != l.zone
			if gone {
				delete(l.waits, claim)
			}
			return gone
		})
		if len(at.claims) > 0 {
			still = append(still, at)
		}
	}
	l.waiting, l.swept = still, max(leastSwept, 2*len(still))
}
