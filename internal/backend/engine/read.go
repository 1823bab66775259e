package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// contact reads the target when it is not known what it holds, or an audit is due.
func (w *worker) contact(ctx context.Context, j *job) error {
	s := &w.state
	if s.known && !j.audit {
		return nil
	}
	if j.limits.Volatile {
		j.feed.distrust()
	}
	if j.limits.Read == backend.ReadNone {
		s.written, s.claims = ledgers(s.written, s.claims, apexNS(w.Zone)), rr.Sets{}
		j.read = true
		if !s.known {
			w.assume(j)
		}
		return nil
	}
	ask := backend.Ask{}
	if j.limits.Read == backend.ReadSet {
		ask.Keys = append(keysOf(j.content.Sets), keysOf(union(union(s.written, s.claims), s.have))...)
	} else if !j.audit {
		ask.Known = s.verified()
	}
	expected, before := s.expected(), s.have
	s.known, s.raced = false, expected // if this fails, the next reading tells
	found, err := w.read(ctx, j, ask)
	switch {
	case backend.Class(err) == backend.ErrNoZone && j.limits.Creates && !j.a.Observe && !j.endsWithout():
		found = backend.Observed{Sets: j.lost.sets, SOA: j.lost.soa}
		s.create, s.absent = true, j.lost.sets.Len() > 0
		if j.limits.SOA == backend.SOAClient {
			j.feed.distrustLost()
		}
		j.ownsSOA = j.ownsSOA || s.absent // which a feed that an earlier run has filled does not know
	case err != nil:
		return fmt.Errorf("reading zone %s: %w", w.Zone, err)
	default:
		s.create, s.absent = false, false
	}
	if found.Unchanged { // what was sent after that is not there
		for _, c := range s.unverified {
			j.keys = append(j.keys, c.Key)
		}
	}
	s.known, s.unverified, s.base, j.read = true, nil, nil, true
	j.all = j.all || !found.Unchanged
	s.have, s.soa = found.Sets, found.SOA
	if expected && !found.Unchanged && !s.create {
		w.reportDrift(j, before)
	}
	s.raced, s.maybe = false, nil
	return nil
}

// verified returns the last content that is known to have been there, nil if there is none.
func (s *state) verified() *backend.Known {
	k := backend.Known{SOA: s.soa, Sets: s.have}
	if s.base != nil {
		k = *s.base
	}
	if k.SOA == (rr.SOA{}) {
		return nil
	}
	return &k
}

// assume stands in for reading where the server shows nothing: what the ledger holds may be there and is to be deleted
// when it is not wanted; everything that is wanted is sent again.
func (w *worker) assume(j *job) {
	s := &w.state
	txn := union(s.written, s.have).Txn()
	for w := range j.content.Sets.All() {
		txn.Delete(w.Key())
	}
	s.have, s.known, j.all = txn.Sets(), true, true
	s.unverified, s.base = nil, nil
	f, unlock := j.feed.lock()
	defer unlock()
	s.soa = rr.SOA{Serial: f.last}
}

// read is one Backend.Read.
func (w *worker) read(ctx context.Context, j *job, ask backend.Ask) (backend.Observed, error) {
	call, cancel := w.callContext(ctx)
	defer cancel()
	j.asked = true
	start := w.now()
	found, err := j.a.Backend.Read(call, w.Zone, ask)
	w.engine.cfg.Metrics.Read(j.a.Kind, found.Sets.Len(), w.now().Sub(start), backend.Class(err))
	return found, err
}

// verify reads back what was applied, so that a confirmation is true: servers ignore some changes without a word. What
// is not there counts as refused.
func (w *worker) verify(ctx context.Context, j *job) error {
	s := &w.state
	if s.base == nil || j.limits.Read == backend.ReadNone || w.overlay() && j.limits.Confirms {
		s.confirmed(j)
		return nil
	}
	keys := []rr.Key{}
	if !j.limits.Confirms {
		for _, c := range s.unverified {
			keys = append(keys, c.Key)
		}
	} else if s.soa != (rr.SOA{}) {
		s.confirmed(j)
		return nil
	}
	ask := backend.Ask{Keys: keys}
	if s.base.SOA != (rr.SOA{}) {
		ask.Known = s.base
	}
	found, err := w.read(ctx, j, ask)
	if err != nil {
		s.known, s.raced = false, true
		for _, c := range s.unverified {
			s.unsure(c.Key)
		}
		return fmt.Errorf("reading back %d changed sets of zone %s: %w", len(keys), w.Zone, err)
	}
	if err := s.sameSerial(j, found.SOA); err != nil {
		return err
	}
	if !j.limits.Confirms {
		s.compare(j, found)
	}
	s.confirmed(j)
	return nil
}

// confirmed takes what was applied for true.
func (s *state) confirmed(j *job) {
	if s.late.IsZero() {
		written := s.written.Txn()
		for _, c := range s.unverified {
			if _, there := s.have.Get(c.Key); !there && j.inLedger(c.Key.Type) {
				written.Delete(c.Key)
			}
		}
		s.written = written.Sets()
	}
	s.unverified, s.base = nil, nil
}

// sameSerial checks that the zone has the serial that it was given, and learns the one that the server chose.
func (s *state) sameSerial(j *job, found rr.SOA) error {
	if !j.writesSOA() || s.soa == (rr.SOA{}) || found == (rr.SOA{}) || found.Serial == s.soa.Serial {
		if found != (rr.SOA{}) {
			s.soa = found
		}
		return nil
	}
	s.known, s.raced = false, true
	return &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("zone %s was given serial %d and has %d",
		j.feed.zone, s.soa.Serial, found.Serial)}
}

// compare refuses the changes that the server accepted and did not make.
func (s *state) compare(j *job, found backend.Observed) {
	ignored := map[rr.Key]bool{}
	last := map[rr.Key]plan.Change{}
	for _, c := range s.unverified {
		last[c.Key] = c
	}
	txn := s.have.Txn()
	for _, c := range s.unverified {
		if got, _ := found.Sets.Get(c.Key); !got.Equal(last[c.Key].Want) {
			ignored[c.Key] = true
			keep(txn, found.Sets, c.Key)
		}
	}
	if len(ignored) == 0 {
		return
	}
	s.have = txn.Sets()
	var refused []plan.Change
	for k := range ignored {
		refused = append(refused, last[k])
	}
	slices.SortFunc(refused, func(a, b plan.Change) int { return a.Key.Compare(b.Key) })
	for unit := range plan.Units(refused) {
		if _, known := s.refused.sets[unit[0].Key]; !known {
			got, _ := found.Sets.Get(unit[0].Key)
			s.refuse(j, unit, Refusal{Reason: ignoredReason(got)})
		}
	}
}

func ignoredReason(got rr.Set) string {
	if len(got.Data) == 0 {
		return "the server accepted the change but does not have the set"
	}
	return fmt.Sprintf("the server accepted the change but has %d %q", got.TTL, got.Data)
}
