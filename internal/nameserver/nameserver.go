// Package nameserver runs real authoritative name servers for tests, the demo and the benchmarks:
// BIND 9.18 (named), Knot DNS 3.2 (knotd), NSD 4.6 (nsd) and PowerDNS 4.7 (pdns_server), as their Debian packages
// install them.
//
// A server listens on loopback only, on a port that was free, keeps everything it writes in one folder, runs in the
// foreground as a child of this process, and is ended by its process id; on Linux it also ends when this process does.
// Every zone of Options.Zones is a primary that takes dynamic updates (RFC 2136; NSD takes none) and gives transfers
// (RFC 5936) to the holders of the configured TSIG keys (RFC 8945), and notifies nobody. BIND, Knot and NSD also follow
// another primary: see [Follow].
package nameserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Server is one running name server. Its methods are safe for concurrent use.
type Server struct {
	opts   Options
	flavor flavor

	mu      sync.Mutex // held over whole starts and stops
	zones   []Zone
	dns     *port
	control *port // statistics (BIND) or HTTP API (PowerDNS)
	proc    *process
	log     *transferLog // of the process that runs

	marker atomic.Int64 // numbers the requests by which PowerDNS's log is followed
}

// A flavor is what differs between the server programs.
type flavor interface {
	// program is the executable's name and the Debian package that has it.
	program() (name, pkg string)
	// configure writes the configuration for s.zones and returns the arguments to start with.
	configure(ctx context.Context, s *Server) ([]string, error)
	// fill gives a server that runs for the first time the zones that configure could not give it.
	fill(ctx context.Context, s *Server) error
	// add makes the running server serve one more zone, which configure has already seen.
	add(ctx context.Context, s *Server, z Zone) error
	// follows reports whether the server can be a secondary, and whether it knows catalog zones.
	follows() (zones, catalogs bool)
	// transferred finds a transfer in a line of the log; ok is false for every other line.
	transferred(line string) (t transfer, ok bool)
	// updates counts the write requests received since the server started.
	updates(ctx context.Context, s *Server) (int, error)
}

// startTimeout bounds one start; a name server of a few zones is up within a second.
const startTimeout = 30 * time.Second

// stopTimeout is how long a server may take to end after SIGTERM before it is killed.
const stopTimeout = 15 * time.Second

// start makes a server of the given flavor and waits until it answers for all zones.
func start(ctx context.Context, opts Options, f flavor) (*Server, error) {
	if opts.Dir == "" {
		return nil, errors.New("starting a name server: Options.Dir is empty")
	}
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("starting a name server: %w", err)
	}
	if err := opts.check(f); err != nil {
		return nil, err
	}
	s := &Server{opts: opts, flavor: f, zones: append([]Zone(nil), opts.Zones...)}
	s.mu.Lock()
	defer s.mu.Unlock()
	const attempts = 5
	var err error
	for range attempts {
		if err = s.claim(); err != nil {
			return nil, err
		}
		if err = s.run(ctx, true); err == nil {
			return s, nil
		}
		s.release()
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return nil, err
}

// claim takes the ports that the server is going to use.
func (s *Server) claim() error {
	var err error
	if s.dns, err = claimPort(); err != nil {
		return err
	}
	if s.control, err = claimPort(); err != nil {
		s.dns.release()
		return err
	}
	return nil
}

func (s *Server) release() {
	s.dns.release()
	s.control.release()
}

// run starts the process and waits until it serves everything. The caller holds s.mu.
func (s *Server) run(ctx context.Context, first bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	name, pkg := s.flavor.program()
	args, err := s.flavor.configure(ctx, s)
	if err != nil {
		return fmt.Errorf("configuring %s: %w", name, err)
	}
	path, err := executable(name, pkg, s.opts.Dir)
	if err != nil {
		return err
	}
	s.log = newTransferLog(s.flavor, s.opts.Log)
	s.proc, err = startProcess(path, args, s.opts.Dir, s.log)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	if err = s.settle(ctx, first); err != nil {
		s.proc.kill()
		return fmt.Errorf("starting %s: %w%s", name, s.proc.explain(err), s.proc.tail())
	}
	return nil
}

// settle waits until the process answers, loads what it was not started with, and waits for every zone.
func (s *Server) settle(ctx context.Context, first bool) error {
	if err := s.await(ctx, nil); err != nil {
		return err
	}
	if first {
		if err := s.flavor.fill(ctx, s); err != nil {
			return err
		}
	}
	return s.await(ctx, s.zones)
}

// Addr is where the server answers, UDP and TCP: a loopback address and a port that stays the same over restarts.
func (s *Server) Addr() string { return s.addrPort().String() }

func (s *Server) addrPort() netip.AddrPort { return netip.AddrPortFrom(loopback, s.dns.number) }

// PID is the process id of the server, which may have started others.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.cmd.Process.Pid
}

// Updates counts the write requests (UPDATE messages; for PowerDNS, HTTP requests that write) that the server
// has received since it last started, whatever became of them. PowerDNS may count one a moment after it has answered.
func (s *Server) Updates(ctx context.Context) (int, error) { return s.flavor.updates(ctx, s) }

// AddZone makes the running server serve one more zone, and waits until it does.
func (s *Server) AddZone(ctx context.Context, z Zone) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.zones = append(s.zones, z)
	if _, err := s.flavor.configure(ctx, s); err != nil {
		return fmt.Errorf("adding zone %s: %w", z.Name, err)
	}
	if err := s.flavor.add(ctx, s, z); err != nil {
		return fmt.Errorf("adding zone %s: %w", z.Name, err)
	}
	if err := s.await(ctx, []Zone{z}); err != nil {
		return fmt.Errorf("adding zone %s: %w%s", z.Name, err, s.proc.tail())
	}
	return nil
}

// Stop ends the server in order (SIGTERM) and waits for its end. A server that is not running is no error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.stop(stopTimeout)
}

// Kill ends the server at once (SIGKILL) and waits for its end.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// Start starts a stopped or killed server again: same ports, same data.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run(ctx, false)
}

// Restart stops the server in order and starts it again.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Close kills the server and gives its ports back. It is for the end of a test.
func (s *Server) Close() {
	s.Kill()
	s.release()
}
