package servers

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/guarded"
)

// Config is what the servers of all classes are called with.
type Config struct {
	Live      client.Reader // asks the API server: for Secrets
	Clock     clock.WithTicker
	Transport http.RoundTripper // nil: each client has one of its own
	Leads     func() bool       // whether nobody else can have become the leader; nil: nobody else ever does

	// Asked counts a call.
	Asked func(class, operation string, err error, took time.Duration)
	// Warned hears what may be wrong with a class that can be used.
	Warned func(class *v1alpha1.DNSClass, reason, note string)
}

// A Server is that of one DNSClass, and how it is called.
type Server struct {
	Config

	name string // of the class

	used   guarded.Value[used]
	dialed connection
}

// used is what a class says of its server.
type used struct {
	class    *v1alpha1.DNSClass
	revision string
	limiter  *rate.Limiter // of its requests; nil: there is no limit
	over     chan struct{} // closed when the class, or a Secret, says something else
}

// A connection has the client for one revision of a class. Its methods wait for their turn.
type connection struct {
	turn     guarded.Turn
	revision string
	hook     *dnshook.Client
	err      error
	until    time.Time // when err counts no more
}

// New returns the server of a class, which Use has to say more of before it is called.
func New(c Config, class string) *Server { return &Server{Config: c, name: class} }

// Use has calls be made as a class says, or as the Secrets say that it names: the revision is of both.
func (s *Server) Use(class *v1alpha1.DNSClass, revision string) {
	u, unlock := s.used.Lock()
	defer unlock()
	if u.over != nil {
		close(u.over)
	}
	*u = used{class, revision, limiterOf(class.Spec.RateLimit), make(chan struct{})}
}

// OperationHealth is no request in the sense of a rate limit.
const OperationHealth = "health"

// Call makes one call, and counts it, while the operator leads. It waits for as long as the rate limit says.
func (s *Server) Call(ctx context.Context, operation string, do func(context.Context, *dnshook.Client) error) error {
	hook, err := s.connect(ctx, s.now())
	if err == nil && operation != OperationHealth {
		if err = s.abide(ctx); err == nil {
			hook, err = s.connect(ctx, s.now()) // its Secret may have changed, or gone, meanwhile
		}
	}
	if err != nil {
		return err
	}
	if s.Leads != nil && !s.Leads() { // what comes before this may have taken long, and the protocol has no condition
		return objects.ErrNotLeading
	}
	began := s.Clock.Now()
	err = do(ctx, hook)
	s.Asked(s.name, operation, err, s.Clock.Since(began))
	return err
}

// Usable returns why the server cannot be called at all, nil if it can, and the revision that this is about. It
// connects to nobody.
func (s *Server) Usable(ctx context.Context) (revision string, err error) {
	is := s.now()
	_, err = s.connect(ctx, is)
	return is.revision, err
}

// connect returns a client. It reads Secrets when they have changed only.
func (s *Server) connect(ctx context.Context, is used) (*dnshook.Client, error) {
	return s.dialed.client(is.revision, s.Clock.Now, func() (*dnshook.Client, error) { return s.dial(ctx, is.class) })
}

// client returns the client for a revision of a class. One that could not be made is tried again after a while.
func (c *connection) client(revision string, now func() time.Time,
	dial func() (*dnshook.Client, error)) (*dnshook.Client, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.revision == revision && (c.hook != nil || c.err != nil && now().Before(c.until)) {
		return c.hook, c.err
	}
	hook, err := dial()
	if c.hook != nil {
		c.hook.Close()
	}
	c.revision, c.hook, c.err, c.until = revision, hook, err, now().Add(10*time.Second)
	return hook, err
}

func (s *Server) dial(ctx context.Context, o *v1alpha1.DNSClass) (*dnshook.Client, error) {
	r, err := ReachOf(ctx, s.Live, o)
	if err != nil {
		return nil, err
	}
	if note := r.LineFeed(); note != "" {
		s.Warned(o, ReasonLineFeed, note)
	}
	return r.Dial(s.Clock.Now, s.Transport)
}

// now returns what the class says of its server by now.
func (s *Server) now() used {
	u, unlock := s.used.Lock()
	defer unlock()
	return *u
}

// limiterOf spreads the requests of a class evenly over time; nil: there is no limit.
func limiterOf(limit *v1alpha1.RateLimit) *rate.Limiter {
	if limit == nil || limit.Requests <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(float64(limit.Requests)/float64(max(1, limit.Seconds))), 1)
}

// abide waits until the rate limit allows another request, and begins anew when there is another limit.
func (s *Server) abide(ctx context.Context) error {
	is, now := s.now(), s.Clock.Now()
	if is.limiter == nil {
		return nil
	}
	wait := is.limiter.ReserveN(now, 1).DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	timer := s.Clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-is.over:
		return s.abide(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
