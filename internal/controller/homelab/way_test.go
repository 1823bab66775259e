package homelab_test

import (
	"net/http"
	"strings"
	"testing"
)

// refuses has a hook refuse whatever holds a text.
func (h *hook) refuses(text string) {
	h.answers(func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPost && strings.Contains(h.requests[len(h.requests)-1], text) &&
			status(http.StatusBadRequest, `{"success":false,"error":{"code":"INVALID_VALUE","message":"no"}}`)(w, r)
	})
}

// TestANameIsNotKeptByWhatCannotMove has an alias move to where its server does not take it, while somebody else gets
// the name that it had.
func TestANameIsNotKeptByWhatCannotMove(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("alias", "dns", "CNAME www example.com example.net")
	w.until("alias", "Created True RecordCreated")
	h.refuses(`"subdomain":"bad"`)
	w.record("alias", "dns", "CNAME bad example.com example.net")
	w.until("alias", "Error False ValidationFailed")
	w.holds(h, "CNAME www.example.com 300 example.net") // nobody else wants it
	w.record("web", "dns", "A www example.com 192.0.2.1")
	w.until("web", "Created True RecordCreated")
	w.holds(h, "A www.example.com 300 192.0.2.1")
}

// TestTwoThatSwapNames has an alias and an address each want the name of the other at once.
func TestTwoThatSwapNames(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("alias", "dns", "CNAME a example.com example.net")
	w.record("address", "dns", "A b example.com 192.0.2.1")
	w.until("alias", "Created True RecordCreated")
	w.until("address", "Created True RecordCreated")
	w.stop()
	w.record("alias", "dns", "CNAME b example.com example.net")
	w.record("address", "dns", "A a example.com 192.0.2.1")
	w.start()
	w.holds(h, "A a.example.com 300 192.0.2.1", "CNAME b.example.com 300 example.net")
}

// TestTwoOperationsAtOneNameHaveRetriesOfTheirOwn has the removal for who goes fail, and the upsert for who comes be
// refused.
func TestTwoOperationsAtOneNameHaveRetriesOfTheirOwn(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, quick)
	w.class("dns", h.URL)
	w.record("one", "dns", "A www example.com 192.0.2.1")
	w.until("one", "Created True RecordCreated")
	w.younger()
	w.record("two", "dns", "A www example.com 192.0.2.66")
	w.until("two", "Error False InvalidConfiguration")
	h.asked()
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		switch r.Method {
		case http.MethodPost:
			return status(http.StatusBadRequest, `{"success":false,"error":{"code":"INVALID_VALUE","message":"no"}}`)(rw, r)
		case http.MethodDelete:
			return status(http.StatusInternalServerError, "")(rw, r)
		}
		return false
	})
	w.delete("one")
	w.message("one", "All retries failed (5/5)")
	w.until("one", "Error False ServerError")
	w.until("two", "Error False ValidationFailed")
	got := strings.Join(h.asked(), "\n")
	if posts, removals := strings.Count(got, "POST"), strings.Count(got, "DELETE"); posts != 1 || removals != 6 {
		t.Errorf("there are %d upserts and %d removals, want 1 and 6:\n%s", posts, removals, got)
	}
	h.answers(nil)
	w.class("dns", h.URL, "timeoutSeconds: 5") // another chance for both
	w.until("two", "Created True RecordCreated")
	w.until("one", "gone")
}

// TestWhatWasNeverConfirmedIsLetGo has a server refuse whatever there is about a domain, which somebody has mistyped.
func TestWhatWasNeverConfirmedIsLetGo(t *testing.T) {
	for _, c := range []struct {
		sentence string
		removal  func(http.ResponseWriter, *http.Request) bool
	}{
		{"400 of the protocol", status(400, `{"success":false,"error":{"code":"INVALID_DOMAIN","message":"no zone"}}`)},
		{"400 in other words", status(400, "no zone")},
		{"404 in other words", status(404, "no zone")},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
				switch last := h.requests[max(0, len(h.requests)-1):]; {
				case r.URL.Path == "/health" || len(last) == 0 || !strings.Contains(last[0], "mistyped"):
					return false
				case r.Method == http.MethodDelete:
					return c.removal(rw, r)
				}
				return status(400, `{"success":false,"error":{"code":"INVALID_DOMAIN","message":"no zone"}}`)(rw, r)
			})
			w := newWorld(t)
			w.class("dns", h.URL)
			w.record("mended", "dns", "A www mistyped.com 192.0.2.1")
			w.record("deleted", "dns", "A ftp mistyped.com 192.0.2.1")
			w.until("mended", "Error False ValidationFailed")
			w.until("deleted", "Error False ValidationFailed")
			w.delete("deleted")
			w.until("deleted", "gone")
			w.record("mended", "dns", "A www example.com 192.0.2.1")
			w.settled("mended", "dns")
			w.holds(h, "A www.example.com 300 192.0.2.1")
		})
	}
}

// TestWhatWasConfirmedIsNotLetGo has a server refuse the removal of what it has taken.
func TestWhatWasConfirmedIsNotLetGo(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodDelete &&
			status(400, `{"success":false,"error":{"code":"INVALID_DOMAIN","message":"no zone"}}`)(rw, r)
	})
	w.delete("it")
	w.until("it", "Error False ValidationFailed")
	h.answers(nil)
	w.class("dns", h.URL, "timeoutSeconds: 5") // another chance
	w.until("it", "gone")
}
