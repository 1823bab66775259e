package engine

import (
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A worker works at a target. Its runs follow one another, so that what it has is its own; what is to be done it takes
// from the target.
type worker struct {
	spot
	engine *Engine
	target guarded.Part[scheduler, target]
	state  state
	shown  shown
}

// shown is what metrics say of sets that are held: so many, by attachments of a kind.
type shown struct {
	kind string
	sets int
}

func newWorker(e *Engine, t *target) *worker {
	return &worker{spot: t.spot, engine: e, target: guarded.PartOf[scheduler](t)}
}

func (w *worker) now() time.Time { return w.engine.cfg.Clock.Now() }

// lock returns the target, and what lets go of it.
func (w *worker) lock() (*target, func()) {
	s, unlock := w.engine.scheduler.Lock()
	return w.target.In(s), unlock
}

// state is what a worker knows of the server. It decides what to do next, and does nothing by itself.
type state struct {
	view
	ours
	doubts
	holder   *Feed  // whose content was delivered last
	seq      uint64 // confirmed
	complete bool   // the last run delivered all there was, and has confirmed it
	err      error  // of the last run

	refused    refusals
	overlaid   map[rr.Key]struct{} // refused because an overlay has them
	brake      brake
	kept       *Held // as the feed has learnt of it
	difference *Difference
	diffGen    int
}

// view is what the server holds.
type view struct {
	known   bool      // have is what the server holds
	have    rr.Sets   // without types that nobody may write
	soa     rr.SOA    // zero: not known
	create  bool      // the server does not have the zone; the next batch makes it
	absent  bool      // have is what the server has lost, and is to be given back
	late    time.Time // when have is to be read again; zero: it is not. See Config.Late
	left    rr.Sets   // sets that stay although nobody wants them (plan.Plan.Left)
	foreign int
	untaken int  // of these, see Report.Untaken
	shared  bool // have and written share memory with the wanted sets, but for drift changes since
	drift   int
}

// ours is what of it zonefold has written.
type ours struct {
	written rr.Sets // the ledger
	exact   bool    // nobody but exact attachments is there
	claims  rr.Sets // what joins it, as far as the server has it so: see Attachment.Exact
	sent    rr.Sets // of an overlay, as far as it was this process
	heir    bool    // the target may have sets on behalf of another, which are not in its own ledger
}

// doubts are what was sent and is not certain yet.
type doubts struct {
	given      uint32         // the serial that was sent last; 0: none
	pending    *pending       // is asked for; nil: nothing is
	behind     *pending       // what was made last since, nil if nothing was
	unverified []plan.Change  // applied, not read back yet
	base       *backend.Known // what was there before them; nil: nothing was applied since the last reading
	conflicts  int            // in a row
	// have is what was there before another writer, whom a conflict has shown, or before an answer was lost
	raced bool
	maybe map[rr.Key]struct{} // of batches whose answers were lost: who has changed them is not known
}

// written is the ledger of a feed.
type written struct {
	feed *Feed
	sets rr.Sets
}
