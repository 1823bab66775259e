package homelab_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

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
