package homelab_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab"
)

// TestAServerThatAsksForAPauseHasOne has many records, and a server that turns away whoever comes too early.
func TestAServerThatAsksForAPauseHasOne(t *testing.T) {
	const records, workers = 300, 8
	w := newSchedule(t)
	pausing := true
	w.hook.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return pausing && r.URL.Path != "/health" && status(429, "", "Retry-After", "30")(rw, r)
	})
	sent := func() int {
		w.hook.mu.Lock()
		defer w.hook.mu.Unlock()
		return len(w.hook.requests)
	}
	for i := range records {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprintf("A r%d example.com 192.0.2.1", i))
	}
	w.eventually("the first ones are turned away", func() string {
		if n := sent(); n == 0 || w.clock.Waiters() != waiting {
			return fmt.Sprintf("%d were sent, and there are %d timers", n, w.clock.Waiters())
		}
		return ""
	})
	first := sent()
	if first > workers {
		t.Errorf("%d are sent before anybody hears of the pause", first)
	}
	for n := 1; n <= 3; n++ {
		w.clock.Step(29 * time.Second)
		if got := sent(); got != first+n-1 {
			t.Errorf("in pause %d there were %d requests, want %d", n, got, first+n-1)
		}
		w.clock.Step(time.Second)
		w.eventually("one that goes alone", func() string {
			if got := sent(); got < first+n || w.clock.Waiters() != waiting {
				return fmt.Sprintf("there were %d requests, and there are %d timers", got, w.clock.Waiters())
			}
			return ""
		})
		if got := sent(); got != first+n {
			t.Errorf("after pause %d there were %d requests, want %d", n, got, first+n)
		}
	}
	w.hook.mu.Lock()
	pausing = false
	w.hook.mu.Unlock()
	w.clock.Step(30 * time.Second)
	w.eventually("all of them", func() string {
		if n := strings.Count(w.hook.has(), "\n") + 1; n != records {
			return fmt.Sprintf("it has %d records, want %d", n, records)
		}
		return ""
	})
}

func TestRecordsSayThatTheyWaitForAPause(t *testing.T) {
	h := newHook(t, "")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path != "/health" && status(429, "", "Retry-After", "60")(rw, r)
	})
	w := newWorld(t, slowly)
	w.class("dns", h.URL)
	w.record("first", "dns", "A first example.com 192.0.2.1")
	w.message("first", "It is tried again in 1m0s, as the server asks.")
	w.record("late", "dns", "A late example.com 192.0.2.1")
	w.message("late", "has asked for a pause")
	w.record("gone", "dns", "A gone example.com 192.0.2.1")
	w.message("gone", "has asked for a pause")
	w.annotate("gone", v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
	w.delete("gone")
	w.until("gone", "gone") // what needs no server does not wait for it
	if n := len(h.asked()); n != 1 {
		t.Errorf("the server is sent %d requests in its pause", n)
	}
	h.answers(nil)
	w.class("dns", h.URL, "timeoutSeconds: 20") // whoever changes the class need not wait
	w.until("late", "Created True RecordCreated")
}

func TestARateLimitIsKept(t *testing.T) {
	w := newSchedule(t)
	w.class("dns", w.hook.URL, "rateLimit: {requests: 2, seconds: 10}")
	w.hook.asked()
	for i := range 4 {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprintf("A r%d example.com 192.0.2.1", i))
	}
	for n := range 4 {
		w.eventually("the requests", func() string {
			w.hook.mu.Lock()
			defer w.hook.mu.Unlock()
			if got := len(w.hook.requests); got != n+1 {
				return fmt.Sprintf("there are %d, want %d", got, n+1)
			}
			return ""
		})
		w.clock.Step(5 * time.Second)
	}
	w.hook.mu.Lock()
	defer w.hook.mu.Unlock()
	for i, at := range w.hook.times[1:] {
		if d := at.Sub(w.hook.times[i]); d < 5*time.Second {
			t.Errorf("request %d comes %s after the one before", i+1, d)
		}
	}
}

// TestAnUnhealthyServerIsAskedMoreOften has the records of a server that is back go as soon as it is.
func TestAnUnhealthyServerIsAskedMoreOften(t *testing.T) {
	w := newSchedule(t)
	w.hook.answers(hangUp)
	w.clock.Step(time.Minute) // it was healthy a while ago
	w.record("it", "dns", "A it example.com 192.0.2.1")
	w.until("it", "Error False ServerUnreachable")
	w.classSays("dns", "Unhealthy False ServerUnreachable")
	w.hook.answers(nil)
	w.clock.Step(homelab.DefaultBaseDelay)
	w.until("it", "Created True RecordCreated")
	w.classSays("dns", "Healthy True ServerHealthy")
}

// TestAServerThatTakesRecordsAndIsNeverHealthy has what failed be tried again when another record was taken.
func TestAServerThatTakesRecordsAndIsNeverHealthy(t *testing.T) {
	w := newSchedule(t)
	down := true
	w.hook.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return (down || r.URL.Path == "/health") && status(503, "")(rw, r)
	})
	w.record("it", "dns", "A it example.com 192.0.2.1")
	w.until("it", "Error False ServerError")
	for range 5 {
		w.clock.Step(homelab.DefaultMaxDelay)
		w.eventually("the next attempt", func() string {
			if n := w.clock.Waiters(); n != waiting {
				return fmt.Sprintf("there are %d timers", n)
			}
			return ""
		})
	}
	w.message("it", "All retries failed")
	w.classSays("dns", "Unhealthy False ServerError")
	w.hook.mu.Lock()
	down = false
	w.hook.mu.Unlock()
	w.witness(1)
	w.until("it", "Created True RecordCreated")
}
