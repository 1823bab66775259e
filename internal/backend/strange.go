package backend

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Strange tells that a server which belongs to zonefold held something else than what was written there: somebody
// else has written, or it has lost something. It is put right. Sets are those that are not as they were.
type Strange struct {
	Target TargetKey
	Name   string // of the attachment
	Feed   string // FeedConfig.ID
	Sets   []rr.Key
}

// expected reports whether what is known of the target is all that was ever written there: then what it holds instead
// is strange. What was not read back yet may not be there although nobody else has written, unless that is certain.
func (s *state) expected() bool {
	return (s.known && s.base == nil || s.raced) && s.soa != (rr.SOA{})
}

// strange tells what somebody else has changed. Where foreign sets stay they are no news.
func (t *target) strange(j *job, before rr.Sets) {
	if j.a.Keep || j.leaving || j.a.Observe {
		return
	}
	over := t.beside()
	changes := slices.DeleteFunc(plan.Diff(t.state.have, before, plan.Scope{Apex: j.feed.zone}).Changes,
		func(c plan.Change) bool {
			_, is := over.Get(c.Key)
			_, ours := t.state.maybe[c.Key]
			return is || ours
		})
	if len(changes) == 0 {
		return
	}
	e, found := t.engine, Strange{Target: t.key, Name: j.a.Name, Feed: j.feed.id}
	var names []string
	for n, c := range changes {
		found.Sets = append(found.Sets, c.Key)
		if n < 10 {
			names = append(names, c.Key.String())
		}
	}
	e.cfg.Log.Warn("A server held something else than what was written there; it is put right.",
		slog.String("zone", t.key.Zone.String()),
		slog.String("server", t.key.Server), slog.Int("sets", len(changes)),
		slog.String("such as", strings.Join(names, ", ")))
	if e.cfg.Strange != nil {
		e.cfg.Strange(found)
	}
}
