package all

import (
	"runtime"
	"sync"
	"weak"
)

// A shelf finds a client again by what it was made from, for as long as somebody uses it: it does not keep it alive,
// unless the key does. The idle connections of a client that is collected are closed by the runtime, or by their own
// time-out.
type shelf[K comparable, C any] struct {
	mu      sync.Mutex
	clients map[K]*kept[K, C]
}

// kept is what a shelf has of a client.
type kept[K comparable, C any] struct {
	shelf  *shelf[K, C]
	key    K
	client weak.Pointer[C]
}

// get returns the client of a key, and makes it if there is none.
func (s *shelf[K, C]) get(key K, fresh func() (*C, error)) (*C, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.clients[key]; k != nil {
		if c := k.client.Value(); c != nil {
			return c, nil
		}
	}
	c, err := fresh()
	if err != nil {
		return nil, err
	}
	if s.clients == nil {
		s.clients = map[K]*kept[K, C]{}
	}
	k := &kept[K, C]{s, key, weak.Make(c)}
	s.clients[key] = k
	// The cleanup knows nothing but weakly, or a client to which its key leads would outlive the shelf.
	runtime.AddCleanup(c, func(k weak.Pointer[kept[K, C]]) {
		if k := k.Value(); k != nil {
			k.forget()
		}
	}, weak.Make(k))
	return c, nil
}

// forget drops a client that was collected, unless another has taken its place.
func (k *kept[K, C]) forget() {
	k.shelf.mu.Lock()
	defer k.shelf.mu.Unlock()
	if k.shelf.clients[k.key] == k {
		delete(k.shelf.clients, k.key)
	}
}

// size is how many clients are known.
func (s *shelf[K, C]) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}
