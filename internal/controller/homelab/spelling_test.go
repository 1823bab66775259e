package homelab_test

import (
	"strings"
	"testing"
)

func TestTwoSpellingsOfAURLAreOneServer(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("one", h.URL)
	w.class("same", h.URL+"//")
	w.record("it", "one", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	h.asked()
	w.record("it", "same", "A www example.com 192.0.2.1")
	w.settled("it", "same")
	if got := strings.Join(h.asked(), "\n"); strings.Contains(got, "DELETE") || strings.Count(got, "POST") != 1 {
		t.Errorf("the class of the same server begins with\n%s", got)
	}
	w.class("same", h.URL+"/", "timeoutSeconds: 7")
	w.record("later", "same", "A later example.com 192.0.2.1")
	w.until("later", "Created True RecordCreated")
	if got := h.asked(); len(got) != 1 {
		t.Errorf("the other spelling has it send %q", got)
	}
}
