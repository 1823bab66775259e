package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// run is one run of the worker: it takes what there is to do, does it, reports, and says when to run again.
func (t *target) run() {
	e := t.engine
	j, ok := t.takeJob()
	if !ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		t.finish()
		return
	}
	err := t.sync(e.ctx, &j)
	if errors.Is(err, errStopped) || e.ctx.Err() != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		t.finish()
		return
	}
	t.conclude(&j, err)
	if !t.atOnce() { // else it is no news
		for _, r := range t.reports(&j) {
			e.cfg.Report(r)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t.schedule(&j)
	t.finish()
}

// conclude records how the run went.
func (t *target) conclude(j *job, err error) {
	e, s := t.engine, &t.state
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.cfg.Clock.Now()
	t.note(j, err, now)
	s.err = err
	j.a.err = err
	if j.read && t.audit.Equal(j.due) {
		// else somebody has asked for one meanwhile, and may not mean what was read by then
		t.audit = j.nextAudit(e, now)
	}
	class := backend.Class(err)
	if err == nil {
		t.failures, t.class = 0, ""
		j.a.denied = false
		delete(t.server.failing, t)
		if j.asked {
			e.recovered(t.server)
		}
		return
	}
	e.cfg.Log.Warn("A zone could not be delivered; it will be tried again.", slog.String("zone", t.key.Zone.String()),
		slog.String("server", t.key.Server), slog.String("attachment", j.a.Name), slog.String("error", err.Error()))
	t.failures++
	t.failed, t.class = now, class
	switch class {
	case backend.ErrUnavailable:
		t.server.failing[t] = true
	case backend.ErrThrottled:
		e.hold(t.server, now.Add(t.wait(err)))
	case backend.ErrNotAuthorised:
		j.a.denied = true
	case backend.ErrConflict:
		s.conflicts++
	}
}

// wait says how long to wait after an error.
func (t *target) wait(err error) time.Duration {
	if detail, ok := errors.AsType[*backend.Error](err); ok && detail.After > 0 {
		return detail.After
	}
	return t.engine.cfg.Backoff(t.class, t.failures)
}

// quickConflicts is how often a lost race against another writer, of the server or of the ceiling, is run again at
// once.
const quickConflicts = 3

// atOnce reports whether the run has lost a race, and the next one follows without a pause.
func (t *target) atOnce() bool {
	s := &t.state
	return s.err != nil && t.class == backend.ErrConflict && s.conflicts <= quickConflicts
}

// schedule says when the target runs next. Engine.mu is held.
func (t *target) schedule(j *job) {
	e, s := t.engine, &t.state
	now := e.cfg.Clock.Now()
	if s.err != nil {
		other := t.holder()
		if t.class == backend.ErrNotAuthorised && other != nil && other != j.a && !other.denied {
			t.again, t.forced = true, true
			return
		}
		if t.atOnce() {
			t.again, t.forced = true, true
			return
		}
		due := now.Add(t.wait(s.err))
		if t.class == backend.ErrThrottled {
			due = t.server.held
		}
		e.delay(&t.delay, due)
		return
	}
	if !j.limits.Volatile { // a server in this process is told for nothing
		t.rest = now.Add(rest(j.changed))
	}
	due := t.audit
	if s.late.After(now) {
		due = earlier(due, s.late)
	}
	due = earlier(due, earlier(s.brake.retry, earlier(s.refused.retry, s.refused.ripe)))
	if s.pending != nil {
		due = earlier(due, s.pending.next)
	}
	if !due.IsZero() {
		e.delay(&t.delay, due)
	}
}

// earlier returns the earlier of two times, zero being never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// finish ends the run: the target runs again, waits, or goes when nobody is attached. Engine.mu is held.
func (t *target) finish() {
	e := t.engine
	e.ran(t)
	again, forced := t.again, t.forced
	t.again, t.forced = false, false
	if len(t.attachments) == 0 && !again {
		e.undelay(&t.delay)
		t.untell()
		delete(t.server.failing, t)
		delete(e.targets, spot{t.key, t.overlay})
		if t.server.targets--; t.server.targets == 0 {
			delete(e.servers, t.server.name)
		}
		return
	}
	switch {
	case forced:
		e.wake(t, wakeForce)
	case again:
		e.wake(t, wakeWant)
	}
}

// reports returns the news for every attachment, and lets those go that are withdrawn.
func (t *target) reports(j *job) []Report {
	e := t.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	var news []Report
	for name, a := range t.attachments {
		r := t.report(j, a)
		now := reported{r.Seq, r.Serial, backend.Class(r.Err), errorText(r.Err), t.state.refused.generation, t.state.diffGen,
			r.Foreign, r.Untaken, r.Withdrawn, r.Taken, t.state.brake.generation}
		if a.fresh || now != a.reported {
			a.fresh, a.reported = false, now
			news = append(news, r)
		}
		if r.Withdrawn {
			t.unhook(a.Feed)
			delete(t.attachments, name)
		}
	}
	return news
}

// report says how one attachment stands after a run. One that was leaving when the run began is withdrawn when another
// of its feed stays, or when the run put the target in order without it.
func (t *target) report(j *job, a *attachment) Report {
	s := &t.state
	r := Report{Target: t.key, Name: a.Name, Feed: a.Feed.id, Foreign: s.foreign, Untaken: s.untaken}
	if a.Feed != j.feed && !a.leaving {
		r.Err = &backend.Error{Class: backend.ErrHeld, Err: errors.New("zone " + j.feed.id + " is older and has this target")}
		return r
	}
	r.Serial, r.Given, r.Err = s.soa.Serial, s.given, s.err
	if a.denied || a != j.a && backend.Class(s.err) == backend.ErrNotAuthorised {
		r.Err = a.err
	}
	r.Refused, r.Lingering = s.refused.report()
	r.Held = s.brake.told
	r.Withdrawn = a.parting && (!j.leaving && a.Feed == j.feed || s.complete && len(r.Lingering) == 0 && s.late.IsZero())
	if a.Feed == j.feed && !a.leaving {
		r.Seq, r.Difference = s.seq, s.difference
		r.Taken = r.Err != nil && j.changed > 0
	}
	return r
}

// stopped reports whether nothing more may be sent.
func (t *target) stopped(ctx context.Context) bool {
	e := t.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped || ctx.Err() != nil
}

// callContext bounds one call.
func (t *target) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, t.engine.cfg.Timeout)
}

// keysOf returns the keys of all sets.
func keysOf(sets rr.Sets) []rr.Key {
	keys := make([]rr.Key, 0, sets.Len())
	for s := range sets.All() {
		keys = append(keys, s.Key())
	}
	return keys
}

// errStopped ends a run whose engine was stopped; it is never reported.
var errStopped = errors.New("the engine has stopped")
