package bindytest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Quiet waits until the operator has written nothing for a while, and returns how much it has written by then.
func (s *Stage) Quiet() int64 {
	s.Helper()
	last, since := s.Writes.Total(), time.Now()
	for time.Since(since) < 500*time.Millisecond {
		select {
		case <-s.Ctx.Done():
			s.Fatalf("the operator does not come to rest: %s", s.Writes)
		case <-time.After(20 * time.Millisecond):
		}
		if now := s.Writes.Total(); now != last {
			last, since = now, time.Now()
		}
	}
	return last
}

// Reported are the events that the operator has recorded since this was called last.
func (s *Stage) Reported() (out []string) {
	for {
		select {
		case e := <-s.events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// Writes counts the requests of the operator that are no reading.
type Writes struct {
	mu sync.Mutex
	by map[string]int64
}

func (w *Writes) add(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]int64{}
	}
	w.by[what]++
}

// Total is how many there were.
func (w *Writes) Total() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.by {
		n += v
	}
	return n
}

// Count is how many there were of a method and resource, as "PATCH pods/status".
func (w *Writes) Count(what string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[what]
}

// String lists them.
func (w *Writes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.by)
}

// Reset forgets them.
func (w *Writes) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by = nil
}

// counted counts what it sends.
type counted struct {
	http.RoundTripper
	writes *Writes
}

// RoundTrip implements http.RoundTripper.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		parts := strings.Split(r.URL.Path, "/")
		what := r.Method
		for i, p := range parts {
			if p == "v1" || p == "v1beta1" {
				rest := parts[i+1:]
				if len(rest) > 2 && rest[0] == "namespaces" {
					rest = rest[2:]
				}
				what += " " + rest[0]
				if len(rest) > 2 {
					what += "/" + rest[2]
				}
			}
		}
		c.writes.add(what)
	}
	return c.RoundTripper.RoundTrip(r)
}
