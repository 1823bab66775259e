package homelab_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestWhoComesNextHasTheSameRecord has an object go while another one waits for the very same record: nothing has to be sent, and the
// record is the successor's.
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

// TestWhoJoinsASetLeavesNothingBehind has a text become part of the set of mail servers that another object owns.
func TestWhoJoinsASetLeavesNothingBehind(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("first", "dns", "MX mx example.com one.example.net", "metadata: {priority: 10}")
	w.record("second", "dns", "TXT text example.com hello")
	w.until("first", "Created True RecordCreated")
	w.until("second", "Created True RecordCreated")
	w.record("second", "dns", "MX mx example.com two.example.net", "metadata: {priority: 10}")
	w.eventually("the server", func() string {
		if got := h.has(); strings.Contains(got, "TXT") || !strings.Contains(got, "two.example.net") {
			return "it has\n" + got
		}
		return ""
	})
	w.until("second", "Updated True RecordUpdated")
}

// TestARecordIsWantedAgainAfterALostRemoval has the server take a removal whose answer nobody hears.
func TestARecordIsWantedAgainAfterALostRemoval(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("one", "dns", "A www example.com 192.0.2.1")
	w.until("one", "Created True RecordCreated")
	lost := make(chan struct{}, 10)
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		clear(h.records)
		lost <- struct{}{}
		return status(http.StatusServiceUnavailable, "")(rw, r)
	})
	w.delete("one")
	<-lost
	w.record("two", "dns", "A www example.com 192.0.2.1")
	w.until("two", "Created True RecordCreated")
	w.holds(h, "A www.example.com 300 192.0.2.1")
	h.answers(nil)
	w.until("one", "gone")
	w.holds(h, "A www.example.com 300 192.0.2.1")
}
