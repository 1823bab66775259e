package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// ZoneOutcome says whether a Zone is served, and where it stands with each Backend.
func (d *Deliveries) ZoneOutcome(id zone.ID) ZoneOutcome {
	out := d.outcomeOf(id)
	if out.Served.Reason == controller.ReasonServed && d.behind != nil {
		if o := d.behind(id, out.Label.Serial); o != nil {
			out.Served = *o
		}
	}
	return out
}

func (d *Deliveries) outcomeOf(id zone.ID) ZoneOutcome {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		unseen := controller.Not(controller.ReasonPending, "The operator has not looked at it yet.")
		return ZoneOutcome{Served: unseen, Leaving: true}
	}
	l := z.feeds[z.snapshot.Name]
	out := ZoneOutcome{Known: z.known, Leaving: !z.known || z.accepted && l == nil}
	if z.accepted && l != nil && l.held {
		out.Leaving = true // what is written down may be what servers have
	} else if z.accepted && l != nil {
		out.Snapshot = z.snapshot
		if label, ok := l.feed.Label(); ok {
			out.Label = label
		}
		out.Confirmed = l.confirmed() && l.clean()
		out.Lingering, out.Refused = lingering(l), l.refused()
	}
	for _, other := range z.feeds {
		out.Leaving = out.Leaving || other != l || !l.live
		for _, a := range other.at {
			out.Keeping = out.Keeping || a.keep
		}
		for _, name := range other.owed {
			p := st.places[name]
			out.Keeping = out.Keeping || p != nil && p.Keep
		}
	}
	out.Places, out.Held = st.placesOf(z), z.held()
	out.Served = z.served(l)
	if z.frozen != nil && z.accepted {
		out.Frozen = z.frozen.outcome(id)
		if out.Frozen.Waiting > 0 && out.Served.Reason == controller.ReasonServed {
			out.Served = controller.Not(controller.ReasonFrozen, out.Frozen.Condition().Message)
		}
	}
	return out
}

// ZoneOutcome is what came of the delivery of a Zone.
type ZoneOutcome struct {
	Served    controller.Outcome
	Snapshot  zone.Snapshot // zero: not delivered under any name
	Label     engine.Label  // serial and content that it labels
	Confirmed bool          // the newest content everywhere, and no server may have anything else
	Lingering []rr.Key      // sets that a server did not let go
	Refused   []Refused     // what servers do not take
	Leaving   bool          // something is being withdrawn, or may have to be: it is not known yet
	Keeping   bool          // a Backend keeps foreign sets, so the ledger matters
	Frozen    *FrozenOutcome
	Known     bool // what earlier terms have delivered is among Places
	Places    []PlaceOutcome
	Held      *Held // nil: nothing is
}

// PlaceOutcome is what one Backend has confirmed.
type PlaceOutcome struct {
	Delivered
	Serial          uint32 // 0: none yet
	Reason, Message string // why it is behind; "" when it is not
}

// confirmed reports whether every server has the newest content.
func (l *zoneFeed) confirmed() bool { return l.seq > 0 && l.done >= l.seq && len(l.owed) == 0 }

// clean reports whether servers that have confirmed the content have nothing else, and none is still to lose the zone.
// Until then the ledger is needed.
func (l *zoneFeed) clean() bool {
	for _, a := range l.at {
		if a.leaving || a.unread {
			return false
		}
	}
	return true
}

func lingering(l *zoneFeed) []rr.Key {
	var out []rr.Key
	for _, a := range l.at {
		if a.report != nil {
			out = append(out, a.report.Lingering...)
		}
	}
	return out
}

// Refused are the sets that a server of a Backend does not take, among them deletions and what Held is about. The map
// never changes.
type Refused struct {
	Place string // as people call it
	Sets  map[rr.Key]engine.Refusal
}

// Outcome says why a Backend does not take a set.
func (r Refused) Outcome(key rr.Key) *controller.Outcome { return refused(r.Place, key, r.Sets[key]) }

func (l *zoneFeed) refused() []Refused {
	var out []Refused
	for _, a := range l.at {
		if a.report != nil && len(a.report.Refused) > 0 && !a.leaving && !a.observe {
			out = append(out, Refused{a.place, a.report.Refused})
		}
	}
	return out
}

// placesOf tells also of what is about to be attached: a status that leaves it out undoes what Hold has stored.
func (st *state) placesOf(z *delivery) []PlaceOutcome {
	var out []PlaceOutcome
	for name, l := range z.feeds {
		for key, a := range l.at {
			p := PlaceOutcome{Delivered: Delivered{key.place, name}}
			p.Serial = l.serialAt(a)
			if o := l.behind(a, l.seq); o != nil {
				p.Reason, p.Message = o.Reason, o.Message
			} else {
				p.Message = untaken(a.report.Untaken)
			}
			out = append(out, p)
		}
		for _, place := range l.owed {
			out = append(out, st.places.owes(z, l, place))
		}
	}
	for _, where := range z.intended {
		if !slices.ContainsFunc(out, func(p PlaceOutcome) bool {
			return p.Delivered == where && p.Reason != controller.ReasonObserving // it is not to observe any more
		}) {
			out = append(out, PlaceOutcome{Delivered: where, Reason: controller.ReasonPending})
		}
	}
	slices.SortFunc(out, func(a, b PlaceOutcome) int {
		if c := compareDelivered(a.Delivered, b.Delivered); c != 0 {
			return c
		}
		return -strings.Compare(a.Reason, b.Reason) // of several servers the one that is behind comes first
	})
	return slices.CompactFunc(out, func(a, b PlaceOutcome) bool { return a.Delivered == b.Delivered })
}

// untaken counts, for people, the sets that an external-dns has left and no object asks for.
func untaken(sets int) string {
	switch sets {
	case 0:
		return ""
	case 1:
		return "1 set of the adopted external-dns is in no object, and stays."
	}
	return fmt.Sprintf("%d sets of the adopted external-dns are in no object, and stay.", sets)
}

// serialAt returns the serial whose content a server has confirmed, 0 if there is none. For one with serials of its own
// it is the zone's, and stays the one before until it has the content of the next.
func (l *zoneFeed) serialAt(a *attached) uint32 {
	switch label, ok := l.feed.Label(); {
	case a.report == nil || a.report.Seq == 0:
		return 0
	case a.client.Limits().SOA == backend.SOAClient:
		return a.report.Serial
	case ok && a.report.Seq >= label.Seq:
		a.confirmed = label.Serial
	}
	return a.confirmed
}

// owes says where a Backend stands that has what an earlier run published, and that
// nobody has attached to since.
func (ps places) owes(z *delivery, l *zoneFeed, place string) PlaceOutcome {
	p := PlaceOutcome{Delivered: Delivered{place, l.name}, Reason: controller.ReasonWithdrawing, Message: z.problem}
	if at := ps[place]; l.live && at != nil && at.Problem != nil {
		p.Reason, p.Message = controller.ReasonBackendNotReady, at.Problem.Message
	}
	return p
}

// served sums up one feed up to its newest content.
func (z *delivery) served(l *zoneFeed) controller.Outcome {
	if l == nil || !l.live {
		return z.withdrawing()
	}
	return z.reached(l, l.seq, nil)
}

// withdrawing says what a Zone that is not delivered any more, or not yet, waits for.
func (z *delivery) withdrawing() controller.Outcome {
	message := z.problem
	for _, l := range z.feeds {
		for _, a := range l.at {
			o := l.behind(a, 0)
			if o != nil && a.leaving && (message == "" || o.Message < message) {
				message = o.Message
			}
		}
	}
	if message != "" {
		return controller.Not(controller.ReasonWithdrawing, message)
	}
	return controller.Not(controller.ReasonPending, "It is about to be delivered.")
}

// Reached says whether the set that a claim is part of is served as the claim asks.
func (d *Deliveries) Reached(home, claim zone.ID, key rr.Key) controller.Outcome {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[home]
	l := z.current()
	if l == nil {
		return controller.Not(controller.ReasonPending, "It is about to be delivered.")
	}
	if o := z.waits(key); o != nil {
		return *o
	}
	return z.reached(l, l.asked(claim, key), &key)
}

// asked returns the content from which on the set of a claim is as the claim asks.
func (l *zoneFeed) asked(claim zone.ID, key rr.Key) uint64 {
	seq, waits := l.waits[claim]
	if !waits {
		seq = l.done // it was confirmed when it last changed
	}
	if _, thawed := l.thawed[key]; thawed {
		seq = max(seq, l.thawedAt)
	}
	return max(seq, l.unheard)
}

// reached sums up the attachments of a feed: what is wrong with one of them, then
// which Backends are lacking, then what is still on its way.
func (z *delivery) reached(l *zoneFeed, seq uint64, key *rr.Key) controller.Outcome {
	if len(l.at) == 0 {
		return z.nowhere(l)
	}
	var observers, names []string
	var worst *controller.Outcome
	for p, a := range l.at {
		if a.leaving {
			continue
		}
		if a.observe {
			observer := a.place + " only observes"
			if key == nil { // the difference is the zone's
				observer += ": " + difference(a.report)
			}
			observers = append(observers, observer)
			continue
		}
		names = append(names, p.place)
		o := l.behind(a, seq)
		if o == nil && key != nil {
			o = refused(a.place, *key, a.report.Refused[*key])
		}
		if o != nil && (worst == nil || o.Worse(*worst)) {
			worst = o
		}
	}
	slices.Sort(observers)
	slices.Sort(names)
	switch {
	case worst != nil && worst.Reason != controller.ReasonPending:
		return *worst
	case z.lacks != nil:
		return *z.lacks
	case worst != nil:
		return *worst
	case len(names) == 0 && len(observers) > 0:
		return controller.Not(controller.ReasonObserving,
			"Nothing is written. "+strings.Join(slices.Compact(observers), ". ")+".")
	case len(names) == 0:
		return controller.Not(controller.ReasonWithdrawing, "It is being withdrawn.")
	}
	return controller.OK(controller.ReasonServed, "Served by "+strings.Join(slices.Compact(names), ", ")+".")
}

// refused says why a Backend does not take a set, nil if it does.
func refused(place string, key rr.Key, why engine.Refusal) *controller.Outcome {
	var o controller.Outcome
	switch {
	case why.Reason == "":
		return nil
	case why.Cause == backend.CauseHeld:
		o = controller.Not(controller.ReasonCreateOnly, fmt.Sprintf("%s does not get %s: %s.", place, key, why.Reason))
	case why.Cause == backend.CauseOwned:
		o = controller.Not(controller.ReasonOwned, fmt.Sprintf("%s does not get %s: %s.", place, key, why.Reason))
	default:
		o = controller.Not(controller.ReasonRejected, fmt.Sprintf("%s does not take %s: %s", place, key, why.Reason))
	}
	return &o
}

// behind says why an attachment has not confirmed the content up to seq, nil if it has.
func (l *zoneFeed) behind(a *attached, seq uint64) *controller.Outcome {
	var o controller.Outcome
	switch r := a.report; {
	case l.held && !a.leaving && !a.observe:
		o = controller.Not(controller.ReasonFrozen, fmt.Sprintf(
			"%s was frozen before it was published, or its published content is no longer known; %s gets nothing until it is "+
				"thawed.", l.name, a.place))
	case a.leaving && a.without != nil:
		o = controller.Not(a.without.Reason,
			fmt.Sprintf("%s cannot be withdrawn from %s: %s", l.name, a.place, a.without.Message))
	case a.leaving && r != nil && r.Err != nil:
		o = controller.Not(controller.ReasonOf(backend.Class(r.Err)),
			fmt.Sprintf("%s cannot be withdrawn from %s (%s): %s.", l.name, a.place, a.server, cause(r.Err)))
	case a.leaving:
		o = controller.Not(controller.ReasonWithdrawing, fmt.Sprintf("%s is being withdrawn from %s.", l.name, a.place))
	case a.observe:
		o = controller.Not(controller.ReasonObserving, "Nothing is written: "+difference(r)+".")
	case r != nil && r.Seq > 0 && r.Seq >= seq:
		return nil
	case a.without != nil:
		o = controller.Not(controller.ReasonBackendNotReady, fmt.Sprintf("%s cannot be used: %s", a.place, a.without.Message))
	case r != nil && r.Err != nil:
		o = controller.Not(controller.ReasonOf(backend.Class(r.Err)),
			fmt.Sprintf("%s (%s) does not serve %s: %s.", a.place, a.server, l.name, cause(r.Err)))
	default:
		o = controller.Not(controller.ReasonPending, fmt.Sprintf("%s is about to receive it.", a.place))
	}
	return &o
}

// cause is what a server said and what to do about it, without what is said already: the zone, the server and the
// class, which is the reason.
func cause(err error) string {
	e, ok := errors.AsType[*backend.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Words != "" && e.Err != nil:
		return e.Words + ": " + backend.Steady(e.Err)
	case e.Err != nil:
		return backend.Steady(e.Err)
	}
	return cmp.Or(e.Words, string(e.Class))
}

func difference(r *engine.Report) string {
	if r == nil || r.Difference == nil {
		return "the difference is not known yet"
	}
	sets := "sets"
	if r.Difference.Added == 1 {
		sets = "set"
	}
	return fmt.Sprintf("it would add %d %s, change %d and delete %d", r.Difference.Added, sets, r.Difference.Changed,
		r.Difference.Deleted)
}
