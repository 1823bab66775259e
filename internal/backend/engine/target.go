package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A target is one place that holds one zone, and its worker.
type target struct {
	engine  *Engine
	key     backend.TargetKey
	overlay bool // see spot
	server  *server

	// Guarded by Engine.mu.
	attachments map[string]*attachment
	dirty       map[rr.Key]struct{} // sets to compare, as the content changed
	all         bool                // compare every set; dirty is empty then
	queued      bool
	paused      bool // in no queue, as the other worker of the place runs; queued is set
	running     bool
	again       bool // woken while running
	forced      bool // and so even after a failure
	failures    int  // in a row
	failed      time.Time
	class       backend.ErrorClass // of the last failure
	delay       delay
	audit       time.Time          // when the next one is due; zero: none
	rest        time.Time          // until then changes gather
	gone        map[rr.Key]parting // of an overlay: the sets to delete
	sending     []rr.Key           // of an overlay: what the run under way may send
	incoming    []written          // ledgers of new attachments
	claimed     []rr.Sets          // the same of those that are exact
	standing    Standing           // as of the last run

	state state // of the worker; belongs to whoever runs it
}

// state is what the worker knows of the server. Only a run touches it, and runs follow one another.
type state struct {
	known   bool    // have is what the server holds
	have    rr.Sets // without types that nobody may write
	soa     rr.SOA  // zero: not known
	given   uint32  // the serial that was sent last; 0: none
	create  bool    // the server does not have the zone; the next batch makes it
	holder  *Feed   // whose content was delivered last
	heir    bool    // the target may have sets on behalf of another, which are not in its own ledger
	seq     uint64  // confirmed
	left    rr.Sets // sets that stay although nobody wants them (plan.Plan.Left)
	foreign int
	untaken int       // of these, see Report.Untaken
	written rr.Sets   // the ledger
	exact   bool      // nobody but exact attachments is there
	claims  rr.Sets   // what joins it, as far as the server has it so: see Attachment.Exact
	late    time.Time // when have is to be read again; zero: it is not. See Config.Late
	sent    rr.Sets   // of an overlay, as far as it was this process
	shared  bool      // have and written share memory with the wanted sets, but for drift changes since
	drift   int

	refused    refusals
	brake      brake
	overlaid   map[rr.Key]struct{} // refused because an overlay has them
	difference *Difference
	diffGen    int
	pending    *pending       // is asked for; nil: nothing is
	behind     *pending       // what was made last since, nil if nothing was
	unverified []plan.Change  // applied, not read back yet
	base       *backend.Known // what was there before them; nil: nothing was applied since the last reading
	conflicts  int            // in a row
	// have is what was there before another writer, whom a conflict has shown, or before an answer was lost
	raced    bool
	maybe    map[rr.Key]struct{} // of batches whose answers were lost: who has changed them is not known
	complete bool                // the last run delivered all there was, and has confirmed it
	err      error               // of the last run
}

// written is the ledger of a feed.
type written struct {
	feed *Feed
	sets rr.Sets
}

// attachment is an Attachment in use.
type attachment struct {
	Attachment
	leaving  bool // withdrawn
	parting  bool // and the run under way knows it
	denied   bool // its credentials did not suffice
	err      error
	reported reported
	fresh    bool // heard nothing yet
}

func newTarget(e *Engine, at spot) *target {
	key := at.TargetKey
	s := e.servers[key.Server]
	if s == nil {
		s = &server{name: key.Server, limit: e.cfg.PerServer, failing: map[*target]bool{}}
		s.delay.what = s
		e.servers[key.Server] = s
	}
	s.targets++
	t := &target{engine: e, key: key, overlay: at.overlay, server: s, attachments: map[string]*attachment{},
		all: !at.overlay}
	t.dirty, t.gone, t.state.overlaid = map[rr.Key]struct{}{}, map[rr.Key]parting{}, map[rr.Key]struct{}{}
	t.delay.what = t
	return t
}

// fire runs a target whose time has come.
func (t *target) fire(e *Engine) {
	if !t.queued && !t.running {
		e.enqueue(t)
	}
}

// attach adds or replaces an attachment. Engine.mu is held, as for all of this file.
func (t *target) attach(a Attachment) {
	if old := t.attachments[a.Name]; old != nil {
		t.unhook(old.Feed)
	}
	switch {
	case a.Written.Len() == 0:
	case a.Exact:
		t.claimed = append(t.claimed, a.Written)
	default:
		t.incoming = append(t.incoming, written{a.Feed, a.Written})
	}
	a.Keep = a.Keep && !t.overlay
	a.Written = rr.Sets{} // it is as large as the zone, and is handed over
	t.attachments[a.Name] = &attachment{Attachment: a, leaving: a.Withdraw, fresh: true}
	a.Feed.attached[t]++
	if n := a.Backend.Limits().Concurrency; n > 0 {
		t.server.limit = n
	}
	t.markAllDirty()
}

// detach forgets an attachment.
func (t *target) detach(name string) {
	t.unhook(t.attachments[name].Feed)
	delete(t.attachments, name)
	t.markAllDirty()
}

func (t *target) unhook(f *Feed) {
	if f.attached[t]--; f.attached[t] == 0 {
		delete(f.attached, t)
	}
}

// holder returns the attachment that does the work: of those that stay the one of the oldest feed, and of its
// attachments the oldest whose credentials work; else of those that leave; else of those that only observe. Nil when
// there is none.
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
		cmp.Compare(ordinal(a.denied), ordinal(b.denied)),
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

// ordinal orders false before true.
func ordinal(is bool) int {
	if is {
		return 1
	}
	return 0
}

// holdingFeed returns the feed whose content the target gets.
func (t *target) holdingFeed() *Feed {
	if a := t.holder(); a != nil {
		return a.Feed
	}
	return nil
}

// manyDirty is from how many dirty sets on, and from which part of the zone, comparing all is cheaper.
const manyDirty, dirtyPart = 4096, 4

// markDirty adds sets to compare; nil means any. The zone wants size sets.
func (t *target) markDirty(keys []rr.Key, size int) {
	if t.all {
		return
	}
	if !t.overlay && (keys == nil || len(t.dirty)+len(keys) > max(manyDirty, size/dirtyPart)) {
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
	if !t.overlay {
		t.all, t.dirty = true, nil
	}
}

// dirtyKeys takes the sets that are dirty. Engine.mu is held.
func (t *target) dirtyKeys() []rr.Key {
	keys := slices.Collect(maps.Keys(t.dirty))
	t.all, t.dirty = false, nil
	if t.overlay {
		t.dirty = map[rr.Key]struct{}{}
	}
	return keys
}
