package bindcar

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Limit is how many requests a peer may send: Requests in a Period on average, Burst at once.
type Limit struct {
	Enabled  bool
	Requests int
	Period   time.Duration
	Burst    int
}

// DefaultLimit leaves room for an operator that brings thousands of zones to a new pod; it is there for runaways.
func DefaultLimit() Limit {
	return Limit{Enabled: true, Requests: 30000, Period: time.Minute, Burst: 500}
}

// maxPeers is how many peers the limiter remembers. Who is forgotten begins with a full bucket.
const maxPeers = 4096

// A limiter has a token bucket for each peer address (of IPv6, for each /64, which one host usually has to itself).
type limiter struct {
	limit Limit
	now   func() time.Time

	mu    sync.Mutex
	peers map[netip.Prefix]*peer
}

type peer struct {
	bucket *rate.Limiter
	last   time.Time
}

func newLimiter(limit Limit, now func() time.Time) *limiter {
	return &limiter{limit: limit, now: now, peers: map[netip.Prefix]*peer{}}
}

// wait returns how long the peer has to wait; 0 lets the request in.
func (l *limiter) wait(remote string) time.Duration {
	if !l.limit.Enabled {
		return 0
	}
	now := l.now()
	bucket := l.bucket(peerOf(remote), now)
	reservation := bucket.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay > 0 {
		reservation.CancelAt(now)
	}
	return delay
}

// spent reports whether the peer has no request left, and takes none.
func (l *limiter) spent(remote string) bool {
	now := l.now()
	return l.bucket(peerOf(remote), now).TokensAt(now) < 1
}

func (l *limiter) bucket(at netip.Prefix, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.peers[at]
	if p == nil {
		if len(l.peers) >= maxPeers {
			l.evict()
		}
		every := rate.Limit(float64(l.limit.Requests) / l.limit.Period.Seconds())
		p = &peer{bucket: rate.NewLimiter(every, l.limit.Burst)}
		l.peers[at] = p
	}
	p.last = now
	return p.bucket
}

// evict forgets the half of the peers that was heard of longest ago, in one pass for many new ones.
func (l *limiter) evict() {
	var newest, oldest time.Time
	for _, p := range l.peers {
		if oldest.IsZero() || p.last.Before(oldest) {
			oldest = p.last
		}
		if p.last.After(newest) {
			newest = p.last
		}
	}
	middle := oldest.Add(newest.Sub(oldest) / 2)
	for at, p := range l.peers {
		if !p.last.After(middle) {
			delete(l.peers, at)
		}
	}
}

// peerOf is the network that one bucket is for. A remote address that cannot be read shares one bucket with all such.
func peerOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := at.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// limited lets requests in, or answers them with 429 as the existing bindcar does. Probes come from the node, which
// many share, and do little, so they are not counted.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delay := s.limiter.wait(r.RemoteAddr)
		if delay == 0 {
			s.metrics.limited.WithLabelValues("allowed").Inc()
			next.ServeHTTP(w, r)
			return
		}
		s.metrics.limited.WithLabelValues("rejected").Inc()
		seconds := strconv.Itoa(int(math.Ceil(delay.Seconds())))
		w.Header().Set("Retry-After", seconds)
		w.Header().Set("X-Ratelimit-After", seconds)
		writePlain(w, http.StatusTooManyRequests, fmt.Sprintf("Too Many Requests! Wait for %ss", seconds))
	})
}
