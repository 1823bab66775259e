package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// run is one run of the worker: it takes what there is to do, does it, reports, and says when to run again.
func (w *worker) run() {
	e := w.engine
	j, ok := w.takeJob()
	if !ok {
		w.finish(nil)
		return
	}
	err := w.sync(e.ctx, &j)
	w.measure(&j)
	if errors.Is(err, errStopped) || e.ctx.Err() != nil {
		w.finish(nil)
		return
	}
	for _, r := range w.conclude(&j, err) {
		e.cfg.Report(r)
	}
	w.finish(&j)
}

// conclude records how the run went, and returns the news.
func (w *worker) conclude(j *job, err error) []Report {
	s := &w.state
	t, unlock := w.lock()
	defer unlock()
	if t.conclude(s, j, err); s.atOnce() {
		return nil // it is no news
	}
	return t.reports(s, j)
}

// finish ends the run, and says when the next one is if this one was not broken off.
func (w *worker) finish(j *job) {
	t, unlock := w.lock()
	if j != nil {
		t.schedule(&w.state, j)
	}
	gone := t.finish()
	unlock()
	if gone {
		w.measureHeld(shown{})
	}
}

// measure has metrics follow what was refused and is held.
func (w *worker) measure(j *job) {
	if j.refused > 0 {
		w.engine.cfg.Metrics.Refused(j.a.Kind, j.refused)
	}
	b := &w.state.brake
	w.measureHeld(shown{b.kind, b.told.sets()})
}

func (w *worker) measureHeld(now shown) {
	m, old := w.engine.cfg.Metrics, w.shown
	if now == old || now.sets == 0 && old.sets == 0 {
		return
	}
	if old.sets > 0 {
		m.Held(old.kind, -old.sets)
	}
	if now.sets > 0 {
		m.Held(now.kind, now.sets)
	}
	w.shown = now
}

// conclude records how the run went.
func (t *target) conclude(s *state, j *job, err error) {
	cfg, now, a := &t.scheduler.engine.cfg, t.scheduler.now(), j.through.In(t.scheduler)
	t.note(s, j, err, now)
	a.feed.hear()
	s.err = err
	a.err = err
	due := j.due
	if j.read {
		due = j.nextAudit(cfg, now)
	}
	// Somebody may have asked for one meanwhile, and not mean what was read by then.
	t.audit = earlier(t.audit, due)
	class := backend.Class(err)
	if err == nil {
		t.keep(s, j)
		t.failures, t.class = 0, ""
		a.denied = 0
		delete(t.server.failing, t)
		if j.asked {
			t.scheduler.recovered(t.server)
		}
		return
	}
	cfg.Log.Warn("A zone could not be delivered; the operator tries again.", slog.String("zone", t.Zone.String()),
		slog.String("server", t.Server), slog.String("attachment", j.a.Name), slog.String("error", err.Error()))
	t.failures++
	t.failed, t.class = now, class
	switch class {
	case backend.ErrUnavailable:
		t.server.failing[t] = true
	case backend.ErrThrottled:
		t.server.hold(now.Add(t.wait(err)))
	case backend.ErrNotAuthorised:
		a.denied++
	case backend.ErrConflict:
		s.conflicts++
	}
}

// wait says how long to wait after an error.
func (t *target) wait(err error) time.Duration {
	if pause := backend.Pause(err); pause > 0 {
		return pause
	}
	return t.scheduler.engine.cfg.Backoff(t.class, t.failures)
}

// quickConflicts is how often a lost race against another writer, of the server or of the ceiling, is run again at
// once.
const quickConflicts = 3

// atOnce reports whether the run has lost a race, and the next one follows without a pause.
func (s *state) atOnce() bool {
	return backend.Class(s.err) == backend.ErrConflict && s.conflicts <= quickConflicts
}

// schedule says when the target runs next.
func (t *target) schedule(s *state, j *job) {
	now := t.scheduler.now()
	if s.err != nil {
		other := t.holder()
		if t.class == backend.ErrNotAuthorised && other != nil && other != j.through.In(t.scheduler) && other.denied == 0 {
			t.again, t.forced = true, true
			return
		}
		if s.atOnce() {
			t.again, t.forced = true, true
			return
		}
		due := now.Add(t.wait(s.err))
		if t.class == backend.ErrThrottled {
			due = t.server.held
		}
		t.scheduler.delay(&t.delay, due)
		return
	}
	if !j.ready {
		return // what is due waits for a content too
	}
	if !j.limits.Volatile { // a server in this process is told for nothing
		t.rest = now.Add(rest(j.changed))
	}
	due := earlier(t.audit, j.late)
	due = earlier(due, earlier(s.brake.retry, earlier(s.refused.retry, s.refused.ripe)))
	if s.pending != nil {
		due = earlier(due, s.pending.next)
	}
	if !due.IsZero() {
		t.scheduler.delay(&t.delay, due)
	}
}

// earlier returns the earlier of two times, zero being never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// finish ends the run: the target runs again, waits, or goes when nobody is attached.
func (t *target) finish() (gone bool) {
	s := t.scheduler
	s.ran(t)
	again, forced := t.again, t.forced
	t.again, t.forced = false, false
	if len(t.attachments) == 0 && !again {
		s.undelay(&t.delay)
		delete(t.server.failing, t)
		delete(s.targets, t.spot)
		s.places[t.TargetKey] = slices.DeleteFunc(s.places[t.TargetKey], func(o *target) bool { return o == t })
		if len(s.places[t.TargetKey]) == 0 {
			delete(s.places, t.TargetKey)
		}
		if t.server.targets--; t.server.targets == 0 {
			delete(s.servers, t.server.name)
		}
		return true
	}
	switch {
	case forced:
		s.wake(t, wakeForce)
	case again:
		s.wake(t, wakeWant)
	}
	return false
}

// reports returns the news for every attachment, and lets those go that are withdrawn.
func (t *target) reports(s *state, j *job) []Report {
	var news []Report
	for name, a := range t.attachments {
		if !a.known || !j.ready && a.Feed == j.feed && !a.parting {
			continue // the run knew nothing of it, or of what is wanted there
		}
		r := t.report(s, j, a)
		now := reported{r.Seq, r.Serial, backend.Class(r.Err), errorText(r.Err), s.refused.generation, s.diffGen,
			r.Foreign, r.Untaken, r.Withdrawn, r.Taken, s.brake.generation}
		if a.fresh || now != a.reported {
			a.fresh, a.reported = false, now
			news = append(news, r)
		}
		if r.Withdrawn {
			t.unhook(a.feed)
			delete(t.attachments, name)
		}
	}
	return news
}

// report says how one attachment stands after a run. One that was leaving when the run began is withdrawn when another
// of its feed stays, or when the run put the target in order without it.
func (t *target) report(s *state, j *job, a *attachment) Report {
	r := Report{Target: t.TargetKey, Name: a.Name, Version: a.Version, Feed: a.Feed.id, Foreign: s.foreign,
		Untaken: s.untaken}
	if a.Feed != j.feed && !a.leaving {
		r.Err = &backend.Error{Class: backend.ErrHeld, Err: errors.New("zone " + j.feed.id + " is older and has this target")}
		return r
	}
	r.Serial, r.Given, r.Err = s.soa.Serial, s.given, s.err
	if a.denied > 0 || a != j.through.In(t.scheduler) && backend.Class(s.err) == backend.ErrNotAuthorised {
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
func (w *worker) stopped(ctx context.Context) bool {
	s, unlock := w.engine.scheduler.Lock()
	defer unlock()
	return s.stopped || ctx.Err() != nil
}

// callContext bounds one call.
func (w *worker) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, w.engine.cfg.Timeout)
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
