package all

import (
	"runtime"
	"sync"
	"weak"
)

// A shelf finds a client again by what it was made from, for as long as somebody uses it: it does not keep it alive.
// The idle connections of a client that is collected are closed by the runtime, or by their own time-out.
type shelf[K comparable, C any] struct {
	mu      sync.Mutex
	clients map[K]weak.Pointer[C]
}

// get returns the client of a key, and makes it if there is none.
func (s *shelf[K, C]) get(key K, fresh func() (*C, error)) (*C, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[key].Value(); c != nil {
		return c, nil
	}
	c, err := fresh()
	if err != nil {
		return nil, err
	}
	if s.clients == nil {
		s.clients = map[K]weak.Pointer[C]{}
	}
	s.clients[key] = weak.Make(c)
	runtime.AddCleanup(c, s.forget, key)
	return c, nil
}

// forget drops a client that was collected, unless another has taken its place.
func (s *shelf[K, C]) forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[key].Value() == nil {
		delete(s.clients, key)
	}
}

// size is how many clients are known.
func (s *shelf[K, C]) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}
