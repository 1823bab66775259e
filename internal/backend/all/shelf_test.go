package all

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/bind9"
)

// client is one that its key leads to.
type client struct{ of *lead }

// lead is a key that leads to its client.
type lead struct{ client *client }

func TestNoClientOutlivesItsShelf(t *testing.T) {
	gone := make(chan struct{})
	func() {
		var s shelf[*lead, client]
		key := &lead{}
		made, err := s.get(key, func() (*client, error) { return &client{of: key}, nil })
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.get(key, func() (*client, error) { return nil, errors.New("a second one") }); again != made {
			t.Fatalf("the key finds another client: %v", err)
		}
		key.client = made
		runtime.AddCleanup(made, func(gone chan struct{}) { close(gone) }, gone)
	}()
	collected(t, gone)
}

// held is an Access that leads to the client that was made with it, as that of a pod does.
type held struct {
	bind9.Access
	client backend.Backend
}

func TestAPoolDoesNotKeepThePodsOfFleets(t *testing.T) {
	p, gone := NewPool(time.Now, nil), make(chan struct{})
	func() {
		access := &held{}
		access.client = connect(t, p, Config{BIND9: &BIND9{Primaries: []Primary{{Endpoint: bind9.Endpoint{ID: "one",
			DNS: "192.0.2.1:5353", Sidecar: "http://192.0.2.1:8080"}, Access: access}}}})[0].Backend
		runtime.AddCleanup(access, func(gone chan struct{}) { close(gone) }, gone)
	}()
	collected(t, gone)
	runtime.KeepAlive(p)
}

// collected waits until something is collected.
func collected(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(10 * time.Second)
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-end:
			t.Fatal("what nobody uses is kept for ever")
		case <-tick.C:
		}
	}
}
