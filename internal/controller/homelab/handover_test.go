package homelab_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/internal/controller/homelab"
)

// TestWhoComesNextHasTheSameRecord has an object go while another one waits for the very same record: nothing has to be
// sent, and the record is the successor's.
func TestWhoComesNextHasTheSameRecord(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("old", "dns", "A www example.com 192.0.2.1")
	w.until("old", "Created True RecordCreated")
	w.younger()
	w.record("new", "dns", "A www example.com 192.0.2.1")
	w.until("new", "Error False InvalidConfiguration")
	h.asked()
	w.delete("old")
	w.until("old", "gone")
	w.until("new", "Created True RecordCreated")
	if got := strings.Join(h.asked(), "\n"); strings.Contains(got, "DELETE") || strings.Contains(got, "POST") {
		t.Errorf("the server is asked\n%s", got)
	}
	w.delete("new")
	w.until("new", "gone")
	w.holds(h)
}

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

// TestASendThatNoStatusTellsOf has the operator end between what it sends and the status about that, and the change be
// taken back before the next one begins: the status is then about what is wanted, and not about what the server has.
func TestASendThatNoStatusTellsOf(t *testing.T) {
	const as = `MX example.com 300 a.example.com {"priority":10}`
	for _, c := range []struct {
		sentence     string
		change, back func(*world, *hook)
		sent         []string // what the server has when the operator ends
	}{
		{
			"another TTL of the class", func(w *world, h *hook) { w.class("dns", h.URL, "defaultTTL: 400") },
			func(w *world, h *hook) { w.class("dns", h.URL, "defaultTTL: 300") }, []string{strings.Replace(as, "300", "400", 1)},
		},
		{
			"a class that does not allow it", func(w *world, h *hook) {
				w.class("dns", h.URL, "allowed: [{names: [example.net]}]")
			},
			func(w *world, h *hook) { w.class("dns", h.URL) }, nil,
		},
		{
			"a value of another object", func(w *world, _ *hook) {
				w.record("more", "dns", "MX @ example.com b.example.com", "metadata: {priority: 10}")
			},
			func(w *world, _ *hook) { w.delete("more"); w.until("more", "gone") },
			[]string{strings.Replace(as, "a.example.com", "a.example.com,b.example.com", 1)},
		},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			w := newWorld(t, slowly)
			w.class("dns", h.URL)
			w.record("mail", "dns", "MX @ example.com a.example.com", "metadata: {priority: 10}")
			w.settled("mail", "dns")
			w.younger()
			var sent atomic.Bool
			h.answers(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					sent.Store(true)
				}
				return false
			})
			w.writes.refuses(func(path string) bool { return sent.Load() && strings.HasSuffix(path, "/dnsrecords/mail/status") })
			c.change(w, h)
			w.holds(h, c.sent...)
			w.stop()
			w.writes.refuses(nil)
			c.back(w, h)
			w.start()
			w.holds(h, as)
			w.settled("mail", "dns")
		})
	}
}

func TestWhatAChangeCosts(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("mail", "dns", "MX @ example.com a.example.com", "metadata: {priority: 10}")
	w.settled("mail", "dns")
	for _, c := range []struct {
		sentence string
		change   func()
		has      string
		writes   int // of its status
	}{
		{
			"a value of its own, of which its generation tells", func() {
				w.record("mail", "dns", "MX @ example.com b.example.com", "metadata: {priority: 10}")
			},
			`MX example.com 300 b.example.com {"priority":10}`, 1,
		},
		{
			"another TTL of the class, of which its status has to tell first", func() {
				w.class("dns", h.URL, "defaultTTL: 400")
			},
			`MX example.com 400 b.example.com {"priority":10}`, 2,
		},
	} {
		w.writes.take()
		c.change()
		w.holds(h, c.has)
		w.settled("mail", "dns")
		w.until("mail", "Updated True RecordUpdated")
		got := strings.Count(strings.Join(w.writes.take(), "\n"), "/dnsrecords/mail/status")
		if got != c.writes {
			t.Errorf("%s costs %d writes, want %d", c.sentence, got, c.writes)
		}
	}
}
