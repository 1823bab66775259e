package engine

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
)

// Content is what a zone should hold. It never changes after it was published.
type Content struct {
	Sets rr.Sets // without the SOA
	SOA  rr.SOA  // Serial 0; the zero SOA leaves the SOA to whoever has it
	Hash string  // over Sets: equal if and only if they are equal

	// Left is what an overlay believes to be on the server of the sets that it asserts not to be wanted any more, from an
	// earlier process: a service that deletes only what is named exactly need not be asked for them.
	Left rr.Sets
}

// ID identifies the content: the same if and only if sets and SOA are the same, across restarts.
func (c Content) ID() string {
	soa := c.SOA
	soa.Serial = 0
	return c.Hash + " " + strconv.FormatUint(uint64(soa.TTL), 10) + " " + soa.Data()
}

// FeedConfig is what a zone starts with.
type FeedConfig struct {
	ID      string // unique among feeds, the same across restarts
	Zone    dnsname.Name
	Created time.Time // age of the owner: the oldest has a target

	// Overlay says that the feed has sets of its own at its target and not the zone: those that objects overwrite without
	// asking whose they are. Its content has no SOA and its targets no audits, and what name servers learn of later
	// (Result.Pending) counts as done. See Publish.
	Overlay bool

	// What was stored by an earlier run; zero values for a new zone.
	Serial  uint32 // the last serial known to be served
	Ceiling uint32 // the last one given to CeilingStore.Raise and stored, or Serial after Settle
	Content string // Content.ID of what Serial stands for, "" when not known
}

// A Label is a serial and the content that it stands for.
type Label struct {
	Serial uint32
	Seq    uint64 // of the Publish
	ID     string // Content.ID
}

// A Feed is the wanted content of one zone, shared by all its targets, and the source of its serials. Methods are safe
// for concurrent use.
//
// A content gets its label when a target is ready to send it, not before: what is published in between is never
// labelled. All targets carry the same label for the same content; a label may move up to a higher serial, never down,
// and no serial is ever given to two contents, for each is below a ceiling that was stored before, also one that was
// found at a target. Nor do two feeds of one zone name give one serial to two contents.
type Feed struct {
	engine  *Engine
	id      string
	zone    dnsname.Name
	since   time.Time
	overlay bool
	inner   guarded.Part[scheduler, feed]
}

// feed is what a Feed wants, and has labelled.
type feed struct {
	of        *Feed
	scheduler *scheduler

	want     Content
	wantID   string
	seq      uint64    // 0: nothing published yet
	at       time.Time // when that was published
	label    Label     // ID "": none yet
	stored   Label     // from an earlier run
	told     bool      // every server had the wanted content at one time in this run: none has served what is not known
	attached map[*target]int
	kept     map[string]kept // by attachment
	ended    bool
	numbers
}

// numbers are the serials of a feed.
type numbers struct {
	last  uint32 // the highest serial that was used or seen, 0: none
	given *given // shared by the feeds of this zone name; nil for an overlay, which has no serials
	floor uint32 // serials before this one label nothing any more; 0: none
	// the first serial that an earlier run has not used, or used for the stored content only; 0: no earlier run
	unserved uint32

	ceiling uint32 // 0: none
	step    uint32 // from a serial to the ceiling that is stored then
	raised  time.Time
	raising *raise // nil: none is under way
}

// NewFeed starts the feed of a zone. Targets are attached to it afterwards (Engine.Attach); nothing is sent before the
// first Publish.
func (e *Engine) NewFeed(c FeedConfig) *Feed {
	f := &Feed{
		engine: e, id: c.ID, zone: c.Zone, since: c.Created, overlay: c.Overlay,
	}
	s, unlock := e.scheduler.Lock()
	defer unlock()
	f.inner = guarded.PartOf[scheduler](s.newFeed(f, c))
	return f
}

func (s *scheduler) newFeed(of *Feed, c FeedConfig) *feed {
	f := &feed{of: of, scheduler: s, attached: map[*target]int{},
		numbers: numbers{last: rr.LaterSerial(c.Serial, c.Ceiling), ceiling: c.Ceiling}}
	if c.Content != "" && c.Serial != 0 {
		f.stored = Label{Serial: c.Serial, ID: c.Content}
	}
	f.unserved = c.Ceiling
	if c.Ceiling != 0 && c.Ceiling != c.Serial {
		f.unserved = max(c.Ceiling+1, 1)
	}
	if !c.Overlay {
		f.given = s.serials.enter(c.Zone, s.now(), c.Serial, c.Ceiling)
	}
	return f
}

// lock returns what the feed wants and has labelled, and what lets go of it.
func (f *Feed) lock() (*feed, func()) {
	s, unlock := f.engine.scheduler.Lock()
	return f.inner.In(s), unlock
}

// Wanted returns what was published last.
func (f *Feed) Wanted() Content {
	of, unlock := f.lock()
	defer unlock()
	return of.want
}

// Publish makes c the wanted content and wakes the targets. It never blocks. Changed are the keys of the sets that
// differ from the content published before, empty (not nil) when only the SOA does; nil when it is not known.
//
// Of an overlay, which is attached before, changed are the sets to assert: they are sent, or deleted if they are not
// wanted (any more), whatever the server is believed to hold; nil asserts all that are wanted. Sets that are not
// asserted are left as they are on the server: those that are wanted, and those that are not wanted any more, even if
// they were about to be sent.
//
// It returns the sequence number that reports will confirm: a new one, or the last one when the content is the same.
func (f *Feed) Publish(c Content, changed []rr.Key) uint64 {
	in, unlock := f.lock()
	defer unlock()
	return in.publish(c, changed)
}

func (f *feed) publish(c Content, changed []rr.Key) uint64 {
	id := c.ID()
	if f.seq > 0 && id == f.wantID && (!f.of.overlay || changed != nil && len(changed) == 0) {
		return f.seq
	}
	f.seq++
	before := f.want.Sets
	f.want, f.wantID, f.at = c, id, f.scheduler.now()
	if f.of.overlay {
		f.assert(changed, before)
		return f.seq
	}
	if f.label.ID == "" && f.stored.ID == id {
		f.label = f.stored
	}
	if f.label.ID == id {
		f.label.Seq = f.seq
	}
	for _, t := range f.holding() {
		t.markDirty(changed, c.Sets.Len())
		f.scheduler.wake(t, wakeWant)
	}
	return f.seq
}

// holding returns the targets that get the feed's content, in an order of their own: what has happened once happens
// again under a test.
func (f *feed) holding() []*target {
	targets := make([]*target, 0, len(f.attached))
	for t := range f.attached {
		if t.holdingFeed() == f {
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b *target) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.View, b.View))
	})
	return targets
}

// Label returns the newest label and whether there is one. It may stand for an older content than the wanted one.
func (f *Feed) Label() (Label, bool) {
	in, unlock := f.lock()
	defer unlock()
	return in.label, in.label.ID != ""
}

// observe notes a serial that a target was found with.
func (f *feed) observe(serial uint32) { f.last = rr.LaterSerial(f.last, serial) }

// adopt accepts that a target was found with exactly the wanted content under a serial: that serial is its label then,
// unless it has a later one. It returns whether the target is as it should be.
func (f *feed) adopt(id string, serial uint32) bool {
	if id != f.wantID || serial == 0 || f.below(serial) {
		return false
	}
	switch {
	case f.label.ID == "":
		if f.stored.Serial == serial && f.stored.ID != id {
			return false
		}
		f.label = Label{Serial: serial, Seq: f.seq, ID: id}
	case f.label.ID == id && rr.SerialLess(f.label.Serial, serial):
		f.relabel(serial)
	}
	return f.label.ID == id && f.label.Serial == serial
}

// below reports whether a serial comes before the floor.
func (f *feed) below(serial uint32) bool { return f.floor != 0 && rr.SerialLess(serial, f.floor) }

// relabel moves the label of the same content up and wakes the targets that have it under the old one.
func (f *feed) relabel(serial uint32) {
	f.label.Serial = serial
	for _, t := range f.holding() {
		f.scheduler.wake(t, wakeWant)
	}
}

// given is the highest serial that the feeds of one zone name have given to a content, in this run or an earlier one.
// One feed may come into another's place while copies of the other's contents are still served: it begins above them.
type given struct {
	last  uint32
	feeds int // that may give more
}

// serials are those that feeds have given, by zone name.
type serials struct {
	given map[dnsname.Name]*given
	most  int // how many there may be before those that have nothing to say are dropped
}

// enter returns what the feeds of a zone name have given, for one more of them.
func (s *serials) enter(zone dnsname.Name, now time.Time, stored ...uint32) *given {
	if s.given == nil {
		s.given = map[dnsname.Name]*given{}
	}
	if len(s.given) >= s.most {
		// A new feed begins with today's serial or above: what no feed adds to and is below that has nothing to say.
		today := rr.NextSerial(0, now)
		maps.DeleteFunc(s.given, func(_ dnsname.Name, g *given) bool { return g.feeds == 0 && rr.SerialLess(g.last, today) })
		s.most = max(64, 2*len(s.given))
	}
	g := s.given[zone]
	if g == nil {
		g = &given{}
		s.given[zone] = g
	}
	g.feeds++
	for _, serial := range stored {
		g.last = rr.LaterSerial(g.last, serial)
	}
	return g
}

// End says that nothing is published to the feed any more, and that it is attached nowhere. A feed that has ended may
// begin again as a new one.
func (f *Feed) End() {
	in, unlock := f.lock()
	defer unlock()
	if !f.overlay && !in.ended {
		in.ended = true
		in.given.feeds--
	}
}
