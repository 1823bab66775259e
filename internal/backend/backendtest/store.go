package backendtest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// Store keeps in memory what a controller stores in the status of Zones: ceilings, ledgers, labels. It outlives
// engines, and can be made to fail.
type Store struct {
	Targets int // of each zone: the ledger forgets what all of them confirm to be gone; 0 counts as 1

	mu     sync.Mutex
	zones  map[string]*stored
	broken bool
	writes int
}

type stored struct {
	ceiling, serial uint32
	raised          uint64 // how often the ceiling was written
	content         string // that serial stands for
	newest          uint64 // sequence number
	seqs            map[uint64]engine.Content
	want            engine.Content
	written         rr.Sets
	confirmed       map[backend.TargetKey]engine.Report
}

var errStoreBroken = errors.New("the API server does not answer")

func (s *Store) zone(feed string) *stored {
	if s.zones == nil {
		s.zones = map[string]*stored{}
	}
	z := s.zones[feed]
	if z == nil {
		z = &stored{seqs: map[uint64]engine.Content{}, confirmed: map[backend.TargetKey]engine.Report{}}
		s.zones[feed] = z
	}
	return z
}

// SetBroken makes every write fail, or work again.
func (s *Store) SetBroken(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Raise stores a ceiling.
func (s *Store) Raise(ctx context.Context, feed string, ceiling uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken || ctx.Err() != nil {
		return errStoreBroken
	}
	z := s.zone(feed)
	s.writes++
	if z.ceiling != 0 && rr.SerialLess(ceiling, z.ceiling) {
		return errors.New("the ceiling fell")
	}
	z.ceiling = ceiling
	z.raised++
	return nil
}

// Record stores a ledger.
func (s *Store) Record(ctx context.Context, feed string, sets []rr.Set) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken || ctx.Err() != nil {
		return errStoreBroken
	}
	z := s.zone(feed)
	s.writes++
	txn := z.written.Txn()
	for _, set := range sets {
		old, _ := txn.Get(set.Key())
		txn.Put(rr.NewSet(set.Key(), set.TTL, append(slices.Clone(old.Data), set.Data...)...))
	}
	z.written = txn.Sets()
	return nil
}

// Writes counts what was stored.
func (s *Store) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Wanted notes the content that is going to be published, for Record.
func (s *Store) Wanted(feed string, c engine.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone(feed).want = c
}

// Published notes which content a sequence number stands for.
func (s *Store) Published(feed string, seq uint64, c engine.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(feed)
	z.seqs[seq], z.newest = c, seq
}

// Note stores what a report says: the label, and the ledger without what is gone.
func (s *Store) Note(r engine.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(r.Feed)
	content, ok := z.seqs[r.Seq]
	if s.broken || !ok || r.Err != nil {
		return
	}
	z.serial, z.content = r.Serial, content.ID()
	z.confirmed[r.Target] = r
	if len(z.confirmed) == max(s.Targets, 1) {
		z.forget()
	}
}

// Settle stores a label, and its serial as the ceiling, unless the ceiling was written since seen, be it the same
// again.
func (s *Store) Settle(feed string, label engine.Label, seen uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(feed)
	if s.broken || z.raised != seen || z.ceiling == label.Serial {
		return
	}
	s.writes++
	z.raised++
	z.serial, z.content, z.ceiling = label.Serial, label.ID, label.Serial
}

// Raised returns how often the ceiling was written, as a resource version tells.
func (s *Store) Raised(feed string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zone(feed).raised
}

// forget takes out of the ledger what is gone everywhere: every target has confirmed the newest content, so that
// nothing older is on its way.
func (z *stored) forget() {
	txn := z.want.Sets.Txn()
	for _, r := range z.confirmed {
		if r.Seq != z.newest {
			return
		}
		for _, k := range r.Lingering {
			if set, ok := z.written.Get(k); ok {
				txn.Put(set)
			}
		}
	}
	z.written = txn.Sets()
}

// Written returns the ledger.
func (s *Store) Written(feed string) rr.Sets {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zone(feed).written
}

// Restart returns what a new engine begins with.
func (s *Store) Restart(c engine.FeedConfig) (engine.FeedConfig, rr.Sets) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z := s.zone(c.ID)
	z.seqs, z.confirmed = map[uint64]engine.Content{}, map[backend.TargetKey]engine.Report{}
	c.Serial, c.Ceiling, c.Content = z.serial, z.ceiling, z.content
	return c, z.written
}
