package admission

import (
	"context"
	"net/http"
	"time"
)

// What all reviews together may cost: so many at a time, and so many octets of a request. The API server sends an
// object and what it was before, of at most 3 MiB each (its own limit of a request).
const (
	concurrency = 16
	maxReview   = 7 << 20
)

// How long a review waits for those before it, less than the API server waits for it, and how long a request may take
// to come.
const (
	turn    = 500 * time.Millisecond
	arrival = 5 * time.Second
)

// bounded is a handler that serves only so many requests at a time, of so many octets. Who has to wait for too long is
// told to come again, and stores the object without a review.
type bounded struct {
	http.Handler
	clock func() time.Time
	turns chan struct{} // holds one for each request that is being served
}

func bound(h http.Handler, clock func() time.Time) *bounded {
	return &bounded{Handler: h, clock: clock, turns: make(chan struct{}, concurrency)}
}

// ServeHTTP implements http.Handler.
func (b *bounded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > maxReview {
		http.Error(w, "the review is too large", http.StatusRequestEntityTooLarge)
		return
	}
	// Whoever sends slowly must not keep the turns.
	if err := http.NewResponseController(w).SetReadDeadline(b.clock().Add(arrival)); err != nil {
		http.Error(w, "the review cannot be bounded in time", http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), turn)
	defer cancel()
	select {
	case b.turns <- struct{}{}:
		defer func() { <-b.turns }()
	case <-ctx.Done():
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many reviews are under way", http.StatusServiceUnavailable)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxReview)
	b.Handler.ServeHTTP(w, r)
}
