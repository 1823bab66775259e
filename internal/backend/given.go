package backend

import (
	"maps"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// given is the highest serial that the feeds of one zone name have given to a content, in this run or an earlier one.
// One feed may come into another's place while copies of the other's contents are still served: it begins above them.
// Engine.mu guards it.
type given struct {
	last  uint32
	feeds int // that may give more
}

// enterFeed enters a feed among those of its zone name. Engine.mu is held.
func (e *Engine) enterFeed(f *Feed, stored ...uint32) {
	if len(e.given) >= e.givenMax {
		// A new feed begins with today's serial or above: what no feed adds to and is below that has nothing to say.
		today := rr.NextSerial(0, e.cfg.Clock.Now())
		maps.DeleteFunc(e.given, func(_ dnsname.Name, g *given) bool { return g.feeds == 0 && rr.SerialLess(g.last, today) })
		e.givenMax = max(64, 2*len(e.given))
	}
	g := e.given[f.zone]
	if g == nil {
		g = &given{}
		e.given[f.zone] = g
	}
	g.feeds++
	f.given = g
	for _, serial := range stored {
		g.last = rr.LaterSerial(g.last, serial)
	}
}

// End says that nothing is published to the feed any more, and that it is attached nowhere. A feed that has ended may
// begin again as a new one.
func (f *Feed) End() {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	if !f.overlay && !f.ended {
		f.ended = true
		f.given.feeds--
	}
}
