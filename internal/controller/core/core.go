package core

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Core owns the World. Dialects put their objects in from any goroutine; one
// goroutine settles whatever has gathered and hands on the delta.
type Core struct {
	options zone.Options
	clock   func() time.Time
	settled func(Settlement)
	metrics *controller.Metrics
	log     *slog.Logger

	state guarded.Shared[state]
	puts  guarded.Value[[]put] // that have gathered
	wake  chan struct{}
	asks  chan *question
	runs  atomic.Bool // it answers
	burst burst
}

// state is the World as of the last step, and who waits for the next one. Only Run changes the World.
type state struct {
	world     *zone.World
	reporting chan struct{} // closed when settled has returned from the last step; nil: it has
	watches   map[*Watch]struct{}
	rest      time.Time // until when questions have been paid for
}

// put is one change to the World.
type put struct {
	Input
	apply func(*zone.World)
}

// A Settlement is one step of the World. View is valid only during the call.
type Settlement struct {
	Delta  zone.Delta
	Inputs []Input // objects that were put or deleted, whether that changed anything or not
	View   *zone.World
	At     time.Time
}

// An Input is an object and what was put of it; the zero Version: it was deleted.
type Input struct {
	ID      zone.ID
	Version Version
	Seen    time.Time // when it was put
}

// Gone reports whether the object was deleted.
func (t Input) Gone() bool { return t.Version == Version{} }

// A Version is one spec of one object.
type Version struct {
	UID        types.UID
	Generation int64
}

// VersionOf returns the version that an object is of.
func VersionOf(o metav1.Object) Version {
	return Version{UID: o.GetUID(), Generation: o.GetGeneration()}
}

// Config is what a Core needs.
type Config struct {
	Options zone.Options
	Clock   func() time.Time
	Metrics *controller.Metrics
	Log     *slog.Logger     // has a line for each verdict, at level debug; nil: none
	Settled func(Settlement) // called, by one goroutine, after every step
}

// New returns a Core with an empty World.
func New(c Config) *Core {
	out := &Core{options: c.Options, clock: c.Clock, settled: c.Settled, metrics: c.Metrics,
		log:  cmp.Or(c.Log, slog.New(slog.DiscardHandler)),
		wake: make(chan struct{}, 1), asks: make(chan *question)}
	st, unlock := out.state.Lock()
	defer unlock()
	st.world, st.watches = zone.New(c.Options), map[*Watch]struct{}{}
	return out
}

// PutZone hands a Zone, as a version of its object says, to the World; no put blocks.
func (c *Core) PutZone(z zone.Zone, v Version) {
	c.put(put{Input{ID: z.ID, Version: v}, func(w *zone.World) { w.PutZone(z) }})
}

// PutClaim hands a claim, as a version of its object says, to the World.
func (c *Core) PutClaim(claim zone.Claim, v Version) {
	c.put(put{Input{ID: claim.ID, Version: v}, func(w *zone.World) { w.PutClaim(claim) }})
}

// PutGrants replaces what a Backend grants; none removes it.
func (c *Core) PutGrants(backend string, grants []zone.Grant) {
	c.put(put{apply: func(w *zone.World) { w.PutGrants(backend, grants) }})
}

// DeleteZone removes a Zone.
func (c *Core) DeleteZone(id zone.ID) {
	c.put(put{Input{ID: id}, func(w *zone.World) { w.DeleteZone(id) }})
}

// WithdrawZone removes a Zone whose object is being deleted and still there.
func (c *Core) WithdrawZone(id zone.ID) {
	c.put(put{Input{ID: id}, func(w *zone.World) { w.WithdrawZone(id) }})
}

// DeleteClaim removes a claim.
func (c *Core) DeleteClaim(id zone.ID) {
	c.put(put{Input{ID: id}, func(w *zone.World) { w.DeleteClaim(id) }})
}

func (c *Core) put(p put) {
	p.Seen = c.clock()
	c.burst.change(p.Seen)
	puts, unlock := c.puts.Lock()
	*puts = append(*puts, p)
	unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Verdict returns what was decided about an object at the last step. It waits until everybody has been told of that
// step: who asks what came of the verdict would be told of the one before. So it is not for who is being told.
func (c *Core) Verdict(id zone.ID) (zone.Verdict, bool) {
	for {
		st, unlock := c.state.RLock()
		telling := st.reporting
		v, ok := st.world.Verdict(id)
		unlock()
		if telling == nil {
			return v, ok
		}
		<-telling
	}
}

// Snapshot returns the content of an accepted Zone as of the last step.
func (c *Core) Snapshot(id zone.ID) (zone.Snapshot, bool) {
	st, unlock := c.state.RLock()
	defer unlock()
	return st.world.Snapshot(id)
}

// Zone returns the accepted Zone of a name.
func (c *Core) Zone(name dnsname.Name) (zone.ID, bool) {
	st, unlock := c.state.RLock()
	defer unlock()
	return st.world.ZoneOf(name)
}

// OpenTo returns the names of the Zones that let a namespace have records.
func (c *Core) OpenTo(namespace string) []dnsname.Name {
	st, unlock := c.state.RLock()
	defer unlock()
	return st.world.OpenTo(namespace)
}

// Adopted returns the claims that a Zone has adopted, in no order.
func (c *Core) Adopted(id zone.ID) []zone.ID {
	st, unlock := c.state.RLock()
	defer unlock()
	var out []zone.ID
	st.world.Adopted(id, func(claim zone.ID) bool {
		out = append(out, claim)
		return true
	})
	return out
}

// AdoptedAt returns the claims that a Zone has adopted into some sets, in no order.
func (c *Core) AdoptedAt(id zone.ID, keys []rr.Key) []zone.ID {
	st, unlock := c.state.RLock()
	defer unlock()
	var out []zone.ID
	for _, key := range keys {
		st.world.AdoptedAt(id, key, func(claim zone.ID) bool {
			out = append(out, claim)
			return true
		})
	}
	return out
}

// Served returns the claims whose sets are to be at the servers of a Zone, in no order.
func (c *Core) Served(id zone.ID) []zone.ID {
	st, unlock := c.state.RLock()
	defer unlock()
	return slices.Collect(func(yield func(zone.ID) bool) { st.world.Served(id, yield) })
}

// ServedAt returns those of some sets, in no order.
func (c *Core) ServedAt(id zone.ID, keys []rr.Key) (out []zone.ID) {
	st, unlock := c.state.RLock()
	defer unlock()
	for _, key := range keys {
		out = slices.AppendSeq(out, func(yield func(zone.ID) bool) { st.world.ServedAt(id, key, yield) })
	}
	return out
}

// RefusedAt returns the claims to a name that no Zone has adopted, in no order.
func (c *Core) RefusedAt(name dnsname.Name) (out []zone.ID) {
	st, unlock := c.state.RLock()
	defer unlock()
	st.world.RefusedAt(name, func(claim zone.ID) bool {
		out = append(out, claim)
		return true
	})
	return out
}

// Busy reports whether a burst of changes is going on. A few changes, or a steady flow of
// them, are none: the statuses of those are soon written.
func (c *Core) Busy() bool { return c.burst.lasts(c.clock()) }

// Expect says that somebody waits for changes to be answered, until done is called.
func (c *Core) Expect() (done func()) { return c.burst.await(c.clock) }

// Rehearse returns what the World will be at the first step by what was put so far: before Run.
func (c *Core) Rehearse() *zone.World {
	w := zone.New(c.options)
	puts, unlock := c.puts.Lock()
	gathered := slices.Clone(*puts)
	unlock()
	for _, p := range gathered {
		p.apply(w)
	}
	w.Settle()
	return w
}

// Run settles until ctx ends. It begins after ready returns true: before every
// object that exists has been put, the World would take what is unknown for absent.
func (c *Core) Run(ctx context.Context, ready func(context.Context) bool) error {
	if !ready(ctx) {
		return ctx.Err()
	}
	for first := true; ; first = false {
		if puts := c.take(); first || len(puts) > 0 { // that there is nothing is news too
			c.step(puts)
		}
		if first {
			c.runs.Store(true)
			defer c.runs.Store(false)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
		case q := <-c.asks:
			if puts := c.take(); len(puts) > 0 { // what is known goes before what might be
				c.step(puts)
			}
			c.answer(q)
		}
	}
}

// take returns what has gathered.
func (c *Core) take() []put {
	puts, unlock := c.puts.Lock()
	defer unlock()
	gathered := *puts
	*puts = nil
	return gathered
}

func (c *Core) step(puts []put) {
	began := c.clock()
	st, unlock := c.state.Lock()
	s := Settlement{Inputs: make([]Input, 0, len(puts)), View: st.world, At: began}
	for _, p := range puts {
		p.apply(st.world)
		if !p.ID.IsZero() {
			s.Inputs = append(s.Inputs, p.Input)
		}
	}
	s.Delta = st.world.Settle()
	told := make(chan struct{})
	st.reporting = told
	unlock()
	c.metrics.Settled(c.clock().Sub(began), len(puts))
	c.tell(s)
	c.settled(s)
	st, unlock = c.state.Lock()
	st.reporting = nil
	for w := range st.watches {
		w.note(s.Inputs)
	}
	unlock()
	close(told)
}

// tell logs what was decided.
func (c *Core) tell(s Settlement) {
	if !c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for _, id := range s.Delta.Verdicts {
		if v, ok := s.View.Verdict(id); ok {
			c.log.Debug("an object is judged", "object", id.String(), "accepted", v.Accepted, "reason", string(v.Reason),
				"message", v.Message)
		}
	}
}

// Explained says why an object has what it has, as of the last step; false if it is not known.
func (c *Core) Explained(id zone.ID) (zone.Explanation, bool) {
	st, unlock := c.state.RLock()
	defer unlock()
	return st.world.ExplainObject(id)
}
