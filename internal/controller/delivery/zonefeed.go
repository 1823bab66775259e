package delivery

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A zoneFeed is the delivery of a Zone under one name. A Zone has one that is live, and others only while they are
// withdrawn, after it was renamed.
type zoneFeed struct {
	id   string // of the feed
	zone zone.ID
	name dnsname.Name
	feed *engine.Feed
	live bool
	at   map[attachmentKey]*attached
	sets rr.Sets // the newest content
	departures
	ledger
	thaw
	progress

	approved []string // plans of deletions that somebody has approved
	signed   bool     // see Stored
}

// departures are servers that the feed leaves, or has left.
type departures struct {
	ending map[attachmentKey]struct{} // get what is new, and nobody waits for them: see Server.Ending
	owed   []string                   // Places that have, or had, something of it that nobody is attached for now
	rid    map[attachmentKey]struct{} // come and go, and it was withdrawn from them
}

// ledger is what servers that keep foreign sets may have of ours.
type ledger struct {
	written rr.Sets
	larger  bool // it may have more than those servers
	exact   bool // of it, only what a server still holds as it was written is ours
}

// thaw is what a Zone that was frozen waits for.
type thaw struct {
	held     bool                // nothing is published: it was frozen before anything was
	thawed   map[rr.Key]struct{} // the sets that waited when it was thawed, until they are confirmed
	thawedAt uint64              // what published them; 0: nothing yet
}

// progress is how far the servers are, by the numbers of contents.
type progress struct {
	seq     uint64 // newest published
	done    uint64 // newest confirmed everywhere
	unheard uint64 // newest that was published while nobody was to confirm it, and that is not confirmed yet; 0: none
	times   []published
	waiting []waiting
	waits   map[zone.ID]uint64 // what each waiting claim waits for
	swept   int                // at so many waiting the others are dropped
	traced  []traced           // changes that are followed, by seq
}

// current returns the feed under the name that the Zone has now, nil if it is not delivered, or not known.
func (z *delivery) current() *zoneFeed {
	if z == nil {
		return nil
	}
	if l := z.feeds[z.snapshot.Name]; l != nil && l.live {
		return l
	}
	return nil
}

// An attachmentKey is one server of one Backend.
type attachmentKey struct {
	place  string
	target backend.TargetKey
}

// attached is what is known about one attachment.
type attached struct {
	client backend.Backend
	place  string // what people call the Place,
	server string // and the server
	kind   string
	since  time.Time
	terms
	leaving bool
	without *controller.Outcome // why nothing is sent with the client any more; nil: it is used
	report  *engine.Report
	unread  bool // the server may have more than it had when it was last read

	version   uint64 // of reports about it
	confirmed uint32 // serial of the zone, of a server with serials of its own: see serialAt
}

// terms are how a Zone is delivered to a Place.
type terms struct {
	observe    bool
	keep       bool
	registry   *registry.Registry
	audit      time.Duration
	restore    bool // what is held comes back where it is lost
	protection plan.Protection
	approved   []string
}

// published says when a content was published, for the time until it is served.
type published struct {
	seq uint64
	at  time.Time
}

// waiting are claims to be told when a content is confirmed.
type waiting struct {
	seq    uint64
	claims []zone.ID
}

func (st *state) addFeed(z *delivery, name dnsname.Name, stored Stored) *zoneFeed {
	l := &zoneFeed{id: z.id.String() + " " + name.String(), zone: z.id, name: name, at: map[attachmentKey]*attached{}}
	l.ending, l.rid = map[attachmentKey]struct{}{}, map[attachmentKey]struct{}{}
	l.waits = map[zone.ID]uint64{}
	config := engine.FeedConfig{ID: l.id, Zone: name, Created: stored.Created, Serial: stored.Serial,
		Ceiling: stored.Ceiling}
	l.written, l.exact = within(stored.Written(), name), stored.Exact
	if stored.Name == name {
		config.Content = stored.Content
	}
	l.feed = st.engine.NewFeed(config)
	z.feeds[name], st.feeds[l.id] = l, l
	return l
}

// within returns the sets at and below name: a ledger may still hold those of an earlier name.
func within(sets rr.Sets, name dnsname.Name) rr.Sets {
	txn := rr.Sets{}.Txn()
	for set := range sets.Under(name) {
		txn.Put(set)
	}
	return txn.Sets()
}

// deliver attaches the live feed to the wanted Places and withdraws everything else. It returns the claims to be told:
// who they waited for may be there no more.
func (st *state) deliver(z *delivery, wanted []*Place, stored Stored) []zone.ID {
	z.problem = ""
	for _, l := range z.feeds {
		l.approved, l.signed = stored.Approved, stored.Signed
	}
	live := z.accepted && !stored.Deleting
	for name, l := range z.feeds {
		if !live || name != z.snapshot.Name {
			l.live = false
			st.attach(z, l, nil)
			if len(l.at)+len(l.owed) == 0 {
				delete(z.feeds, name)
				delete(st.feeds, l.id)
				l.end(st.clock())
			}
		}
	}
	if !live {
		return nil
	}
	l := z.feeds[z.snapshot.Name]
	if l == nil {
		l = st.addFeed(z, z.snapshot.Name, stored)
		l.approved = stored.Approved
	}
	st.attach(z, l, wanted)
	if !l.live {
		l.live = true
		if l.held = z.frozen != nil && !z.frozen.holds(); !l.held {
			l.publish(z.snapshot, nil)
			l.thawedAt = l.seq
		}
		st.track(l)
		z.begin()
		for key, a := range l.at {
			if a.report != nil {
				st.onPlace(key.place) // a server that has it from before is complete again
			}
		}
	}
	return st.confirm(l)
}

// attach makes the attachments of a feed those of the wanted Places.
func (st *state) attach(z *delivery, l *zoneFeed, wanted []*Place) {
	want := map[attachmentKey]bool{}
	for _, p := range wanted {
		servers := p.at(l.name)
		for _, s := range servers {
			key := attachmentKey{p.Name, backend.TargetKey{Server: s.Name, Zone: l.name, View: s.View}}
			want[key] = true
			st.attachTo(l, key, p, s)
		}
		if len(servers) > 0 || p.Observe {
			l.owed = slices.DeleteFunc(l.owed, func(name string) bool { return name == p.Name })
		}
	}
	st.attachEnding(l, wanted)
	l.leaveUnnamed(st, wanted)
	l.follow(st, wanted)
	for _, name := range slices.Clone(l.owed) {
		if !slices.Contains(wanted, st.places[name]) { // one that is wanted and cannot be used now has it still
			st.withdrawOwed(z, l, name)
		}
	}
	for key, a := range l.at {
		if want[key] {
			continue
		}
		p := st.places[key.place]
		switch {
		case p != nil && len(p.Servers) == 0 && slices.Contains(wanted, p):
			st.updateClient(l, key, a, p) // The Backend cannot be used now; what is attached stays.
		case p == nil || a.observe || p.Observe || slices.Contains(wanted, p):
			// The Backend is gone, or has left this server, or writes nothing by now: what is there stays there.
			st.letGo(l, key)
		case a.leaving:
			st.updateClient(l, key, a, p)
		default:
			a.leaving = true
			if !st.engine.Withdraw(key.target, l.as(key.place)) {
				st.letGo(l, key)
				continue
			}
			if a.restore && l.signed {
				a.restore = false // without its fleet, it would not be signed again
				st.attachAs(l, key, a)
			}
			st.updateClient(l, key, a, p)
		}
	}
}

// letGo ends an attachment and leaves what is there.
func (st *state) letGo(l *zoneFeed, key attachmentKey) {
	st.engine.Detach(key.target, l.as(key.place))
	delete(l.at, key)
	st.onPlace(key.place) // it has one Zone less
}

// leaveUnnamed gives up servers that their Backend does not name any more. Those that come and go are gone then. Of
// others only those that a zone is withdrawn from are given up: what is there stays there, as where the zone is live.
// What was theirs is owed by the servers that the Backend names now, which may be the same under a better address, or
// come in the place of those that are gone.
func (l *zoneFeed) leaveUnnamed(st *state, wanted []*Place) {
	for key, a := range l.at {
		p := st.places[key.place]
		if p == nil || p.names(key.target) || !p.Passing && (!a.leaving || p.Problem != nil || len(p.Servers) == 0) {
			continue
		}
		st.letGo(l, key)
		served := len(p.at(l.name)) > 0 && slices.Contains(wanted, p)
		if (!p.Passing || p.restores() && !served) && !slices.Contains(l.owed, p.Name) {
			l.owed = append(l.owed, p.Name)
		}
	}
}

// follow has servers that come to a Place get what its other servers hold of a zone that is withdrawn there.
func (l *zoneFeed) follow(st *state, wanted []*Place) {
	at := map[*Place]struct{}{}
	for key := range l.at {
		if p := st.places[key.place]; p != nil && p.restores() && !slices.Contains(wanted, p) {
			at[p] = struct{}{}
		}
	}
	for p := range at {
		l.withdrawFrom(st, p)
	}
}

// attachEnding has servers that are about to end get what is new, and lets go of those that have ended.
func (st *state) attachEnding(l *zoneFeed, wanted []*Place) {
	serve := map[attachmentKey]bool{}
	for _, p := range wanted {
		for _, s := range p.Servers {
			if !s.Ending {
				continue
			}
			key := attachmentKey{p.Name, backend.TargetKey{Server: s.Name, Zone: l.name, View: s.View}}
			serve[key] = true
			if _, known := l.ending[key]; known {
				continue
			}
			st.attachTo(l, key, p, s) // a new leader may not have been before
			delete(l.at, key)
			l.ending[key] = struct{}{}
		}
	}
	for key := range l.ending {
		if !serve[key] {
			st.engine.Detach(key.target, l.as(key.place))
			delete(l.ending, key)
		}
	}
}

func (st *state) attachTo(l *zoneFeed, key attachmentKey, p *Place, s Server) {
	a := l.at[key]
	if a != nil && !a.leaving && a.client == s.Backend && a.observe == p.Observe && a.keep == (p.Keep || l.exact) &&
		a.audit == p.Audit && reflect.DeepEqual(a.registry, p.Registry) && !l.otherwiseHeld(a, p) {
		return
	}
	st.attachAs(l, key, l.newAttached(p, s))
}

// newAttached is an attachment to a server that there is not yet.
func (l *zoneFeed) newAttached(p *Place, s Server) *attached {
	return &attached{client: s.Backend, place: p.called(), server: cmp.Or(s.Title, s.Name), kind: p.Kind,
		since: p.Created, terms: terms{observe: p.Observe, keep: p.Keep || l.exact, registry: p.Registry, audit: p.Audit,
			protection: p.Protection, approved: l.approved, restore: p.Passing}}
}

// attachAs attaches a server, or does so again. What is still on its way to be heard was about what it was before.
func (st *state) attachAs(l *zoneFeed, key attachmentKey, a *attached) {
	st.attachings++
	a.version, l.at[key] = st.attachings, a
	delete(l.rid, key)
	st.engine.Attach(key.target, l.attachment(key.place, a))
}

// as is the name of the attachment to a Place: several Zones of one name may be attached to one target.
func (l *zoneFeed) as(place string) string { return place + attachedFor + l.id }

// placeOf returns the Place of an attachment.
func (l *zoneFeed) placeOf(attachment string) string {
	return strings.TrimSuffix(attachment, attachedFor+l.id)
}

const attachedFor = " for "

// attachment hands over what is in the ledger, and not what other servers have: that was never recorded where none of
// them keeps foreign sets.
func (l *zoneFeed) attachment(name string, a *attached) engine.Attachment {
	return engine.Attachment{
		Name: l.as(name), Version: a.version, Feed: l.feed, Backend: a.client, Kind: a.kind, Since: a.since,
		Keep: a.keep, Registry: a.registry, Written: l.written, Observe: a.observe, Audit: a.audit, Withdraw: a.leaving,
		Exact: l.exact, Protection: a.protection, Approved: a.approved, Restore: a.restore,
	}
}

// withdrawOwed withdraws what an earlier run has left at a Place.
func (st *state) withdrawOwed(z *delivery, l *zoneFeed, name string) {
	p := st.places[name]
	switch {
	case p == nil:
		st.log.Info("the Backend of a zone is gone; the records published there stay", "zone", l.name.String(), "at",
			name)
	case p.Observe, p.Protection.Policy != plan.PolicySync: // where nothing is written, or all stays, nothing is withdrawn
	case p.Problem != nil && (p.Kind != KindEmbedded || len(p.Servers) == 0):
		z.problem = fmt.Sprintf("%s cannot be withdrawn from %s: %s", l.name, p.called(), p.Problem.Message)
		return
	default:
		l.withdrawFrom(st, p)
	}
	l.owed = slices.DeleteFunc(l.owed, func(o string) bool { return o == name })
}

// withdrawFrom attaches the servers of a Place that have not lost it yet, so that it is withdrawn from them.
func (l *zoneFeed) withdrawFrom(st *state, p *Place) {
	for _, s := range p.at(l.name) {
		key := attachmentKey{p.Name, backend.TargetKey{Server: s.Name, Zone: l.name, View: s.View}}
		if _, rid := l.rid[key]; rid || l.at[key] != nil {
			continue
		}
		a := l.newAttached(p, s)
		a.leaving, a.restore = true, a.restore && !l.signed
		st.attachAs(l, key, a)
	}
}

// enter puts a set into a ledger. Where foreign sets are kept, the values tell which of
// the zone's name servers are ours: those that were published before stay in it.
func (l *zoneFeed) enter(ledger *rr.SetsTxn, set rr.Set) {
	if old, ok := ledger.Get(set.Key()); ok && set.Type == rr.TypeNS && set.Name == l.name {
		set = rr.NewSet(set.Key(), set.TTL, append(slices.Clone(old.Data), set.Data...)...)
	}
	ledger.Put(set)
}

// share has the ledger be what servers that keep foreign sets have, in the memory of the content, once every server has
// that and nothing else of ours: but for name servers they are the same then. What was ours before, and is no more, may
// be foreign by now at a server that is attached later.
func (l *zoneFeed) share() {
	if !l.larger || l.done < l.seq || len(l.owed) > 0 || !l.clean() {
		return
	}
	keep := false
	for _, a := range l.at {
		if a.report == nil || len(a.report.Lingering)+len(a.report.Refused) > 0 {
			return
		}
		keep = keep || a.keep && !a.observe
	}
	written := rr.Sets{}.Txn()
	if keep {
		written = l.sets.Txn()
		if old, ok := l.written.Get(rr.Key{Name: l.name, Type: rr.TypeNS}); ok {
			l.enter(written, old)
		}
	}
	l.written, l.larger = written.Sets(), false
}

func (l *zoneFeed) publish(s zone.Snapshot, changed []rr.Key) {
	l.sets, l.larger = s.Sets, l.larger || l.written.Len() > 0
	l.seq = l.feed.Publish(engine.Content{Sets: s.Sets, SOA: s.SOA, Hash: s.Hash}, changed)
}

// enterAll puts sets into the ledger.
func (l *zoneFeed) enterAll(sets []rr.Set) {
	txn := l.written.Txn()
	for _, set := range sets {
		l.enter(txn, set)
	}
	l.written, l.larger = txn.Sets(), true
}
