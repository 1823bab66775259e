package homelab_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
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

// TestWhatWasLeftGoesAfterARestart has records move to another class, and the operator end before the former server has
// lost them.
func TestWhatWasLeftGoesAfterARestart(t *testing.T) {
	from, to := newHook(t, ""), newHook(t, "")
	w := newWorld(t)
	w.class("from", from.URL)
	w.class("to", to.URL)
	const records = 10 // which of two slots is looked at first is left to chance
	names := make([]string, records)
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i)
		w.record(names[i], "from", "A "+names[i]+" example.com 192.0.2.1")
	}
	for _, name := range names {
		w.until(name, "Created True RecordCreated")
	}
	from.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodDelete && status(http.StatusServiceUnavailable, "")(rw, r)
	})
	for _, name := range names {
		w.record(name, "to", "A "+name+" example.com 192.0.2.1")
	}
	for _, name := range names {
		w.eventually(name, func() string {
			if s := w.get(name).Status; s.Applied == nil || s.Applied.Hash == "" || len(s.Former) != 1 {
				return fmt.Sprintf("it has %+v and %+v", s.Applied, s.Former)
			}
			return ""
		})
	}
	w.stop()
	from.answers(nil)
	w.start()
	w.holds(from)
	for _, name := range names {
		w.eventually(name, func() string {
			if s := w.get(name).Status; len(s.Former) > 0 {
				return fmt.Sprintf("it has %+v", s.Former)
			}
			return ""
		})
	}
}
