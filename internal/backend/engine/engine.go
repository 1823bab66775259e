package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// Config is what an Engine needs. Ceilings, Ledger, Report, Clock and Rand are required.
type Config struct {
	Ceilings CeilingStore
	Ledger   Ledger

	// Report receives the news, one report at a time for each target, in order, with no lock held. It must not block.
	Report func(Report)

	// OnDrift, unless nil, hears what somebody else has changed where only zonefold writes, under the same rules.
	OnDrift func(Drift)

	// Leads reports whether nobody else can be doing the same by now; nil: nobody else ever does. Without it nothing is
	// sent: what is wanted here may be what was wanted once. A Backend asks before each message: backend.MaySend.
	Leads func() bool

	// Late returns until when a message of who was the leader before may arrive; zero: none can; nil: nobody was. What is
	// read before is read again then, and what is withdrawn before is not confirmed before.
	Late func() time.Time

	Clock   backend.Clock
	Rand    func() float64 // in [0,1), for jitter; called by one goroutine at a time
	Log     *slog.Logger   // nil: none
	Metrics Metrics        // nil: none

	// Tracing, unless nil, is called around each Apply with the feed and the sequence number of the content that it is
	// for. The Apply gets its context; the function is called with what came of it.
	Tracing func(ctx context.Context, feed string, seq uint64,
		target backend.TargetKey) (context.Context, func(changes int, err error))

	Audit     time.Duration // how often an idle target is read, more or less; 0: never. Attachment.Audit overrides.
	Timeout   time.Duration // of one call of a Backend, the Ledger or the CeilingStore; 0: 30 s
	MaxActive int           // calls at the same time over all servers; 0: 32
	PerServer int           // the same for one server that does not say (Limits.Concurrency); 0: 4

	// Backoff returns how long to wait after a number of failures (from 1) in a row; nil: exponential with jitter.
	Backoff func(class backend.ErrorClass, failures int) time.Duration
}

// A Ledger remembers across restarts which sets zonefold has put where foreign sets are kept. Record returns when the
// sets are stored; they are sent afterwards. What it stored comes back as Attachment.Written: a set leaves the ledger
// when every target's report confirms a content without it and does not list it as lingering. The same holds for every
// single name server of the zone, so a set that comes again with other values adds them to those that are stored. A
// feed that takes the place of another records all that it wants, of which it may have some already.
type Ledger interface {
	Record(ctx context.Context, feed string, sets []rr.Set) error
}

// An Attachment binds a feed to a target through one client. Name is unique at its target; attaching again under the
// same name replaces what it was.
type Attachment struct {
	Name    string // such as the Backend object's
	Version uint64 // the caller's, who may tell by it what a Report is about
	Feed    *Feed
	Backend backend.Backend
	Kind    string    // of the backend, for metrics
	Since   time.Time // age, among the attachments of one feed

	Keep    bool          // leave foreign sets alone (plan.Scope)
	Written rr.Sets       // with Keep: the ledger, as sets where their data are known
	Observe bool          // report the difference, write nothing
	Audit   time.Duration // 0: the engine's, negative: never

	Withdraw bool // it is being withdrawn, as by Engine.Withdraw

	// Exact says that nobody has kept what it wrote from others: a set of Written is zonefold's only where the server
	// holds no value besides. A server that shows nothing is believed to hold what was written.
	Exact bool

	// Registry tells which foreign sets may not even be overwritten, with Keep where the server shows all of a zone; nil:
	// none. It never changes.
	Registry *registry.Registry

	// Protection bounds what may be deleted; Approved are the plans of deletions that may be made all the same
	// (Held.Plan). An overlay has none.
	Protection plan.Protection
	Approved   []string

	// Restore has what Protection holds come back at a server that has no zone: it has lost it, or is in the place of one
	// that is gone.
	Restore bool
}

// Engine runs the workers of all targets. An idle target costs memory only: a worker exists while there is something to
// do. Its methods are safe for concurrent use and do not block, except Stop.
type Engine struct {
	cfg        Config
	ctx        context.Context // of everything that is under way
	cancel     context.CancelFunc
	background sync.WaitGroup
	scheduler  guarded.Value[scheduler]
}

// New makes an Engine.
func New(cfg Config) *Engine {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.Tracing == nil {
		cfg.Tracing = noTracing
	}
	cfg.Timeout = orDefault(cfg.Timeout, 30*time.Second)
	cfg.MaxActive = orDefault(cfg.MaxActive, 32)
	cfg.PerServer = orDefault(cfg.PerServer, 4)
	cfg.Rand = oneAtATime(cfg.Rand)
	if cfg.Backoff == nil {
		cfg.Backoff = func(class backend.ErrorClass, failures int) time.Duration {
			return backend.Jitter(waits[class].After(failures), cfg.Rand())
		}
	}
	e := &Engine{cfg: cfg}
	s, unlock := e.scheduler.Lock()
	defer unlock()
	s.engine, s.targets, s.servers = e, map[spot]*target{}, map[string]*server{}
	s.places = map[backend.TargetKey][]*target{}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// noTracing is for an engine whose calls nobody follows.
func noTracing(ctx context.Context, _ string, _ uint64, _ backend.TargetKey) (context.Context, func(int, error)) {
	return ctx, func(int, error) {}
}

func oneAtATime(f func() float64) func() float64 {
	var mu sync.Mutex
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return f()
	}
}

func orDefault[T ~int | ~int64](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}

// Attach makes a feed's content be delivered to a target, or replaces an attachment (new credentials, other settings).
// Of attachments of several feeds at one target the oldest feed has it and the others hear ErrHeld; of several of one
// feed the oldest attachment whose credentials work does the work and all hear of it.
func (e *Engine) Attach(key backend.TargetKey, a Attachment) {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	at := a.Feed.at(key)
	t := s.targets[at]
	if t == nil {
		t = s.newTarget(at)
	}
	t.attach(a)
	s.wake(t, wakeForce)
}

// Detach ends an attachment and leaves in the target what is there. It reports nothing.
func (e *Engine) Detach(key backend.TargetKey, name string) {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	for _, t := range s.place(key) {
		if t.attachments[name] != nil {
			t.detach(name)
			s.wake(t, wakeForce)
			if beneath := t.beneath(); beneath != nil {
				s.wake(beneath, wakeWant) // what lay over it is within its reach
			}
		}
	}
}

// Withdraw ends an attachment and removes from the target what zonefold wrote on its behalf, unless another attachment
// wants it: a zone owned whole is removed where the server can do that (Limits.Removes), else emptied but for SOA, apex
// NS and their addresses; elsewhere the written sets go. An overlay publishes that it wants nothing instead.
// Report.Withdrawn confirms it. An attachment that does not exist is confirmed at once by false: there is nothing to
// wait for.
func (e *Engine) Withdraw(key backend.TargetKey, name string) bool {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	t := s.targets[spot{TargetKey: key}]
	if t == nil || t.attachments[name] == nil {
		return false
	}
	t.attachments[name].leaving = true
	t.markAllDirty()
	s.wake(t, wakeForce)
	return true
}

// Poke has what a feed wants at a target tried again now, if that waits after a failure. Others wait for themselves.
func (e *Engine) Poke(key backend.TargetKey, of *Feed) {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	if t := s.targets[of.at(key)]; t != nil {
		s.wake(t, wakeForce)
	}
}

// Audit has a target read from scratch and compared now, as its audits do from time to time; refused sets are tried
// again.
func (e *Engine) Audit(key backend.TargetKey) {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	if t := s.targets[spot{TargetKey: key}]; t != nil {
		t.audit = e.cfg.Clock.Now()
		s.wake(t, wakeForce)
	}
}

// Stop ends the engine: the messages under way are finished, nothing more is sent, reported or stored afterwards. When
// ctx ends first, they are broken off. It returns when no worker is left.
func (e *Engine) Stop(ctx context.Context) {
	s, unlock := e.scheduler.Lock()
	s.stop()
	unlock()
	idle := make(chan struct{})
	go func() {
		e.background.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	e.cancel()
	<-idle
}

// Metrics is told what the engine does. Kind is Attachment.Kind; the class is "" for success. Methods must not block.
type Metrics interface {
	Applied(kind string, changes int, took time.Duration, class backend.ErrorClass) // one Backend.Apply
	Read(kind string, sets int, took time.Duration, class backend.ErrorClass)       // one Backend.Read
	Refused(kind string, sets int)                                                  // by the server, or by its limits
	Raised(class backend.ErrorClass)                                                // one CeilingStore.Raise
	Held(kind string, more int)                                                     // so many more, by a brake
}

// noMetrics is for an engine that nobody watches.
type noMetrics struct{}

func (noMetrics) Applied(string, int, time.Duration, backend.ErrorClass) {}

func (noMetrics) Read(string, int, time.Duration, backend.ErrorClass) {}

func (noMetrics) Refused(string, int) {}

func (noMetrics) Raised(backend.ErrorClass) {}

func (noMetrics) Held(string, int) {}

// HoldZones keeps zones from being delivered through attachments of some kinds until the function that it returns is
// called. Sets of overlays are not sent again when an operator starts: they have to be known before zones are compared
// with what is there.
func (e *Engine) HoldZones(kinds ...string) (release func()) {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	s.held = kinds
	return sync.OnceFunc(func() {
		s, unlock := e.scheduler.Lock()
		defer unlock()
		s.held = nil
		for at, t := range s.targets {
			if !at.overlay() && t.paused {
				t.paused, t.queued = false, false
				s.enqueue(t)
			}
		}
	})
}

// HoldsZones reports whether zones are held.
func (e *Engine) HoldsZones() bool {
	s, unlock := e.scheduler.Lock()
	defer unlock()
	return len(s.held) > 0
}

// isHeld reports whether a worker has to wait until zones are delivered.
func (t *target) isHeld() bool {
	if t.overlay() || len(t.scheduler.held) == 0 {
		return false
	}
	a := t.holder()
	return a != nil && slices.Contains(t.scheduler.held, a.Kind)
}
