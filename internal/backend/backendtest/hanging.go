package backendtest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// Hanging is the way to a service that answers nothing until nobody waits for it any more.
type Hanging struct{}

// RoundTrip implements http.RoundTripper.
func (Hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Impatient makes a call whose context ends after a second, while another call waits for a service for longer. It is to
// end then. It is called in a bubble (testing/synctest), where time does not pass while somebody waits for a mutex.
func Impatient(t *testing.T, hangs, call func(context.Context) error) {
	t.Helper()
	long, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- hangs(long) }()
	synctest.Wait()
	const patience = time.Second
	short, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	if err := call(short); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("the call fails with %v", err)
	}
	if took := time.Since(began); took != patience {
		t.Errorf("its context ends after %v, and the call after %v", patience, took)
	}
	end()
	if err := <-ended; err == nil {
		t.Error("the call that waited for the service did not fail")
	}
}
