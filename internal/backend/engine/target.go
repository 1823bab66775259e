package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// A target is what is to be done at one place that holds one zone, and when. Its worker does it.
type target struct {
	spot
	scheduler   *scheduler
	server      *server
	run         func() // of its worker
	attachments map[string]*attachment

	turn
	setback
	comparison
	overlaid
	standing Standing // as of the last run
}

// turn is when a target runs.
type turn struct {
	queued  bool
	paused  bool // in no queue, as the other worker of the place runs; queued is set
	running bool
	again   bool // woken while running
	forced  bool // and so even after a failure
	delay   delay
	audit   time.Time // when the next one is due; zero: none
	rest    time.Time // until then changes gather
}

// setback is how the last runs of a target failed.
type setback struct {
	failures int // in a row
	failed   time.Time
	class    backend.ErrorClass // of the last failure
}

// comparison is what of a server has to be compared with what is wanted.
type comparison struct {
	dirty    map[rr.Key]struct{} // sets to compare, as the content changed
	all      bool                // compare every set; dirty is empty then
	incoming []written           // ledgers of new attachments
	claimed  []rr.Sets           // the same of those that are exact
}

// overlaid is what an overlay has at a target.
type overlaid struct {
	gone     map[rr.Key]parting  // the sets to delete
	unproved map[rr.Key]struct{} // the sets that are to be brought there for the first time
	sending  []rr.Key            // what the run under way may send
}

// attachment is an Attachment in use, which does not change itself.
type attachment struct {
	Attachment
	feed     *feed
	leaving  bool // withdrawn
	parting  bool // and the run under way knows it
	known    bool // to the run under way, or the last one: it says nothing of an attachment that came later
	denied   int  // how often in a row its credentials did not suffice
	err      error
	reported reported
	fresh    bool // heard nothing yet
}

func (s *scheduler) newTarget(at spot) *target {
	server := s.servers[at.Server]
	if server == nil {
		server = newServer(at.Server, s.engine.cfg.PerServer)
		s.servers[at.Server] = server
	}
	server.targets++
	t := &target{spot: at, scheduler: s, server: server, attachments: map[string]*attachment{},
		comparison: comparison{all: !at.overlay(), dirty: map[rr.Key]struct{}{}},
		overlaid:   overlaid{gone: map[rr.Key]parting{}, unproved: map[rr.Key]struct{}{}}}
	t.run = newWorker(s.engine, t).run
	t.delay.what = t
	s.targets[at] = t
	s.places[at.TargetKey] = append(s.places[at.TargetKey], t)
	slices.SortFunc(s.places[at.TargetKey], func(a, b *target) int { return cmp.Compare(a.over, b.over) })
	return t
}

// fire runs a target whose time has come.
func (t *target) fire(s *scheduler) {
	if !t.queued && !t.running {
		s.enqueue(t)
	}
}

// attach adds or replaces an attachment.
func (t *target) attach(a Attachment) {
	if old := t.attachments[a.Name]; old != nil {
		t.unhook(old.feed)
	}
	switch {
	case a.Written.Len() == 0:
	case a.Exact:
		t.claimed = append(t.claimed, a.Written)
	default:
		t.incoming = append(t.incoming, written{a.Feed, a.Written})
	}
	a.Keep = a.Keep && !t.overlay()
	a.Written = rr.Sets{} // it is as large as the zone, and is handed over
	f := a.Feed.inner.In(t.scheduler)
	t.attachments[a.Name] = &attachment{Attachment: a, feed: f, leaving: a.Withdraw, fresh: true}
	f.attached[t]++
	if n := a.Backend.Limits().Concurrency; n > 0 {
		t.server.limit = n
	}
	t.markAllDirty()
}

// detach forgets an attachment.
func (t *target) detach(name string) {
	t.unhook(t.attachments[name].feed)
	delete(t.attachments, name)
	t.markAllDirty()
}

func (t *target) unhook(f *feed) {
	if f.attached[t]--; f.attached[t] == 0 {
		delete(f.attached, t)
	}
}

// holder returns the attachment that does the work: of those that stay the one of the oldest feed, and of its
// attachments the oldest whose credentials work, or if none do, each in turn; else of those that leave; else of those
// that only observe. Nil when there is none.
func (t *target) holder() *attachment {
	var best *attachment
	for _, a := range t.attachments {
		if best == nil || a.before(best) {
			best = a
		}
	}
	return best
}

func (a *attachment) before(b *attachment) bool {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		a.Feed.since.Compare(b.Feed.since),
		cmp.Compare(a.Feed.id, b.Feed.id),
		cmp.Compare(a.denied, b.denied),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Name, b.Name),
	) < 0
}

func (a *attachment) rank() int {
	rank := 0
	if a.leaving {
		rank++
	}
	if a.Observe {
		rank += 2
	}
	return rank
}

// exact reports whether nobody but exact attachments is there.
func (t *target) exact() bool {
	for _, a := range t.attachments {
		if !a.Exact {
			return false
		}
	}
	return true
}

// holdingFeed returns the feed whose content the target gets.
func (t *target) holdingFeed() *feed {
	if a := t.holder(); a != nil {
		return a.feed
	}
	return nil
}

// checks reports whether a run is only to see that the server has what an earlier run of the operator has published.
func (t *target) checks() bool {
	a := t.holder()
	return a != nil && !a.leaving && a.feed.seq > 0 && a.feed.stored.ID == a.feed.wantID
}

// manyDirty is from how many dirty sets on, and from which part of the zone, comparing all is cheaper.
const manyDirty, dirtyPart = 4096, 4

// markDirty adds sets to compare; nil means any. The zone wants size sets.
func (t *target) markDirty(keys []rr.Key, size int) {
	if t.all {
		return
	}
	if !t.overlay() && (keys == nil || len(t.dirty)+len(keys) > max(manyDirty, size/dirtyPart)) {
		t.markAllDirty()
		return
	}
	if t.dirty == nil {
		t.dirty = make(map[rr.Key]struct{}, len(keys))
	}
	for _, k := range keys {
		t.dirty[k] = struct{}{}
	}
}

// markAllDirty has every set compared. An overlay compares none: it sends what it is given.
func (t *target) markAllDirty() {
	if !t.overlay() {
		t.all, t.dirty = true, nil
	}
}

// dirtyKeys takes the sets that are dirty.
func (t *target) dirtyKeys() []rr.Key {
	keys := slices.Collect(maps.Keys(t.dirty))
	t.all, t.dirty = false, nil
	if t.overlay() {
		t.dirty = map[rr.Key]struct{}{}
	}
	return keys
}
