package engine

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Drift says that a server held something else than what was written there, in a zone that is zonefold's alone:
// somebody else has written, or the server has lost something. The worker puts it right. Sets are those that differed.
type Drift struct {
	Target backend.TargetKey
	Name   string // of the attachment
	Feed   string // FeedConfig.ID
	Sets   []rr.Key
}

// expected reports whether what is known of the target is all that was ever written there: then what it holds instead
// is drift. What was not read back yet may not be there although nobody else has written, unless that is certain.
func (s *state) expected() bool {
	return (s.known && s.base == nil || s.raced) && s.soa != (rr.SOA{})
}

// reportDrift reports what somebody else has changed. Where foreign sets stay they are no news.
func (w *worker) reportDrift(j *job, before rr.Sets) {
	if j.a.Keep || j.leaving || j.a.Observe {
		return
	}
	over := w.above()
	changes := slices.DeleteFunc(plan.Diff(w.state.have, before, plan.Scope{Apex: j.feed.zone}).Changes,
		func(c plan.Change) bool {
			_, is := over.Get(c.Key)
			_, ours := w.state.maybe[c.Key]
			return is || ours
		})
	if len(changes) == 0 {
		return
	}
	e, found := w.engine, Drift{Target: w.TargetKey, Name: j.a.Name, Feed: j.feed.id}
	var names []string
	for n, c := range changes {
		found.Sets = append(found.Sets, c.Key)
		if n < 10 {
			names = append(names, c.Key.String())
		}
	}
	e.cfg.Log.Warn("A server's records differed from what was written; the operator restores them.",
		slog.String("zone", w.Zone.String()),
		slog.String("server", w.Server), slog.Int("sets", len(changes)),
		slog.String("such as", strings.Join(names, ", ")))
	if e.cfg.OnDrift != nil {
		e.cfg.OnDrift(found)
	}
}
