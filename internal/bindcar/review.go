package bindcar

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// A Reviewer says how tokens are reviewed and whose are accepted.
type Reviewer struct {
	APIServer string // https://host:port
	TokenFile string // of ourselves, for asking; read anew each time, as the kubelet replaces it
	CAFile    string
	Audiences []string // a token has to be for one of them
	// Namespaces and ServiceAccounts (system:serviceaccount:NAMESPACE:NAME) are who may call, both where both are given.
	// Without either every ServiceAccount may, which ParseSettings does not let happen by oversight.
	Namespaces      []string
	ServiceAccounts []string
}

const (
	acceptedFor   = time.Minute // how long a revoked token goes on working at most
	refusedFor    = 5 * time.Second
	maxReviews    = 1024 // that are remembered
	reviewTimeout = 5 * time.Second
	reviewsAtOnce = 8
)

// guessLimit is how many tokens of a peer may be refused. It keeps peers that try tokens from taking the API server's
// time, and the places in the queue, from those whose tokens are good.
func guessLimit() Limit { return Limit{Enabled: true, Requests: 60, Period: time.Minute, Burst: 30} }

// reviews asks the API server who a token is of (TokenReview, authentication.k8s.io/v1) and remembers the answer for a
// while by the token's digest. When the API server cannot be asked the request is refused, and nothing is remembered.
type reviews struct {
	Reviewer
	now     func() time.Time
	metrics *Metrics
	guesses *limiter
	flight  singleflight.Group
	slots   chan struct{}

	mu    sync.Mutex
	known map[[sha256.Size]byte]verdict
	ca    []byte // what http is made of
	http  *http.Client
}

type verdict struct {
	why   error // nil: accepted
	until time.Time
}

func newReviews(r Reviewer, now func() time.Time, m *Metrics) *reviews {
	return &reviews{Reviewer: r, now: now, metrics: m, guesses: newLimiter(guessLimit(), now),
		slots: make(chan struct{}, reviewsAtOnce), known: map[[sha256.Size]byte]verdict{}}
}

func (r *reviews) check(ctx context.Context, token, peer string) error {
	digest := sha256.Sum256([]byte(token))
	if v, ok := r.remembered(digest); ok {
		return v.why
	}
	if r.guesses.spent(peer) {
		return errRefused("the peer has sent too many invalid tokens; this one was not checked")
	}
	err := r.together(ctx, digest, token)
	if err != nil {
		r.guesses.wait(peer)
	}
	return err
}

// together asks once for all requests that bring a token at the same time.
func (r *reviews) together(ctx context.Context, digest [sha256.Size]byte, token string) error {
	result := r.flight.DoChan(string(digest[:]), func() (any, error) {
		if v, ok := r.remembered(digest); ok { // since we looked
			return nil, v.why
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout) // others wait for it too
		defer cancel()
		return nil, r.review(ctx, digest, token)
	})
	select {
	case done := <-result:
		return done.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *reviews) remembered(digest [sha256.Size]byte) (verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.known[digest]
	return v, ok && r.now().Before(v.until)
}

// review asks, and remembers the answer.
func (r *reviews) review(ctx context.Context, digest [sha256.Size]byte, token string) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return errors.New("too many tokens are being reviewed")
	}
	status, err := r.ask(ctx, token)
	if err != nil {
		r.metrics.reviews.WithLabelValues("failed").Inc()
		return fmt.Errorf("the API server cannot review the token: %w", err)
	}
	v := verdict{why: r.judge(status), until: r.now().Add(refusedFor)}
	if v.why == nil {
		v.until = r.now().Add(acceptedFor)
		if end, ok := expiry(token); ok && end.Before(v.until) {
			v.until = end
		}
	}
	r.metrics.reviews.WithLabelValues(map[bool]string{true: "accepted", false: "refused"}[v.why == nil]).Inc()
	r.remember(digest, v)
	return v.why
}

func (r *reviews) remember(digest [sha256.Size]byte, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxReviews {
		for d, old := range r.known {
			if !r.now().Before(old.until) || len(r.known) >= maxReviews {
				delete(r.known, d)
			}
		}
	}
	r.known[digest] = v
}

// judge decides by what the API server said.
func (r *reviews) judge(s reviewStatus) error {
	switch namespace, ok := serviceAccount(s.User.Username); {
	case !s.Authenticated:
		return errRefused("the API server does not know the token, or it has expired, or it is for another audience")
	case !slices.ContainsFunc(s.Audiences, func(a string) bool { return slices.Contains(r.Audiences, a) }):
		return errRefused("the token is not for our audience")
	case !ok:
		return errRefused("the token does not belong to a ServiceAccount")
	case len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, namespace):
		return errRefused("the namespace of " + s.User.Username + " is not allowed")
	case len(r.ServiceAccounts) > 0 && !slices.Contains(r.ServiceAccounts, s.User.Username):
		return errRefused(s.User.Username + " is not allowed")
	}
	return nil
}

// serviceAccount takes the namespace out of system:serviceaccount:NAMESPACE:NAME.
func serviceAccount(user string) (namespace string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	namespace, name, both := strings.Cut(rest, ":")
	return namespace, ok && both && namespace != "" && name != "" && !strings.Contains(name, ":")
}

// expiry reads when a JWT ends, which the API server has checked. It only shortens how long the answer is remembered.
func expiry(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Expires <= 0 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Expires), 0), true
}
