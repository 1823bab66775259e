package dnshook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// A hangup reads requests, and at some of them closes the connection in place of an answer, as a server does that ends
// an idle one just then.
type hangup struct {
	*httptest.Server
	mu     sync.Mutex
	nonces []string
	silent int // how many requests more are not answered
}

func newHangup(t *testing.T) *hangup {
	t.Helper()
	h := &hangup{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.nonces = append(h.nonces, r.Header.Get(dnshook.HeaderNonce))
		if h.silent > 0 {
			h.silent--
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			return
		}
		_, _ = w.Write([]byte(`{"status":"healthy","success":true}`))
	}))
	t.Cleanup(h.Close)
	return h
}

func TestNoNonceIsSentTwice(t *testing.T) {
	for _, c := range []struct {
		sentence string
		silent   int
		ask      func(context.Context, *dnshook.Client) error
		sent     int
		fails    bool
	}{
		{"a question goes again with another nonce", 1, func(ctx context.Context, c *dnshook.Client) error {
			_, err := c.Health(ctx)
			return err
		}, 2, false},
		{"a question goes again once", 9, func(ctx context.Context, c *dnshook.Client) error {
			_, err := c.Health(ctx)
			return err
		}, 2, true},
		{"an upsert is for the caller to repeat", 1, func(ctx context.Context, c *dnshook.Client) error {
			_, err := c.Upsert(ctx, www)
			return err
		}, 1, true},
		{"so is a removal", 1, func(ctx context.Context, c *dnshook.Client) error { return c.Delete(ctx, www.ID()) }, 1,
			true},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHangup(t)
			client, err := dnshook.NewClient(dnshook.ClientConfig{
				Server: h.URL, Timeout: 5 * time.Second, Now: func() time.Time { return noon },
				Keys:   func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil },
				Inject: func(_ context.Context, header http.Header) { header.Set("Idempotency-Key", "x") },
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			if _, err := client.Health(t.Context()); err != nil { // so that there is a connection that is kept
				t.Fatal(err)
			}
			h.mu.Lock()
			h.nonces, h.silent = nil, c.silent
			h.mu.Unlock()
			if err := c.ask(t.Context(), client); (err != nil) != c.fails {
				t.Errorf("it comes to %v", err)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			if n := len(h.nonces); n != c.sent {
				t.Errorf("it is sent %d times, want %d", n, c.sent)
			}
			slices.Sort(h.nonces)
			if n := len(slices.Compact(h.nonces)); n != c.sent {
				t.Errorf("of %d requests there are %d nonces", c.sent, n)
			}
		})
	}
}

// noConnections is a transport that says nothing of what it does.
type noConnections struct{}

func (noConnections) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("it fails")
}

func TestWhatWasNotSentIsSaidToBe(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain, silent := httptest.NewServer(http.NotFoundHandler()), newHangup(t)
	t.Cleanup(plain.Close)
	silent.silent = 1
	for _, c := range []struct {
		sentence, server string
		transport        http.RoundTripper
		unsent           bool
	}{
		{"to a port that nobody listens at", closed.URL, nil, true},
		{"to a server that speaks no TLS", strings.Replace(plain.URL, "http:", "https:", 1), nil, true},
		{"to a server that hangs up", silent.URL, nil, false},
		{"to one that answers no", plain.URL, nil, false},
		{"by a transport that has no connections", plain.URL, noConnections{}, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			client, err := dnshook.NewClient(dnshook.ClientConfig{Server: c.server, Timeout: 5 * time.Second,
				Now: func() time.Time { return noon }, Transport: c.transport})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			_, err = client.Upsert(t.Context(), www)
			if err == nil || errors.Is(err, dnshook.ErrNotSent) != c.unsent {
				t.Errorf("it comes to %v", err)
			}
			if c.unsent && !errors.Is(err, dnshook.ErrUnreachable) {
				t.Errorf("%v is not that the server cannot be reached", err)
			}
		})
	}
}
