package homelab_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/internal/controller/homelab"
)

// TestLateMessagesOfWhoLedBefore has messages of another operator reach a server after this one was done with it.
func TestLateMessagesOfWhoLedBefore(t *testing.T) {
	for _, c := range []struct {
		sentence string
		get      bool // the server tells what it has
		led      bool // another operator did not give up the Lease
		again    int  // removals
		holds    []string
	}{
		{"what was removed is removed again, and what differs is put right", true, true, 1, []string{
			"A stays.example.com 300 192.0.2.1"}},
		{"a server that tells nothing keeps old values only", false, true, 1, []string{"A stays.example.com 300 192.0.2.9"}},
		{"nothing is asked when nobody can send anything", true, false, 0, []string{"A gone.example.com 300 192.0.2.1",
			"A stays.example.com 300 192.0.2.9"}},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			clock := clocktesting.NewFakeClock(time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC))
			late := clock.Now().Add(15 * time.Second)
			w := newWorld(t, func(config *homelab.Config) {
				config.Clock, config.Audit = clock, time.Hour
				config.Rand = func() float64 { return 0 }
				if c.led {
					config.Late = func() time.Time { return late }
				}
			})
			if !c.get {
				h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
					return r.Method == http.MethodGet && r.URL.Path != "/health" && status(http.StatusMethodNotAllowed, "")(rw, r)
				})
			}
			w.class("dns", h.URL)
			w.record("stays", "dns", "A stays example.com 192.0.2.1")
			w.record("gone", "dns", "A gone example.com 192.0.2.1")
			w.record("back", "dns", "A back example.com 192.0.2.1")
			for _, name := range []string{"stays", "gone", "back"} {
				w.until(name, "Created True RecordCreated")
				if name != "stays" {
					w.delete(name)
					w.until(name, "gone")
				}
			}
			w.record("back", "dns", "A back example.com 192.0.2.2")
			w.until("back", "Created True RecordCreated")
			h.asked()
			h.put("example.com", "gone", "stays")
			h.mu.Lock()
			r := h.records["A stays.example.com"]
			r.Values = []string{"192.0.2.9"}
			h.records["A stays.example.com"] = r
			h.mu.Unlock()
			clock.Step(15 * time.Second)
			w.holds(h, append([]string{"A back.example.com 300 192.0.2.2"}, c.holds...)...)
			w.record("witness", "dns", "A witness example.com 192.0.2.1")
			w.until("witness", "Created True RecordCreated")
			asked := strings.Join(h.asked(), "\n")
			if again := strings.Count(asked, "DELETE"); again != c.again || !c.led && strings.Contains(asked, "GET") {
				t.Errorf("it is asked\n%s", asked)
			}
			w.delete("stays") // and what is removed later is removed once
			w.until("stays", "gone")
			if asked := strings.Join(h.asked(), "\n"); strings.Count(asked, "DELETE") != 1 {
				t.Errorf("it is asked\n%s", asked)
			}
		})
	}
}
