package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// update makes a member what the leader lists.
func (s *session) update(ctx context.Context, m embedded.Member) error {
	now, unlock := s.state.Lock()
	e, listed := now.entries[m]
	unlock()
	server := s.opts.Server
	have, _, there := server.Copy(m, []rr.Key{})
	switch {
	case !listed || there && have.Catalog != e.Catalog:
		if err := server.Drop(m); err != nil || !listed {
			return err
		}
		have = embedded.Copy{}
	case have.ID == e.ID && have.SOA.Serial == e.Serial && have.Filled != e.Filled:
		next := have
		next.Filled = e.Filled
		return server.Take(m, have, next, nil)
	case have.ID == e.ID && !rr.SerialLess(have.SOA.Serial, e.Serial):
		return nil // what was transferred last was newer than the listing
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Patience)
	defer cancel()
	var known *rr.SOA
	if have.ID == e.ID {
		known = &have.SOA
	}
	got, err := s.client.Pull(ctx, m.Zone, known)
	switch {
	case err != nil:
		return err
	case got.Same:
		return fmt.Errorf("the leader lists zone %s with serial %d but has %d", m.Zone, e.Serial, got.SOA.Serial)
	case got.Steps == nil:
		return s.take(e, have, got)
	}
	if err = s.takeSteps(e, have, got.Steps); !errors.Is(err, errUnfit) {
		return err
	}
	// That shows a fault of ours, which must not last.
	s.opts.Log.Error(err.Error())
	if got, err = s.client.Pull(ctx, m.Zone, nil); err != nil {
		return err
	}
	have, _, _ = server.Copy(m, []rr.Key{})
	return s.take(e, have, got)
}

// errUnfit says that a step removes what is not there, or adds what is.
var errUnfit = errors.New("the leader's increment does not fit the content copied before")

// takeSteps goes the way that the leader went.
func (s *session) takeSteps(e embedded.Entry, have embedded.Copy, steps []rfc2136.Step) error {
	for _, step := range steps {
		keys := []rr.Key{}
		for _, set := range slices.Concat(step.Gone, step.Come) {
			keys = append(keys, set.Key())
		}
		_, before, _ := s.opts.Server.Copy(e.Member, keys)
		after, fits := step.Over(before)
		if !fits {
			return fmt.Errorf("zone %s: %w", e.Zone, errUnfit)
		}
		next := embedded.Copy{ID: e.ID, SOA: step.SOA, Catalog: e.Catalog, Filled: e.Filled}
		if err := s.opts.Server.Take(e.Member, have, next, changes(e.Zone, before, after)); err != nil {
			return err
		}
		have = next
	}
	return nil
}

// take takes a whole zone. What is different is what followers of this server get.
func (s *session) take(e embedded.Entry, have embedded.Copy, got rfc2136.Pulled) error {
	_, before, _ := s.opts.Server.Copy(e.Member, nil)
	next := embedded.Copy{ID: e.ID, SOA: got.SOA, Catalog: e.Catalog, Filled: e.Filled}
	return s.opts.Server.Take(e.Member, have, next, changes(e.Zone, before, got.Sets))
}

// changes lead from some sets of a zone to others.
func changes(zone dnsname.Name, before, after rr.Sets) []plan.Change {
	return plan.Diff(before, after, plan.Scope{Apex: zone, Written: before}).Changes
}
