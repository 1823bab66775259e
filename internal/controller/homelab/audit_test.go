package homelab_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/homelab"
)

func TestDrift(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit, c.HealthInterval = 100*time.Millisecond, 100*time.Millisecond })
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	for _, change := range []func(*dnshook.Record){
		func(r *dnshook.Record) { r.Values = []string{"192.0.2.66"} },
		func(r *dnshook.Record) { r.TTL = 7 },
		nil,
	} {
		h.mu.Lock()
		r := h.records["A www.example.com"]
		if change == nil {
			delete(h.records, "A www.example.com")
		} else {
			change(&r)
			h.records["A www.example.com"] = r
		}
		h.mu.Unlock()
		w.holds(h, "A www.example.com 300 192.0.2.1")
		w.happened("Drifted")
	}
	w.until("it", "Created True RecordCreated") // nothing that the object asks for has changed
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && status(405, "")(rw, r)
	})
	h.asked()
	w.eventually("the last question", func() string {
		if len(h.asked()) == 0 {
			return "there is none"
		}
		return ""
	})
	h.asked()
	h.mu.Lock()
	h.healths = 0
	h.mu.Unlock()
	w.eventually("ten questions for its health", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.healths < 10 {
			return fmt.Sprint("there are ", h.healths)
		}
		return ""
	})
	if got := h.asked(); len(got) > 1 {
		t.Errorf("a server that does not tell is asked %q", got)
	}
}

// TestDriftThatSomebodyMakesAgain has somebody undo a record as soon as it is put right, in the same way each time: no
// audit sees it right.
func TestDriftThatSomebodyMakesAgain(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 300 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	for range 4 {
		h.mu.Lock()
		delete(h.records, "A www.example.com")
		h.mu.Unlock()
		w.holds(h, "A www.example.com 300 192.0.2.1")
		w.happened("Drifted")
		h.asked()
		w.eventually("a look at what was sent", func() string {
			if !slices.ContainsFunc(h.asked(), func(r string) bool { return strings.HasPrefix(r, "GET") }) {
				return "there is none"
			}
			return ""
		})
	}
}

func TestDriftBesideARecordThatTheServerNeverShows(t *testing.T) {
	h := newHook(t, "")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/ghost") && status(404, "")(rw, r)
	})
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 100 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	w.record("ghost", "dns", "A ghost example.com 192.0.2.1")
	w.message("ghost", "shows nothing")
	h.mu.Lock()
	h.records["A www.example.com"] = dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{
		"192.0.2.66"}, TTL: 300}
	h.mu.Unlock()
	w.holds(h, "A ghost.example.com 300 192.0.2.1", "A www.example.com 300 192.0.2.1")
}

// shows has a hook answer questions for www.example.com with what f makes of the record.
func (h *hook) shows(f func(*dnshook.Record)) {
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/www") {
			return false
		}
		record := h.records["A www.example.com"]
		record.Values = slices.Clone(record.Values)
		f(&record)
		return json.NewEncoder(rw).Encode(map[string]any{"success": true, "record": record}) == nil
	})
}

// sends waits for twenty looks at www.example.com, and reports if it was not sent as often as that since the last time;
// less than 0: it does not matter.
func (w *world) sends(h *hook, want int) {
	w.t.Helper()
	var all []string
	count := func(what string) (n int) {
		for _, r := range all {
			if strings.HasPrefix(r, what) && strings.Contains(r, "www") {
				n++
			}
		}
		return n
	}
	w.eventually("twenty looks", func() string {
		if all = append(all, h.asked()...); count("GET") < 20 {
			return fmt.Sprint("there are ", count("GET"))
		}
		return ""
	})
	if got := count("POST"); want >= 0 && got != want {
		w.t.Fatalf("it is sent %d times, want %d: %q", got, want, all)
	}
}

// TestWhatAServerLoses has a server take a record and not have it, for a while: it is told, and there when the server
// has recovered.
func TestWhatAServerLoses(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("other", "dns", "A other example.com 192.0.2.1")
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		delete(h.records, "A www.example.com")
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/www") && status(http.StatusNotFound, "")(rw, r)
	})
	w.message("it", "of DNSClass "+w.ns+"-dns shows nothing",
		"Correct the record if the server cannot store it, or correct the server.", "at every audit")
	w.happened("KeptOtherwise")
	h.answers(nil)
	w.holds(h, "A other.example.com 300 192.0.2.1", "A www.example.com 300 192.0.2.1")
	w.eventually("no difference", func() string {
		if said := w.get("it").Status.Conditions[0].Message; strings.Contains(said, "shows nothing") {
			return said
		}
		return ""
	})
}

func TestWhatAServerKeepsOtherwise(t *testing.T) {
	left := uint32(250)
	for _, c := range []struct {
		sentence string
		shows    func(*dnshook.Record)
		says     string
	}{
		{"a TTL that is never less than ten minutes", func(r *dnshook.Record) { r.TTL = 600 }, "the TTL 600 instead of 300"},
		{"a TTL that counts down", func(r *dnshook.Record) { left--; r.TTL = left }, "instead of 300"},
		{"another address", func(r *dnshook.Record) { r.Values = []string{"192.0.2.66"} },
			"the values 192.0.2.66 instead of 192.0.2."},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
			w.class("dns", h.URL)
			w.classSays("dns", "Healthy True ServerHealthy")
			w.record("other", "dns", "A other example.com 192.0.2.1")
			w.until("other", "Created True RecordCreated")
			w.eventually("a look at the other", func() string {
				if !slices.ContainsFunc(h.asked(), func(r string) bool { return strings.HasPrefix(r, "GET") }) {
					return "there is none"
				}
				return ""
			})
			h.shows(c.shows)
			w.record("it", "dns", "A www example.com 192.0.2.1")
			w.sends(h, 2) // at first, and when it is seen
			w.message("it", "www.example.com A", "The server "+h.URL+" of DNSClass "+w.ns+"-dns shows", c.says,
				"Correct the record if the server cannot store it, or correct the server.")
			w.happened("KeptOtherwise")
			if got := w.says("it"); got != "Created True RecordCreated" {
				t.Errorf("it says %s", got)
			}
			w.record("it", "dns", "A www example.com 192.0.2.2")
			w.sends(h, 2) // what is wanted is something else now
			w.message("it", c.says)
			w.writes.take()
			w.sends(h, 0)
			if got := w.writes.take(); len(got) > 0 {
				t.Errorf("it writes %q", got)
			}
			h.shows(func(r *dnshook.Record) { r.Values = []string{"192.0.2.99"} })
			w.sends(h, 1) // the server answers something else now
			w.message("it", "192.0.2.99")
			h.answers(nil)
			w.eventually("no difference", func() string {
				if said := w.get("it").Status.Conditions[0].Message; strings.Contains(said, "instead") {
					return said
				}
				return ""
			})
		})
	}
}

// TestDriftRightAfterARecordWasPutRight has somebody change a record again before it is seen that it was put right.
func TestDriftRightAfterARecordWasPutRight(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	looks := 0
	h.shows(func(r *dnshook.Record) {
		switch looks++; looks {
		case 1: // at an audit
			r.Values = []string{"192.0.2.66"}
		case 2: // after it was put right
			r.TTL = 7
			h.records["A www.example.com"] = *r
		}
	})
	w.happened("Drifted")
	w.eventually("the record as it should be", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		if ttl := h.records["A www.example.com"].TTL; looks < 3 || ttl != 300 {
			return fmt.Sprintf("%d looks, TTL %d", looks, ttl)
		}
		return ""
	})
	w.happened("Drifted")
}

// TestAServerThatShowsTwoThingsInTurn has no answer be the one before: each is a difference, and none of them is news
// after a while.
func TestAServerThatShowsTwoThingsInTurn(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	w.classSays("dns", "Healthy True ServerHealthy")
	asked := 0
	h.shows(func(r *dnshook.Record) { asked++; r.Values = []string{fmt.Sprint("192.0.2.", 66+asked%2)} })
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.sends(h, 3) // at first, and when each of the two is seen
	w.happened("KeptOtherwise")
	w.message("it", "instead of 192.0.2.1, and something else at other times")
	w.writes.take()
	w.sends(h, 0)
	if got := w.writes.take(); len(got) > 0 {
		t.Errorf("it writes %q", got)
	}
	h.answers(nil)
	w.eventually("no difference", func() string {
		if said := w.get("it").Status.Conditions[0].Message; strings.Contains(said, "instead") {
			return said
		}
		return ""
	})
}

// TestAServerThatAlwaysShowsSomethingElse has no answer come twice.
func TestAServerThatAlwaysShowsSomethingElse(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	asked := 0
	h.shows(func(r *dnshook.Record) { asked++; r.Values = []string{fmt.Sprint("198.51.100.", asked)} })
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.sends(h, 3)
	w.happened("KeptOtherwise")
	w.sends(h, 0)
}

// TestDriftAtAServerThatKeepsTheTTLOtherwise has somebody change a record, time and again, that its server never shows
// as it is wanted.
func TestDriftAtAServerThatKeepsTheTTLOtherwise(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	h.shows(func(r *dnshook.Record) { r.TTL = 600 })
	w.record("it", "dns", "A www example.com 192.0.2.1")
	for range 6 {
		w.happened("KeptOtherwise")
		w.sends(h, -1) // it has settled
		h.mu.Lock()
		r := h.records["A www.example.com"]
		r.Values = []string{"192.0.2.66"}
		h.records["A www.example.com"] = r
		h.mu.Unlock()
		w.holds(h, "A www.example.com 300 192.0.2.1")
		w.happened("Drifted")
	}
	w.message("it", "the TTL 600 instead of 300")
}
