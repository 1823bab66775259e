package homelab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/zone"
)

// audit compares what a server says that it has with what it should have, and has differences put right.
func (k *Controller) audit(_ context.Context, id zone.ID) error {
	m, unlock := k.model.Lock()
	c := m.classes[id.Name]
	keys := slices.DeleteFunc(m.slotsOf(id.Name), func(key slotKey) bool { return m.slots[key].confirmed == "" })
	unlock()
	if c == nil {
		return nil
	}
	for _, key := range keys {
		if !k.look(c, key, false) {
			break
		}
	}
	return &controller.Later{After: k.auditAfter()}
}

func (k *Controller) auditAfter() time.Duration {
	if k.Audit <= 0 {
		return 100 * 365 * 24 * time.Hour
	}
	return backend.Jitter(k.Audit, k.Rand())
}

// firstAudit is when a class is audited that has just become known, while messages may arrive that are late.
func (k *Controller) firstAudit(late time.Duration) time.Duration {
	after := k.auditAfter()
	if late > 0 && k.Audit > 0 {
		after = min(after, late)
	}
	return after
}

// isMended reports whether a slot was just sent again because of a difference.
func (s *slot) isMended() bool {
	odd := s.courseSoFar().odd
	return s.confirmed != "" && odd.Kind != "" && odd.hash == s.confirmed && !odd.kept && !odd.looked
}

// look compares one slot, at an audit or after it was sent again; false: there is no use in going on.
func (k *Controller) look(c *class, key slotKey, mended bool) bool {
	m, unlock := k.model.Lock()
	s := m.slots[key]
	var w *want
	if s != nil {
		w, _ = m.want(s)
	}
	if c.tells == tellsNothing || k.ctx.Err() != nil {
		unlock()
		return false
	}
	if w == nil || s.confirmed != w.hash || mended && !s.isMended() {
		unlock()
		return true
	}
	changes := s.changes
	unlock()
	var got dnshook.Record
	var there bool
	err := k.send(k.ctx, c, "get", nil, func(ctx context.Context, hook *dnshook.Client) (err error) {
		got, there, err = hook.Get(ctx, w.record.ID())
		return err
	})
	m, unlock = k.model.Lock()
	defer unlock()
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		c.tells = tellsNothing
		return false
	case err != nil:
		return !servers.AboutAll(err)
	case s.changes != changes || s.confirmed != w.hash:
		return true // it was being changed
	case there:
		return m.found(c, s, w, servers.DifferenceOf(got, w.record), mended)
	}
	return m.found(c, s, w, servers.Difference{Kind: servers.Absent, Text: "nothing"}, mended)
}

// found follows what a look has shown: a difference is put right, and told at the next audit if that did not change it.
// One that somebody makes again after it was put right is another one.
func (m *model) found(c *class, s *slot, w *want, d servers.Difference, mended bool) bool {
	was := s.courseSoFar().odd
	if d.Kind != servers.Absent {
		c.tells = tellsRecords
	}
	switch {
	case d.Kind == "":
		s.ownCourse().odd = oddity{}
		s.tidy()
		if was.kept {
			m.enqueueStatuses(s)
		}
	case mended:
		odd := &s.ownCourse().odd
		odd.looked = true
		if _, known := was.outlasted[d.Kind]; known || d.Kind == was.Kind {
			odd.outlast(d, 1)
		} else {
			odd.outlast(d, 0) // somebody may have made it since: it has not been put right yet
		}
	case d.Kind == servers.Absent && was.outlasted[servers.Absent] > 0 && c.tells != tellsRecords:
		c.tells = tellsNothing // the server does not know the question
		return false
	default:
		m.mend(s, w, d)
	}
	return true
}

// mend has a slot sent again that a server shows otherwise, or tells that this changes nothing. What is not there at
// all is sent at every audit nevertheless: it may be for the server to recover.
func (m *model) mend(s *slot, w *want, d servers.Difference) {
	odd := &s.ownCourse().odd
	was := *odd
	*odd = oddity{Difference: d, hash: w.hash}
	if was.hash == w.hash {
		odd.outlasted = was.outlasted
		if was.looked {
			odd.outlast(d, 1)
		}
		odd.kept = odd.lasts(d) || was.kept && odd.outlasted[d.Kind] > 0
		if was.Kind == d.Kind || was.kept && odd.kept {
			odd.Difference = was.Difference // its text too: what counts down, or comes in turn, is no news
		}
	}
	switch {
	case !odd.kept:
		warn(m.k.Events, w.owner.object, "Drifted", "Audit", "The server of DNSClass "+s.key.class+" no longer had "+
			title(s.key)+" as confirmed; the operator restores it.")
	case !was.kept:
		warn(m.k.Events, w.owner.object, "KeptOtherwise", "Audit", odd.note(w))
		m.enqueueStatuses(s)
	}
	if !odd.kept || d.Kind == servers.Absent {
		s.doubt()
		m.wake(s.key)
	}
}

// An oddity is a difference that was found at the last audit.
type oddity struct {
	servers.Difference

	hash   string // of what was wanted
	looked bool   // it was sent again, and there is a difference still
	kept   bool   // to send it again does not change it: that is told

	// outlasted counts, by kind, the differences that were seen right after it was sent again, or at the audit after that.
	// It is kept until the server shows what is wanted, so that answers that come in turn do not pass for new ones.
	outlasted map[string]int
}

func (o *oddity) none() bool {
	return o.Difference == (servers.Difference{}) && o.hash == "" && o.outlasted == nil
}

const (
	outlastsEnough = 2 // how often a difference outlasts that it is put right, before it is known to last
	mostOutlasting = 4 // how many of them there are before the server is known to show anything
)

// outlast notes a difference that was there although the record had been put right, and how much that proves.
func (o *oddity) outlast(d servers.Difference, proves int) {
	if o.outlasted == nil {
		o.outlasted = map[string]int{}
	}
	o.outlasted[d.Kind] += proves
}

// lasts reports whether there is nothing to be gained from putting a difference right.
func (o *oddity) lasts(d servers.Difference) bool {
	return o.outlasted[d.Kind] >= outlastsEnough || len(o.outlasted) >= mostOutlasting
}

// note says what the server makes of what a slot is to hold.
func (o *oddity) note(w *want) string {
	next := "The operator sends it again when it changes, or when the server shows something else."
	if o.Kind == servers.Absent {
		next = "The operator sends it again at every audit."
	}
	shows := o.Text
	if len(o.outlasted) > 1 {
		shows += ", and something else at other times,"
	}
	return fmt.Sprintf("The server %s of DNSClass %s shows %s for %s %s; sending it again changed nothing. Correct the "+
		"record if the server cannot store it, or correct the server. %s",
		w.place.Server, w.place.Class, shows, w.record.ID().FQDN(), w.record.Type, next)
}
