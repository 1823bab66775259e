package homelab

import "time"

// The protocol has no condition by which a server could refuse a message of who led before that comes late. So what
// could have come late is looked at once more when nothing can any more.

// stillLate is how long messages of who led before may arrive still; 0: none can.
func (k *Controller) stillLate() time.Duration {
	if k.Late == nil {
		return 0
	}
	return max(0, k.Late().Sub(k.Clock.Now()))
}

// firstAudit is when a class is audited that has just become known.
func (k *Controller) firstAudit() time.Duration {
	after := k.auditAfter()
	if late := k.stillLate(); late > 0 && k.Audit > 0 {
		after = min(after, late)
	}
	return after
}

// clearAgain removes a second time what nobody wants or has in a slot.
func (m *model) clearAgain(s *slot) step {
	if len(s.again) == 0 {
		return step{}
	}
	if late := m.k.stillLate(); late > 0 {
		return step{after: late}
	}
	return step{remove: s.again}
}

// removedAgain follows a removal: it is made once more where who led before may have sent what was removed.
func (m *model) removedAgain(s *slot, do step) {
	switch {
	case m.k.stillLate() > 0:
		s.again = append(s.again, do.remove...)
	case len(do.free) == 0:
		if s.again = nil; len(s.claims)+len(s.holders) == 0 {
			delete(m.slots, s.key)
		}
	}
}
