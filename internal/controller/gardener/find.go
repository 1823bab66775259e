package gardener

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/rr"
)

// find has it found out which hosted zone has the set of a record, if that is known to be anywhere.
func (s *state) find(r *record) bool {
	o := r.object
	if r.run != nil || r.holding != nil || r.tried || !o.DeletionTimestamp.IsZero() ||
		created(o) != metav1.ConditionTrue || migrated(o) {
		return false
	}
	r.run = &run{step: search, object: o, begun: s.k.Clock()}
	s.searches[r] = struct{}{}
	s.k.writer.Enqueue(r.id)
	return true
}

// sought records that nobody searches any more for the hosted zone of a record.
func (s *state) sought(r *record) {
	if _, was := s.searches[r]; was {
		delete(s.searches, r)
		s.rouse(r)
	}
	if s.synced && len(s.searches) == 0 && s.k.Placed != nil {
		s.k.Placed()
		s.k.Placed = nil
	}
}

// rouse has removals look how it stands with a record that they may wait for.
func (s *state) rouse(r *record) {
	for _, other := range sorted(maps.Keys(s.sets[r.key])) {
		if other.run.active() && other.run.step == Remove {
			s.k.writer.Enqueue(other.id)
		}
	}
}

// longestSearch is how long a removal waits until it is known where other records have the same set: an account that
// does not answer must not keep the objects of all others. A set that is removed then is sent anew as soon as it is
// known where it is.
const longestSearch = time.Minute

// await waits until it is known where other records have the set of one that goes, for that becomes what they ask for.
// The own account of that one is asked before: while a service answers nobody, the time of the others does not run out.
func (k *Controller) await(r *record) error {
	s, unlock := k.state.Lock()
	defer unlock()
	others := s.searching(r)
	if len(others) == 0 {
		r.awaits = time.Time{}
		return nil
	}
	if r.awaits.IsZero() {
		r.awaits = k.Clock()
		for _, other := range others {
			k.writer.Enqueue(other.id) // its account may answer again, as this one does
		}
	}
	until := r.awaits.Add(longestSearch)
	passed := k.Clock().Sub(r.awaits)
	switch {
	case passed < patience:
		return &controller.Later{After: patience - passed}
	case passed < longestSearch:
		return r.unknown(others[0], until, longestSearch-passed)
	}
	for _, other := range others {
		other.run.late = true
	}
	return nil
}

// searching returns the other records for the same set of which it is being found out where that is.
func (s *state) searching(r *record) []*record {
	var all []*record
	for _, other := range sorted(maps.Keys(s.sets[r.key])) {
		if other != r && (s.find(other) || other.run != nil && other.run.step == search) {
			all = append(all, other)
		}
	}
	return all
}

// unknown says for whom a removal waits. It is no failure: it goes on by itself. What another namespace's account
// answers is not told in this one.
func (r *record) unknown(other *record, until time.Time, left time.Duration) error {
	why := "its account has not answered yet"
	if err := other.run.missed; err != nil && other.id.Namespace == r.id.Namespace {
		why = err.Error()
	}
	return &dialect.Problem{Detail: backend.Error{Class: backend.ErrConflict, After: left, Words: fmt.Sprintf(
		"it is not known yet where the DNSRecord %s/%s, which asks for the same set, has put it: %s. The operator waits "+
			"until %s; correct the credentials of that DNSRecord, or delete it",
		other.id.Namespace, other.id.Name, strings.TrimSuffix(why, "."), until.UTC().Format(time.RFC3339))}}
}

// locate finds the hosted zone of a record for find.
func (k *Controller) locate(ctx context.Context, r *record, run *run) error {
	set, err := dialect.Convert(&run.object.Spec)
	if err != nil {
		return err
	}
	account, z, err := k.reach(ctx, r, run)
	if err != nil {
		return err
	}
	s, unlock := k.state.Lock()
	defer unlock()
	if r.run != run {
		return nil
	}
	p := s.at(r, account, z)
	s.hold(r, &holding{at: p, key: r.key, set: set})
	p.holders[r.key] = inOrder(p.holders[r.key], r)
	p.wants(r.key)
	keys := []rr.Key{}
	if run.late || k.Shared && !k.Engine.HoldsZones() {
		// another record may have removed it meanwhile, or a Zone overwritten it
		keys = append(keys, r.key)
	}
	p.publish(keys, rr.Set{})
	return nil
}

// inOrder puts a record among those that have been asked for, by when that was.
func inOrder(all []*record, r *record) []*record {
	all = append(without(all, r), r)
	slices.SortStableFunc(all, func(a, b *record) int { return requested(a).Compare(requested(b)) })
	return all
}

func requested(r *record) time.Time {
	if last := r.object.Status.LastOperation; last != nil {
		return last.LastUpdateTime.Time
	}
	return time.Time{}
}

// found ends the search for a hosted zone, unless it is tried again.
func (k *Controller) found(r *record, run *run, err error) error {
	if errors.Is(err, errWaiting) {
		return nil
	}
	s, unlock := k.state.Lock()
	defer unlock()
	var again error
	switch {
	case r.run != run:
	case hopeful(err):
		run.failures++
		run.missed, run.object = err, r.object // the object may be another one by now
		again = &controller.Later{After: backoff(err, run.failures, k.Rand)}
		s.rouse(r)
	default:
		renewed := err != nil && run.secret != "" && s.secrets[r.secret] != run.secret
		if r.run, r.tried = nil, !renewed; renewed && s.find(r) {
			break // it was looked for with what the Secret said before
		}
		s.sought(r)
	}
	return again
}
