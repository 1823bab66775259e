package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// record enters wanted sets that are new into the ledger before any of them is sent. At the apex it enters name servers
// that are new, for there the values tell what is zonefold's; those from before stay in it until they were withdrawn.
// What is there on behalf of another feed is new to the ledger of the one that comes in its place: the other's goes
// with it.
func (w *worker) record(ctx context.Context, j *job) error {
	s := &w.state
	if !j.a.Keep {
		return nil
	}
	ledger := s.written
	if s.heir {
		ledger = rr.Sets{} // whoever keeps it leaves out what it has already
	}
	var sets []rr.Set
	note := func(w rr.Set) {
		if _, is := j.others[w.Key()]; is {
			return
		}
		old, ok := ledger.Get(w.Key())
		if !ok && s.refused.sets[w.Key()].Cause == backend.CauseHeld {
			return // it stays somebody else's
		}
		// What is not there may have left the ledger that is stored: that forgets what a report says is gone, while here it
		// stays as long as messages of an earlier run may come (distrust), or was learnt of after that report.
		_, there := s.have.Get(w.Key())
		switch both := withValues(old, w); {
		case j.isApexNS(w.Key()) && (!there || len(both.Data) > len(old.Data)):
			sets = append(sets, both)
		case !ok || !there:
			sets = append(sets, w)
		}
	}
	if j.all || s.heir {
		for w := range j.content.Sets.All() {
			note(w)
		}
	} else {
		for _, k := range j.keys {
			if w, ok := j.content.Sets.Get(k); ok {
				note(w)
			}
		}
	}
	if len(sets) == 0 {
		s.heir = false
		return nil
	}
	call, cancel := w.callContext(ctx)
	defer cancel()
	if err := w.engine.cfg.Ledger.Record(call, j.feed.id, sets); err != nil {
		return fmt.Errorf("entering %d sets of zone %s into the ledger before they are published: %w", len(sets), j.feed.zone,
			err)
	}
	s.written, s.heir = ledgers(s.written, plan.Apply(rr.Sets{}, putAll(sets)), apexNS(w.Zone)), false
	return nil
}

// withValues returns a set with the values of another one of its key, which may be zero.
func withValues(a, b rr.Set) rr.Set {
	if len(a.Data) == 0 {
		return b
	}
	return rr.NewSet(b.Key(), b.TTL, append(slices.Clone(a.Data), b.Data...)...)
}

// remember notes changes that were applied.
func (s *state) remember(j *job, done []plan.Change) {
	if s.base == nil {
		s.base = &backend.Known{SOA: s.soa, Sets: s.have}
	}
	s.have = plan.Apply(s.have, done)
	s.written = plan.Apply(s.written, slices.DeleteFunc(j.ours(puts(done)), func(c plan.Change) bool {
		return !j.inLedger(c.Key.Type)
	}))
	if r := j.a.Registry; s.left.Len() > 0 || r != nil {
		left := s.left.Txn()
		for _, c := range done {
			left.Delete(c.Key)
			if r != nil && r.IsNote(c.Want) {
				left.Put(c.Want)
			}
		}
		s.left = left.Sets()
	}
	s.unverified = append(s.unverified, done...)
	s.drift += len(done)
}

// inLedger reports whether the ledger has what is sent of a type: all while foreign sets stay, and always what servers
// make themselves as well, for nothing else tells whose that is.
func (j *job) inLedger(t rr.Type) bool { return j.a.Keep || plan.ServerMade(t) }

// ours returns the changes with what of them is zonefold's: at the apex the server's own name servers are not. Notes of
// external-dns are, in no ledger: they follow their sets.
func (j *job) ours(changes []plan.Change) []plan.Change {
	if r := j.a.Registry; r != nil {
		changes = slices.DeleteFunc(changes, func(c plan.Change) bool { return r.IsNote(c.Want) })
	}
	for i, c := range changes {
		if j.isApexNS(c.Key) {
			changes[i].Want, _ = j.content.Sets.Get(c.Key)
		}
	}
	return changes
}

// puts returns the changes that leave a set behind: what is deleted stays in the ledger until it is confirmed to be
// gone.
func puts(changes []plan.Change) []plan.Change {
	var put []plan.Change
	for _, c := range changes {
		if !c.Deletes() {
			put = append(put, c)
		}
	}
	return put
}

// rebuildPart is how many exceptions a change makes up for in share.
const rebuildPart = 16

// share rebuilds have and the ledger from the wanted sets, so that they share memory with them and only differences
// take any. They hold the same afterwards: the wanted sets, but for those that are left, refused, or the server's apex
// NS. It costs what these exceptions are, so where there are many, some changes have to gather first.
func (s *state) share(j *job) {
	exceptions := len(s.refused.sets) + s.left.Len()
	if !s.late.IsZero() || s.shared && s.drift <= exceptions/rebuildPart || j.limits.MinTTL > 0 || j.limits.MaxTTL > 0 {
		return
	}
	s.shared, s.drift = true, 0
	have, written := j.content.Sets.Txn(), j.content.Sets.Txn()
	except := append(append(s.refused.all(), keysOf(s.left)...), apexNS(j.feed.zone))
	for _, k := range except {
		keep(have, s.have, k)
		keep(written, s.written, k)
	}
	s.have = have.Sets()
	if j.a.Keep {
		s.written = written.Sets()
	}
}

// keep makes txn hold under k what from does.
func keep(txn *rr.SetsTxn, from rr.Sets, k rr.Key) {
	if set, ok := from.Get(k); ok {
		txn.Put(set)
	} else {
		txn.Delete(k)
	}
}
