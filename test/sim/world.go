package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/gardener"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// How long things take, in virtual time.
const (
	requestTime = time.Millisecond     // at the API server
	messageTime = 2 * time.Millisecond // to a name server
	restartTime = time.Second          // of an operator that has crashed
	jitter      = time.Millisecond     // more or less, so that few things happen at the same instant
)

// errCrashed is what an operator that does not live any more gets for all it does.
var errCrashed = errors.New("this operator has crashed")

// errStopped is what an operator gets for a message that it was about to send when it was stopped.
var errStopped = errors.New("this operator was stopped before it could send")

// Process is what an operator is given by the world, in the place of what a real one has from its machine.
type Process struct {
	Config  *rest.Config
	Connect func(usual Connector) Connector
	Open    func(usual Opener) Opener
	Log     *slog.Logger
	Chance  func() float64

	Dialects []string          // that are on
	Sources  []string          // of names, beside Records, that are on
	Entries  int               // that the status of a Zone has at most; 0: as many as it holds
	Webhooks http.RoundTripper // to the servers of DNSClasses
	Services http.RoundTripper // to the APIs of services
	Pods     bind9.Network     // to the name servers of fleets

	// Where its own name server is, none if that is the zero one, and how replicas reach each other.
	DNS    netip.AddrPort
	Listen func(context.Context, netip.AddrPort) (net.Listener, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Admit  func(context.Context, http.Handler) error // has reviews asked for until the context ends
}

// A Connector makes clients of servers.
type Connector = func(backends.Settings) ([]delivery.Server, error)

// An Opener opens the accounts of DNSRecords of Gardener.
type Opener = func(gardener.Request) (backend.Account, error)

// Run runs an operator until the context ends.
type Run func(context.Context, Process) error

// A World has an API server, name servers that outlive operators, and operators.
type World struct {
	api   *API
	run   Run
	now   func() time.Time // by the clock of operators, which does not jump
	nodes *nodes           // nil: there are none
	crew  crew
	eyes  *witness

	mu       sync.Mutex
	servers  map[string]*server  // by address
	hooks    map[string]*webhook // by host
	services map[string]*service // by host
	dialects []string
	entries  int       // that the status of a Zone has at most
	effects  []string  // that operators had, in order
	follows  []bool    // see Outcome
	last     time.Time // of them; zero: people or servers have done something since
	faults   []Fault
	met      int       // of them
	hurt     time.Time // when one was last met
	seed     uint64
	times    map[string]int         // effects of a name
	recent   map[string][]time.Time // those of the last second
	messages map[string]int         // of a name
	rest     time.Time              // until then no operator begins
	verbose  time.Duration          // how long it takes to log what was judged; 0: nobody does
	wrong    []string               // what must never happen and did
	crashed  chan struct{}
	living   []*operator
	parts    sync.WaitGroup

	operators  int // that live at the same time
	listeners  map[string]*listener
	replicas   []*replica // only who looks at them does
	chronicles map[dnsname.Name]*chronicle
	happened   chan struct{}
	embedded   bool // operators have name servers of their own
	reviews    *Reviews
	asked      int // for reviews
	denied     []string
	attempted  map[ref]string      // what may be wrong, and how; only steps look at it
	updates    map[rr.Key][]string // what there is by answers to dynamic updates
	unheard    map[rr.Key]bool     // what updates were about whose clients have not waited for an answer
}

// A server is a name server. It knows one key.
type server struct {
	*backendtest.Memory
	key  string
	slow time.Duration                     // how long answers to messages that were taken are on their way
	kept map[dnsname.Name]backendtest.Copy // contents, to come back with; only steps look at it

	unsynced bool // it ends after its next answer, without what that was about; World.mu guards it
	reads    int  // how often it was asked for a whole zone; World.mu guards it
}

func newWorld(kinds *Kinds, run Run, l Life) *World {
	w := &World{
		api: NewAPI(kinds, backend.SystemClock{}.Now), run: run, now: backend.SystemClock{}.Now,
		servers: map[string]*server{},
		crashed: make(chan struct{}, 8),
		hooks:   map[string]*webhook{}, services: map[string]*service{}, dialects: l.Dialects(),
		operators: 1, listeners: map[string]*listener{}, chronicles: map[dnsname.Name]*chronicle{},
		happened: make(chan struct{}, 1),
		embedded: l.embedded(), reviews: l.Reviews, attempted: map[ref]string{}, updates: map[rr.Key][]string{},
		unheard: map[rr.Key]bool{},
		faults:  append([]Fault{l.Fault}, l.Then...), seed: l.Seed, times: map[string]int{}, messages: map[string]int{},
		recent: map[string][]time.Time{},
	}
	w.eyes = newWitness(w.api.store.now, l.sources())
	w.eyes.books.disputed, w.eyes.books.wentOn = w.crew.contested, w.crew.lastWentOn
	w.eyes.reserves.asking = w.crew.asking
	w.api.rights, w.api.denied, w.api.lag, w.api.store.seen = l.Rights, w.fail, w.delay, w.eyes.changes
	return w
}

// fail notes what must never happen.
func (w *World) fail(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.wrong, what) {
		w.wrong = append(w.wrong, what)
	}
}

// An operator is one process.
type operator struct {
	world *World
	end   context.CancelFunc
	done  chan error
	admit http.Handler // nil: nobody is asked for reviews; World.mu guards it

	mu    sync.Mutex
	dead  bool
	ended bool                     // as a fault has it: crashed, or followed by another while it was paused
	again bool                     // it is started again when it ends: it was paused, and another one waited to lead
	over  time.Time                // when its Lease is, if it is not renewed; zero: it has not led
	late  map[string]time.Duration // of its watches, by plural, from a time on when it did not lead
	holds chan struct{}            // closed when it goes on; nil: it is not paused

	raises map[string]int      // ceilings that it is storing, by path
	asked  map[string][]uint32 // those that it has been about to store
}

// begin starts an operator.
func (w *World) begin(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	o := &operator{world: w, end: end, done: make(chan error, 1), raises: map[string]int{}}
	w.mu.Lock()
	w.living = append(w.living, o)
	chance := w.chance(len(w.living))
	w.mu.Unlock()
	w.crew.join(o)
	at := w.serves(o)
	w.happens()
	go func() {
		err := w.run(ctx, Process{
			Chance: chance,
			Config: &rest.Config{Host: "http://203.0.113.1", Transport: o}, Connect: o.connector, Open: o.opener,
			Log:      slog.New(slowLog{w}),
			Dialects: w.dialects, Sources: w.eyes.wishes.asking.names, Entries: w.entries,
			Webhooks: wire{o}, Services: call{o}, Pods: o.pods(),
			DNS: at, Listen: o.listen, Dial: o.dial, Admit: o.reviews,
		})
		if ctx.Err() == nil && (w.api.hasFailed() || o.comesAgain()) {
			o.deposed()
		}
		o.done <- err
	}()
}

// deposed has an operator followed by another that has ended because it could not renew its Lease, or could not begin.
func (o *operator) deposed() {
	o.mu.Lock()
	followed := o.ended
	o.ended = true
	o.mu.Unlock()
	if followed {
		return
	}
	select {
	case o.world.crashed <- struct{}{}:
	default:
	}
}

// crash has an operator do nothing any more, from one moment to the next.
func (o *operator) crash() {
	o.mu.Lock()
	o.dead, o.ended = true, true
	o.mu.Unlock()
	o.end()
	select {
	case o.world.crashed <- struct{}{}:
	default:
	}
}

// stop ends an operator as kubelet does, and waits for it.
func (o *operator) stop() error {
	o.end()
	return <-o.done
}

// pass waits while an operator is paused, and tells that it has crashed.
func (o *operator) pass(ctx context.Context, takes time.Duration) error {
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	return o.awake()
}

// awake waits while an operator is paused, and tells that it has crashed.
func (o *operator) awake() error {
	for {
		o.mu.Lock()
		dead, holds := o.dead, o.holds
		o.mu.Unlock()
		switch {
		case dead:
			return errCrashed
		case holds == nil:
			return nil
		}
		<-holds // also who would give up cannot: the process is stopped
	}
}

// depart waits for as long as a message to a name server is on its way. What is between the last look at the Lease and
// the wire is not held up (see docs/simulation.md): a message that is on its way when the process is stopped arrives.
// One that would set out while it is stopped does not: when the process goes on, it finds that its Lease is over.
func (o *operator) depart(ctx context.Context, takes time.Duration) error {
	o.mu.Lock()
	dead, holds := o.dead, o.holds
	o.mu.Unlock()
	switch {
	case dead:
		return errCrashed
	case holds != nil:
		<-holds
		o.mu.Lock()
		followed := o.ended
		o.mu.Unlock()
		if followed || o.isOver() {
			return errStopped
		}
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dead {
		return errCrashed
	}
	return nil
}

// effect does what changes the world, with the fault that is due.
func (o *operator) effect(ctx context.Context, takes time.Duration, what string, do func() error) error {
	o.lead(what)
	takes += o.world.delay(what)
	if strings.HasPrefix(what, update) {
		if err := o.depart(ctx, takes); err != nil {
			return err
		}
		defer func() { _ = o.pass(context.WithoutCancel(ctx), 0) }() // a process that is stopped hears nothing
	} else if err := o.pass(ctx, takes); err != nil {
		return err
	}
	switch kind := o.world.count(what); kind {
	case CrashBefore:
		o.crash()
		return errCrashed
	case CrashAfter:
		_ = do() // nobody hears what came of it
		o.crash()
		return errCrashed
	case Pause, PauseAfter, ShortPause, LongPause:
		switch {
		case strings.HasPrefix(what, update):
			defer o.pause(kind)
			return do()
		case kind == PauseAfter:
			err := do()
			o.pause(kind)
			return errors.Join(err, o.pass(ctx, 0))
		}
		o.pause(kind)
		if err := o.pass(ctx, 0); err != nil {
			return err
		}
	}
	return do()
}

// update begins the name of an effect that is a message to a name server.
const update = "UPDATE "

// RoundTrip implements http.RoundTripper: it is the way to the API server.
func (o *operator) RoundTrip(r *http.Request) (response *http.Response, err error) {
	if discovers(r) || tells(r) { // under a lock of the client: who waits for that does not let time pass
		if tells(r) && o.crashed() {
			return nil, errCrashed
		}
		return o.world.api.serve(r)
	}
	if !counts(r) {
		sent := o.world.now()
		if err := o.pass(r.Context(), requestTime+o.world.delay(effectName(r))); err != nil {
			return nil, err
		}
		if r.URL.Query().Has("watch") {
			r = r.WithContext(context.WithValue(r.Context(), follows{}, o))
		}
		return o.asks(r, sent)
	}
	defer o.raising(r)()
	err = o.effect(r.Context(), requestTime, effectName(r), func() error {
		response, err = o.world.api.serve(r) //nolint:bodyclose // it is the caller's
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// connect makes clients of the name servers of a Backend.
func (o *operator) connect(s backends.Settings) ([]delivery.Server, error) {
	if s.RFC2136 == nil {
		return nil, fmt.Errorf("there are only servers that take updates here, not %+v", s)
	}
	var out []delivery.Server
	for _, at := range s.RFC2136.Servers {
		o.world.mu.Lock()
		server := o.world.servers[at]
		o.world.mu.Unlock()
		if server == nil {
			return nil, fmt.Errorf("there is no server at %s", at)
		}
		out = append(out, delivery.Server{Name: at, Backend: &way{o, server, at, s.RFC2136.Secret}})
	}
	return out, nil
}

// A way leads from an operator to a name server.
type way struct {
	from *operator
	to   *server
	at   string
	key  string
}

func (w *way) client() backend.Backend {
	w.from.world.mu.Lock()
	defer w.from.world.mu.Unlock()
	return w.to.Client(w.key == w.to.key)
}

// Limits implements backend.Backend.
func (w *way) Limits() backend.Limits { return w.client().Limits() }

// Zones implements backend.Backend.
func (w *way) Zones(ctx context.Context) ([]dnsname.Name, error) {
	if err := w.from.pass(ctx, messageTime+w.from.world.delay("zones of "+w.at)); err != nil {
		return nil, err
	}
	return w.client().Zones(ctx)
}

// Read implements backend.Backend.
func (w *way) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if err := w.from.pass(ctx, messageTime+w.from.world.delay("read "+zone.String()+" at "+w.at)); err != nil {
		return backend.Observed{}, &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	if ask.Known == nil && ask.Keys == nil {
		w.from.world.mu.Lock()
		w.to.reads++
		w.from.world.mu.Unlock()
	}
	return w.client().Read(ctx, zone, ask)
}

// Apply implements backend.Backend.
func (w *way) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (result backend.Result, err error) {
	err = w.from.effect(ctx, messageTime, update+zone.String()+" at "+w.at, func() error {
		result, err = w.apply(ctx, zone, b)
		return err
	})
	if late := w.late(ctx); late != nil {
		return backend.Result{}, &backend.Error{Class: backend.ErrUnavailable, Err: late}
	}
	if errors.Is(err, errCrashed) || errors.Is(err, errStopped) {
		err = &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	return result, err
}

// late waits for as long as an answer is on its way, or until nobody waits for it.
func (w *way) late(ctx context.Context) error {
	w.from.world.mu.Lock()
	slow := w.to.slow
	w.from.world.mu.Unlock()
	if slow == 0 {
		return nil
	}
	select {
	case <-time.After(slow):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// supervise starts an operator, and another one after each that crashes, until the context ends.
func (w *World) supervise(ctx context.Context) {
	for range w.operators {
		w.begin(ctx)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.crashed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(restartTime, w.away())):
		}
		w.begin(ctx)
	}
}

// stopAll ends all operators, and says how those ended that did not crash.
func (w *World) stopAll() error {
	w.mu.Lock()
	all := slices.Clone(w.living)
	w.mu.Unlock()
	var errs []error
	for _, o := range all {
		err := o.stop()
		o.mu.Lock()
		if err != nil && !o.ended {
			errs = append(errs, err)
		}
		o.mu.Unlock()
	}
	return errors.Join(errs...)
}
