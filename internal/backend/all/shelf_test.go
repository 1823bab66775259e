package all

import (
	"errors"
	"runtime"
	"testing"
	"time"
)

// client is one that its key leads to.
type client struct{ of *lead }

// lead is a key that leads to its client, as one with a transport may.
type lead struct{ client *client }

func TestAShelfDoesNotKeepAClientThatItsKeyLeadsTo(t *testing.T) {
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
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(10 * time.Second)
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-end:
			t.Fatal("a client that nobody uses is kept for ever")
		case <-tick.C:
		}
	}
}
