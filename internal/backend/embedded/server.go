package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded/sockets"
	"github.com/zonefold/zonefold/internal/guarded"
)

// Options say where and how a server answers. Zero values stand for the defaults.
type Options struct {
	Listen []netip.AddrPort // UDP and TCP; port 0 is any that is free
	Clock  backend.Clock
	Log    *slog.Logger // nil: none

	// Streams listens in the place of the machine's TCP; there is no UDP then. Addresses are of the type *net.TCPAddr.
	Streams func(context.Context, netip.AddrPort) (net.Listener, error)

	Observer Observer // nil: nobody

	// Update carries out updates (RFC 2136); nil: nobody does. It may take as long as clients wait.
	Update func(context.Context, Update) Updated

	Replicas ReplicaOptions // who else answers the same
	// until Open or Ready every question is answered SERVFAIL, upon which resolvers ask another server
	Closed bool

	// RateLimit is how often in a second one network (/24 of IPv4, /56 of IPv6) gets the same answer over UDP. What is
	// over it is truncated, upon which honest clients ask over TCP. Default 200; negative: no limit.
	RateLimit int

	MaxConns          int // TCP connections at a time; the one idle for longest makes room; default 4096
	MaxConnsPerClient int // of one address, or /64 of IPv6; more are closed at once; default 512
	// until when the next question has to have come (RFC 7766 §6.2.3), and an answer to be taken; default 10 s
	IdleTimeout time.Duration

	MaxTransfers int // transfers at a time; more wait, and fail after IdleTimeout; default 10
	// records of changes that are kept of each zone for IXFR, at most as many as the zone has; default 10,000
	History int
}

func (o *Options) defaults() {
	if o.Clock == nil {
		o.Clock = backend.SystemClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.RateLimit == 0 {
		o.RateLimit = 200
	}
	if o.MaxConns <= 0 {
		o.MaxConns = 4096
	}
	if o.MaxConnsPerClient <= 0 {
		o.MaxConnsPerClient = 512
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 10 * time.Second
	}
	if o.MaxTransfers <= 0 {
		o.MaxTransfers = 10
	}
	if o.History <= 0 {
		o.History = 10_000
	}
}

// A Server answers questions from the catalogue that was published last.
type Server struct {
	opts      Options
	catalogue atomic.Pointer[Catalogue]
	limiter   *limiter
	conns     sockets.Conns
	workers   sync.Pool

	state guarded.Value[state]
	keys  atomic.Pointer[keyring]
	slots chan struct{} // taken by transfers
	turns chan struct{} // taken by updates over UDP
	began time.Time

	notifier notifier
	replicas replicas
	opened   atomic.Bool // it answers

	listening
}

// listening is where a Server listens, until it is closed.
type listening struct {
	listeners []net.Listener
	packets   []*net.UDPConn
	running   sync.WaitGroup
	closing   atomic.Bool
	stopping  chan struct{}
}

// state is what the groups of a server have. Who has it changes the catalogue.
type state struct {
	server *Server
	groups map[string]*holdings
	shared shared
}

// Serve starts a server. Until the first Publish it refuses every question.
func Serve(ctx context.Context, opts Options) (*Server, error) {
	opts.defaults()
	s := &Server{
		opts: opts, limiter: newLimiter(opts.RateLimit),
		slots: make(chan struct{}, opts.MaxTransfers), turns: make(chan struct{}, maxUpdates),
	}
	s.stopping = make(chan struct{})
	s.began = opts.Clock.Now()
	s.notifier.setUp(s)
	s.conns.SetUp(opts.MaxConns, opts.MaxConnsPerClient)
	s.opened.Store(!opts.Closed)
	if err := s.replicas.setUp(opts.Replicas); err != nil {
		return nil, err
	}
	s.workers.New = func() any { return new(worker) }
	s.catalogue.Store(NewCatalogue())
	s.setUp()
	for _, addr := range opts.Listen {
		if err := s.listen(ctx, addr); err != nil {
			s.closeListeners()
			return nil, fmt.Errorf("listening on %s: %w", addr, err)
		}
	}
	for _, l := range s.listeners {
		s.running.Go(func() { s.accept(l) })
	}
	for _, c := range s.packets {
		s.running.Go(func() { s.datagrams(c) })
	}
	return s, nil
}

// setUp has the server have no groups.
func (s *Server) setUp() {
	st, unlock := s.state.Lock()
	defer unlock()
	*st = state{server: s, groups: map[string]*holdings{}, shared: newShared()}
	s.keys.Store(st.collectKeys())
}

// Publish makes a catalogue the one that questions are answered from, for those who do without groups.
func (s *Server) Publish(c *Catalogue) {
	_, unlock := s.state.Lock()
	defer unlock()
	s.catalogue.Store(c)
}

// Catalogue returns what was published last.
func (s *Server) Catalogue() *Catalogue { return s.catalogue.Load() }

// Addrs returns where the server listens, as many and in the order of Options.Listen.
func (s *Server) Addrs() []netip.AddrPort {
	addrs := make([]netip.AddrPort, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr().(*net.TCPAddr).AddrPort()
	}
	return addrs
}

// listen binds one address for TCP and then the same for UDP, there once for each processor where the system spreads
// datagrams over sockets. That would let two servers share a port without knowing; TCP does not.
func (s *Server) listen(ctx context.Context, addr netip.AddrPort) error {
	if s.opts.Streams != nil {
		l, err := s.opts.Streams(ctx, addr)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
		return nil
	}
	const attempts = 20 // a port that is free for TCP may not be for UDP
	var config net.ListenConfig
	for i := range attempts {
		l, err := config.Listen(ctx, "tcp", addr.String())
		if err != nil {
			return err
		}
		bound := l.Addr().(*net.TCPAddr).AddrPort()
		packets, err := sockets.ListenUDP(ctx, bound, runtime.GOMAXPROCS(0))
		if err == nil {
			s.listeners = append(s.listeners, l)
			s.packets = append(s.packets, packets...)
			return nil
		}
		_ = l.Close()
		if addr.Port() != 0 || i == attempts-1 {
			return err
		}
	}
	return nil
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
	for _, c := range s.packets {
		_ = c.Close()
	}
}

// Close stops the server: it takes nothing new, answers what it has taken, and returns when that is done. When the
// context ends before, connections are cut off.
func (s *Server) Close(ctx context.Context) error {
	if !s.closing.CompareAndSwap(false, true) {
		return errors.New("the server is already closing")
	}
	close(s.stopping)
	s.stopMembers()
	s.notifier.close()
	for _, l := range s.listeners {
		_ = l.Close()
	}
	past := time.Unix(1, 0)
	for _, c := range s.packets {
		_ = c.SetReadDeadline(past) // it fails only on what is closed
	}
	s.conns.Finish(past)
	stop := context.AfterFunc(ctx, s.conns.CloseAll)
	s.running.Wait()
	s.closeListeners()
	if !stop() {
		return errors.New("connections were closed before they were answered")
	}
	return nil
}

// respond answers one message. A fault of ours costs the sender of that message its answer and nobody else anything.
func (s *Server) respond(r *responder, msg, buf []byte, stream bool) (out []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			s.opts.Log.Error("A message could not be answered. This is a bug in zonefold.", slog.Any("fault", fault),
				slog.String("message", fmt.Sprintf("%x", msg)))
			*r, out = responder{}, nil
		}
	}()
	r.serve(s)
	if out = r.respond(s.catalogue.Load(), msg, buf, stream); out != nil {
		s.opts.Observer.Answered(stream, r.answer.rcode)
	}
	return out
}
