package engine

import (
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// reclaim takes in the ledgers of new exact attachments. Once no other is attached, what is known from those that were
// before them is claimed as well: the server is read, and tells.
func (s *state) reclaim(exact bool, ledgersOfExact []rr.Sets, apex rr.Key) {
	if exact == s.exact && len(ledgersOfExact) == 0 {
		return
	}
	if exact {
		s.claims, s.written = ledgers(s.claims, s.written, apex), rr.Sets{}
	}
	for _, w := range ledgersOfExact {
		s.claims = ledgers(s.claims, w, apex)
	}
	if s.exact = exact; s.claims.Len() > 0 {
		s.known, s.raced = false, false
	}
}

// claim enters into the ledger what exact attachments have written and the server still holds: a set that has a value
// besides is somebody else's by now. While a message of who was the leader before may arrive, it is asked again.
func (s *state) claim(apex rr.Key) {
	if !s.known || s.claims.Len() == 0 {
		return
	}
	ledger := s.written.Txn()
	for set := range s.claims.All() {
		have, there := s.have.Get(set.Key())
		switch known, is := ledger.Get(set.Key()); {
		case !there:
		case set.Key() == apex: // whose are its values is told by the ledger
			ledger.Put(withValues(known, set))
		case !is && within(have, set):
			ledger.Put(set)
		}
	}
	s.written, s.heir = ledger.Sets(), true
	if s.late.IsZero() {
		s.claims = rr.Sets{}
	}
}

// within reports whether a set has no value that another one lacks.
func within(set, of rr.Set) bool {
	return !slices.ContainsFunc(set.Data, func(data string) bool { return !slices.Contains(of.Data, data) })
}
