package engine

import (
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// distrust has a target read once more when no message of who was the leader before can arrive any more: one that came
// after the first reading is not known, and who withdraws a set that is not there changes nothing that would have the
// server refuse it. Until then nothing leaves the ledger here. From a server that shows nothing, what goes is removed
// once more. An overlay says again what it does not want. A server in this process gets no message of another one.
func (s *state) distrust(j *job, late, now time.Time) {
	if now.Before(late) {
		s.late, j.late = late, late // it may be over when the run is
	}
	if j.again = !s.late.IsZero() && !now.Before(s.late); j.again && (j.leaving || j.limits.Read != backend.ReadNone) {
		s.known, s.raced = false, s.known && j.limits.Read != backend.ReadNone
	}
}

// trust ends what distrust has begun: what is not there by now has left the ledger.
func (s *state) trust(j *job) {
	if !j.again {
		return
	}
	s.late = time.Time{}
	if !j.a.Keep {
		return
	}
	written := s.written.Txn()
	for w := range s.written.All() {
		_, there := s.have.Get(w.Key())
		if _, wanted := j.content.Sets.Get(w.Key()); !there && !wanted {
			written.Delete(w.Key())
		}
	}
	s.written = written.Sets()
}
