package homelab

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
)

// deliver makes the calls of some slots of one class, in one request where that is worth it and the server takes it.
func (k *Controller) deliver(ctx context.Context, c *class, jobs []job) {
	if len(jobs) > 1 && k.together(ctx, c, jobs) {
		return
	}
	for _, j := range jobs {
		var errs []error
		for _, o := range j.operations() {
			one := func(ctx context.Context, hook *dnshook.Client) error {
				if o.Action == dnshook.ActionDelete {
					return hook.Delete(ctx, o.Record.ID())
				}
				_, err := hook.Upsert(ctx, o.Record)
				return err
			}
			errs = append(errs, k.send(ctx, c, string(o.Action), []job{j}, one))
		}
		k.done(j, errors.Join(errs...))
	}
}

// operations are what a server is asked to do for a job.
func (j job) operations() (out []dnshook.Operation) {
	if w := j.step.upsert; w != nil {
		return []dnshook.Operation{{Action: dnshook.ActionUpsert, Record: w.record}}
	}
	for _, id := range j.step.remove {
		out = append(out, dnshook.Operation{Action: dnshook.ActionDelete,
			Record: dnshook.Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain}})
	}
	return out
}

// together sends jobs as one batch; false: the server takes none after all.
func (k *Controller) together(ctx context.Context, c *class, jobs []job) bool {
	var operations []dnshook.Operation
	for _, j := range jobs {
		operations = append(operations, j.operations()...)
	}
	if len(operations) > dnshook.MaxBatch {
		return false
	}
	var results []error
	err := k.send(ctx, c, "batch", jobs, func(ctx context.Context, hook *dnshook.Client) (err error) {
		results, err = hook.Batch(ctx, operations)
		return err
	})
	var e *dnshook.Error
	switch {
	case errors.Is(err, dnshook.ErrNoBatch):
		k.bound(c, 1)
		return false
	case errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusRequestEntityTooLarge):
		return false // one may be to blame for all
	}
	k.shrink(c, len(jobs), err)
	for _, j := range jobs {
		one := err
		if err == nil {
			n := len(j.operations())
			one, results = errors.Join(results[:n]...), results[n:]
		}
		k.done(j, one)
	}
	return true
}

// shrink has batches of a class be smaller, until its health is asked for again, where one as a whole was too much for
// the server: it took too long, or one record in it has the server fail.
func (k *Controller) shrink(c *class, was int, err error) {
	var e *dnshook.Error
	if errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &e) && e.Status >= http.StatusInternalServerError && e.RetryAfter == 0 {
		k.bound(c, was/4) // so that it is down to one within the budget of retries
	}
}

// bound has no more than so many records of a class go out in one request.
func (k *Controller) bound(c *class, most int) {
	_, unlock := k.model.Lock()
	defer unlock()
	c.most = max(1, min(c.most, most))
}

// lookAgain is how long who may not be the leader any more waits to see whether it is.
const lookAgain = time.Second

// send makes one call, as a part of the changes that it brings.
func (k *Controller) send(ctx context.Context, c *class, operation string, jobs []job,
	do func(context.Context, *dnshook.Client) error) error {
	return c.server.Call(ctx, operation, func(ctx context.Context, hook *dnshook.Client) error {
		ctx, done := k.follower.Call(ctx, k.Clock.Now, k.causes(jobs), attribute.String("zonefold.dnsclass", c.name),
			attribute.String("zonefold.operation", operation))
		err := do(ctx, hook)
		done(err)
		k.Log.Debug("A server was asked to do something.", "class", c.name, "operation", operation,
			"records", len(jobs), "error", err)
		return err
	})
}

// done notes what came of a job.
func (k *Controller) done(j job, err error) {
	m, unlock := k.model.Lock()
	defer unlock()
	s, w := j.slot, j.step.upsert
	if w != nil && servers.NeverSent(err) {
		m.unheard(w)
	}
	if err != nil && (w != nil || !neverHad(j.step.free, err)) {
		m.failed(s, err, w == nil)
		return
	}
	m.heard(s.key.class)
	if w == nil {
		m.removed(s, j.step)
		return
	}
	if s.course != nil {
		s.course.upserts = attempts{}
		s.tidy()
	}
	m.has(s, w)
}

// unheard notes that no server has heard of what an object wants after all: it need not stay for that.
func (m *model) unheard(w *want) {
	if r := w.owner; w.first && r.applied != nil && samePlace(*r.applied, w.place) {
		r.unsent = true
		m.wake(slotOf(w.place))
	}
}

// has notes that a server has what is wanted in a slot.
func (m *model) has(s *slot, w *want) {
	now := m.k.Clock.Now()
	same := s.last == w.hash
	s.confirmed, s.again = w.hash, nil
	for _, r := range w.all {
		r.synced = now
		r.arrive(m.k)
		switch {
		case r.done == "" && r.status.State != v1alpha1.StateCreated && r.status.State != v1alpha1.StateUpdated &&
			!(r.applied != nil && r.applied.Confirmed):
			r.done = v1alpha1.StateCreated
		case r == w.owner && r.applied != nil && !r.applied.Confirmed: // nil: it has moved on, and left that again
			r.done = v1alpha1.StateCreated
		case !same:
			r.done = v1alpha1.StateUpdated
		}
	}
	if r := w.owner; r.applied != nil && samePlace(*r.applied, w.place) {
		applied := *r.applied
		applied.Confirmed, applied.Hash = true, w.hash
		r.applied = &applied
	}
	m.enqueueStatuses(s)
	m.wake(s.key)
	m.wakeLeft(s)
}

// wakeLeft wakes the slots that the claims of a slot have left: what they had there may go when the server has what
// they want here.
func (p *plan) wakeLeft(s *slot) {
	for _, r := range slices.Clone(s.claims) { // what is woken of a class that is gone changes them
		for _, a := range r.evidence() {
			if key := slotOf(a); key != s.key {
				p.look(key)
			}
		}
	}
}

// removed notes that a server does not have something of a slot any more.
func (m *model) removed(s *slot, do step) {
	m.removedAgain(s, do)
	if c := s.course; c != nil {
		c.removals, c.upserts.Schedule = attempts{}, servers.Schedule{}
		s.tidy()
	}
	for _, h := range do.free {
		now := h.record.key
		other := m.slots[now]
		if other == nil || now == s.key || now.fqdn != s.key.fqdn {
			continue
		}
		if other.course != nil {
			other.course.upserts.Schedule = servers.Schedule{} // this may have been in its way
		}
		if now.kind == s.key.kind && other.confirmed != "" {
			other.doubt() // both classes may be about one zone
		}
	}
	m.forget(s, do.free)
	m.wake(s.key)
}

// neverHad reports whether a server that refuses a removal cannot have what it is about: it has confirmed none of it,
// and says of all of it that there can be no such record.
func neverHad(free []evidence, err error) bool {
	return !slices.ContainsFunc(free, func(h evidence) bool { return h.place.Confirmed }) && servers.RefusesAll(err)
}

// forget notes that a server does not have something of records any more.
func (m *model) forget(s *slot, free []evidence) {
	for _, h := range free {
		h.record.drop(h.place)
		if h.record.deleting() {
			h.record.arrive(m.k)
		}
		m.reindex(h.record)
		m.k.recordWriter.Enqueue(h.record.id)
		for _, f := range h.record.former {
			m.wake(slotOf(f))
		}
		m.wake(h.record.key)
	}
	for _, kind := range dnshook.Types() { // who waits for the name
		if key := (slotKey{s.key.class, s.key.fqdn, kind}); m.slots[key] != nil {
			m.wake(key)
		}
	}
}

// failed notes that a call has failed, and when the next one is due; one that was not made has not failed.
func (m *model) failed(s *slot, err error, removal bool) {
	if errors.Is(err, objects.ErrNotLeading) {
		m.later(s.key, lookAgain)
		return
	}
	f, p, after := servers.Explain(s.key.class, err)
	now, tries := m.k.Clock.Now(), &s.ownCourse().upserts
	if removal {
		tries = &s.ownCourse().removals
	}
	f.Next = tries.Failed(m.k.Retry, now, p, after)
	tries.failure = &f
	if tries.failures++; tries.failures == 1 {
		tries.since = now
	}
	if c := m.classes[s.key.class]; c != nil {
		if p == servers.AsAsked {
			m.pause(c, tries.Next.Sub(now))
		}
		if servers.AboutAll(err) && c.checked != nil && c.checked.status == v1alpha1.Healthy &&
			now.Sub(c.checked.at) >= m.k.Retry.BaseDelay {
			m.k.healths.Enqueue(dialect.ClassID(c.name))
		}
	}
	if !removal && tries.Slow && departing(s).remove != nil {
		m.wake(s.key)
	}
	m.enqueueStatuses(s)
	m.later(s.key, tries.Next.Sub(now))
}

// heard notes that a server has taken something. If it was unhealthy, what failed has another chance: the question for
// its health may be what it does not answer.
func (m *model) heard(class string) {
	c, now := m.classes[class], m.k.Clock.Now()
	if c == nil || c.checked == nil || c.checked.status == v1alpha1.Healthy || now.Sub(c.woken) < m.k.Retry.MaxDelay {
		return
	}
	c.woken = now
	m.k.healths.Enqueue(dialect.ClassID(class))
	m.retryFailed(class)
}

// enqueueStatuses has the statuses of a slot's records written.
func (m *model) enqueueStatuses(s *slot) {
	for _, r := range slices.Concat(s.claims, s.holders) {
		m.k.recordWriter.Enqueue(r.id)
	}
}

// retryFailed gives the slots of a class that have failed another try now.
func (m *model) retryFailed(class string) {
	if c := m.classes[class]; c != nil {
		m.open(c)
	}
	for _, key := range m.slotsOf(class) {
		if s := m.slots[key]; s != nil && s.failure() != nil {
			s.course.upserts.Schedule, s.course.removals.Schedule = servers.Schedule{}, servers.Schedule{}
			m.wake(key)
		}
	}
}

// wakeClass has all slots of a class looked at.
func (m *model) wakeClass(class string) {
	for _, key := range m.slotsOf(class) {
		if s := m.slots[key]; s != nil { // the look at one before may have ended it
			m.enqueueStatuses(s)
			m.wake(key)
		}
	}
}
