package gardener_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// deaf passes requests on to a server until it has changed something: that is not answered, nor is anything after it
// while down is true.
func deaf(t *testing.T, server string) (at string, down *atomic.Bool) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	armed := &atomic.Bool{}
	armed.Store(true)
	down = &atomic.Bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && armed.CompareAndSwap(true, false) {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			down.Store(true)
		}
		if !down.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, down
}

// TestWhatWasSentAndNotAnsweredIsRemoved has the service do what it is told, and nobody hear of it.
func TestWhatWasSentAndNotAnsweredIsRemoved(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	at, down := deaf(t, s.secret["server"])
	w := newWorld(t)
	w.secret("creds", with(s.secret, "server", at))
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
	if c := w.get("api").Status.Conditions; len(c) != 1 || c[0].Type != "Created" || c[0].Status != "Unknown" {
		t.Errorf("the conditions are %+v", c)
	}
	w.stop() // what it remembers is lost
	w.delete("api")
	down.Store(false)
	w.start()
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}
