package homelab_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// A hook is a server of the protocol that has records, checks signatures, and answers as it is told to.
type hook struct {
	*httptest.Server
	t   *testing.T
	now func() time.Time // of the times of requests

	mu       sync.Mutex
	records  map[string]dnshook.Record // by type and name
	requests []string                  // but those to /health
	times    []time.Time
	healths  int
	answer   func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	verify   *dnshook.Verifier
}

func newHook(t *testing.T, secret string) *hook {
	t.Helper()
	h := &hook{t: t, now: time.Now, records: map[string]dnshook.Record{}}
	h.sign(secret)
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// sign has requests checked with a secret; "": they are not.
func (h *hook) sign(secret string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.verify = nil; secret != "" {
		h.verify = &dnshook.Verifier{
			Keys: func() ([]dnshook.Key, error) { return []dnshook.Key{{Secret: []byte(secret)}}, nil },
			Now:  time.Now, Nonces: &dnshook.MemoryNonces{},
		}
	}
}

// answers has every request but those to /health answered by f.
func (h *hook) answers(f func(w http.ResponseWriter, r *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = f
}

func status(code int, body string, headers ...string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && h.verify != nil {
		err = h.verify.Verify(r.Context(), r, body)
	}
	if r.URL.Path == "/health" {
		h.healths++
	} else {
		h.requests = append(h.requests, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(body)))
		h.times = append(h.times, h.now())
	}
	switch {
	case err != nil:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"success":false,"error":{"code":%q,"message":"no"}}`, dnshook.CodeOf(err))
	case h.answer != nil && h.answer(w, r):
	case r.URL.Path == "/health":
		_, _ = io.WriteString(w, `{"status":"healthy","message":"fine","timestamp":"2025-12-30T10:00:00Z"}`)
	case r.Method == http.MethodPost:
		h.upsert(w, body)
	default:
		h.one(w, r)
	}
}

func (h *hook) upsert(w http.ResponseWriter, body []byte) {
	var in struct{ Record dnshook.Record }
	if err := json.Unmarshal(body, &in); err != nil {
		h.t.Errorf("it is sent %s: %v", body, err)
	}
	h.records[in.Record.ID().String()] = in.Record
	_, _ = io.WriteString(w, `{"success":true}`)
}

func (h *hook) one(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/records/"), "/")
	if len(parts) != 3 {
		h.t.Errorf("it is asked for %s", r.URL.Path)
		return
	}
	id := dnshook.ID{Type: parts[0], Domain: parts[1], Subdomain: parts[2]}.String()
	record, there := h.records[id]
	switch {
	case !there:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"none"}}`)
	case r.Method == http.MethodDelete:
		delete(h.records, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "record": record})
	}
}

// has lists the records, such as "A www.example.com 600 192.0.2.1".
func (h *hook) has() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, id := range slices.Sorted(maps.Keys(h.records)) {
		r := h.records[id]
		line := fmt.Sprint(id, " ", r.TTL, " ", strings.Join(r.Values, ","))
		if m := r.Metadata; m != nil {
			numbers, _ := json.Marshal(m)
			line += " " + string(numbers)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// asked returns the requests since it was called last.
func (h *hook) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.requests, h.times = nil, nil }()
	return h.requests
}
