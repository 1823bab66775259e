package dnshook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrNoncesFull is the error of a store that can remember no more nonces. Forgetting one would let somebody send its
// request again.
var ErrNoncesFull = errors.New("there are too many nonces to remember")

// Nonces remembers which nonces were used. Servers that have one secret and may get each other's requests need one
// store that all of them use.
type Nonces interface {
	// Use notes a nonce, until a time, and reports whether it was new. It does both in one step: of two calls at the same
	// time with one nonce, one gets true. An error has the request refused.
	Use(ctx context.Context, nonce string, now, until time.Time) (fresh bool, err error)
}

// MemoryNonces is a store in memory. The zero value is ready for use.
type MemoryNonces struct {
	Max int // nonces at one time; 0: a million

	mu    sync.Mutex
	until map[string]time.Time
	order []string // by the time that they were noted in
}

const defaultNonces = 1_000_000

// Use implements Nonces. When it is full it returns ErrNoncesFull, and forgets none before its time.
func (n *MemoryNonces) Use(_ context.Context, nonce string, now, until time.Time) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(now)
	if _, used := n.until[nonce]; used {
		return false, nil
	}
	limit := n.Max
	if limit == 0 {
		limit = defaultNonces
	}
	if len(n.until) >= limit {
		return false, ErrNoncesFull
	}
	if n.until == nil {
		n.until = map[string]time.Time{}
	}
	n.until[nonce] = until
	n.order = append(n.order, nonce)
	return true, nil
}

// forget drops the oldest nonces as far as their time is over.
func (n *MemoryNonces) forget(now time.Time) {
	over := 0
	for over < len(n.order) && !now.Before(n.until[n.order[over]]) {
		delete(n.until, n.order[over])
		over++
	}
	if n.order = n.order[over:]; len(n.order) == 0 {
		n.order = nil
	}
}
