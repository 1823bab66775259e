// Package follow keeps a server the same as the one of the replica that leads. It decides what to ask the leader for
// and when; how a zone is transferred is package rfc2136's, and what may be put in its place package embedded's.
//
// The leader lists its zones in a zone that can be transferred as any other (embedded.Listing). One connection always
// has an IXFR of that under way, which is answered as soon as anything changes; what the listing says has changed is
// then transferred, some zones at a time. Nothing is removed but what a whole answer of the leader, signed by it,
// leaves out.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
)

// Options say who follows whom.
type Options struct {
	Server *embedded.Server // whose groups become those of the leader
	Key    embedded.Key     // of all replicas

	// Leader returns where the server of the replica that leads listens for DNS, and false if nobody is known to lead. It
	// is asked whenever there is no connection, at most some times a second.
	Leader func(context.Context) (netip.AddrPort, bool, error)

	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // to the leader; nil: by the machine's TCP
	Clock backend.Clock
	Rand  func() float64 // in [0,1): moves pauses, so that not all followers come at once
	Log   *slog.Logger   // nil: none

	Concurrency int           // zones that are transferred at a time; default 4
	Patience    time.Duration // with one transfer of a zone; default 2 min
}

// A Follower keeps a server the same as the leader's.
type Follower struct {
	opts  Options
	last  string    // what was logged last
	alone time.Time // since when nobody leads; zero: somebody does, or may
}

// New returns a follower. Nothing happens before Run.
func New(o Options) (*Follower, error) {
	if o.Server == nil || o.Leader == nil || o.Clock == nil || o.Rand == nil {
		return nil, errors.New("follow: Server, Leader, Clock and Rand must be set")
	}
	if o.Key.Name.IsZero() {
		return nil, errors.New("follow: the key of the replicas has no name")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	if o.Patience <= 0 {
		o.Patience = 2 * time.Minute
	}
	return &Follower{opts: o}, nil
}

// Pauses after failures double from the first to the last.
const (
	firstPause       = 100 * time.Millisecond
	longestPause     = time.Second      // until the leader is asked for again: a new one may be there
	longestZonePause = 30 * time.Second // until a zone is
)

// aloneFor is how long nobody has to lead before that is worth a word: as long as a Lease lasts by default.
const aloneFor = 15 * time.Second

var errAlone = errors.New("there is no leader")

// Run follows the leader until the context ends, and changes nothing afterwards. It first says that the server does not
// lead. The server is Ready when it has had all that the leader has; it stays so when the leader is gone.
func (f *Follower) Run(ctx context.Context) error {
	f.opts.Server.Follow()
	for failures := 0; ctx.Err() == nil; failures++ {
		if f.attempt(ctx) {
			failures = 0
		}
		_ = backend.Wait(ctx, f.opts.Clock, f.pause(failures, longestPause))
	}
	return nil
}

// attempt follows the leader until that fails, and reports whether it began well.
func (f *Follower) attempt(ctx context.Context) (listed bool) {
	listed, err := f.connect(ctx)
	now := f.opts.Clock.Now()
	switch {
	case !errors.Is(err, errAlone):
		f.alone = time.Time{}
	case f.alone.IsZero():
		f.alone = now
	}
	if !f.alone.IsZero() && now.Sub(f.alone) < aloneFor {
		return listed
	}
	if text := err.Error(); ctx.Err() == nil && text != f.last {
		f.last = text
		f.opts.Log.Warn(
			"The leader cannot be followed. The server keeps answering with what it has.", slog.String("error", text))
	}
	return listed
}

// connect follows whoever leads now until an error.
func (f *Follower) connect(ctx context.Context) (listed bool, err error) {
	addr, known, err := f.opts.Leader(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("finding the leader: %w", err)
	case !known:
		return false, errAlone
	}
	client, err := rfc2136.New(rfc2136.Config{Server: addr.String(), Key: f.opts.Key, Now: f.opts.Clock.Now,
		Dial: f.opts.Dial})
	if err != nil {
		return false, err
	}
	defer func() { _ = client.Close() }() // it only forgets connections
	s := newSession(f, client)
	return s.run(ctx)
}

// pause is how long to wait after so many failures and one more.
func (f *Follower) pause(failures int, longest time.Duration) time.Duration {
	return backend.Jitter(backend.Doubled{First: firstPause, Most: longest}.After(failures+1), f.opts.Rand())
}
