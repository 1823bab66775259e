package gardener_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
)

// TestWhatIsLetGoStays has records be let go whose sets were about to be written when the service was away: one goes to
// another operator, and of the other it is known that it was never there.
func TestWhatIsLetGoStays(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("beside", "powerdns creds A beside.example.org 192.0.2.9") // keeps the place open
	w.until("beside", "Create Succeeded")
	stranger(t, s, "moves.example.org", "203.0.113.1")
	stranger(t, s, "theirs.example.org", "203.0.113.2")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"moves", "theirs"} {
		w.record(name, "powerdns creds A "+name+".example.org 192.0.2.1")
		w.until(name, "Create Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	}
	w.ask("moves", "migrate")
	w.until("moves", "Migrate Succeeded")
	w.delete("theirs")
	w.until("theirs", "gone")
	if err := s.Start(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.record("beside", "powerdns creds A beside.example.org 192.0.2.8")
	w.ask("beside", "reconcile")
	w.until("beside", "Reconcile Succeeded")
	w.record("last", "powerdns creds A last.example.org 192.0.2.9")
	w.until("last", "Create Succeeded")
	w.holds(s, "A moves.example.org", "5 203.0.113.1")
	w.holds(s, "A theirs.example.org", "5 203.0.113.2")
}

// TestWhatIsRefusedIsTriedAgain has a service refuse a set, and its removal, until somebody has mended something there.
// Nobody else changes the zone.
func TestWhatIsRefusedIsTriedAgain(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	stranger(t, s, "alias.example.org", "203.0.113.1")
	w.record("alias", "powerdns creds CNAME alias.example.org www.example.net")
	w.until("alias", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	const wayOut = " (rejected). Other records may be at alias.example.org., where a CNAME has to be alone; " +
		"remove them, or delete this DNSRecord."
	said := w.get("alias").Status.LastError.Description
	if !strings.HasSuffix(said, wayOut) || strings.Count(said, "(rejected)") > 1 {
		t.Errorf("the error is %q, want one that ends with %q", said, wayOut)
	}
	stranger(t, s, "alias.example.org", "")
	w.until("alias", "Create Succeeded")
	w.holds(s, "CNAME alias.example.org", "120 www.example.net.")
}

// TestARequestSurvivesAFailingAPIServer has the status not be written when the wish for an operation has been taken
// off.
func TestARequestSurvivesAFailingAPIServer(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	times := 0
	w.mu.Lock()
	w.refuse = func(r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/status") {
			times++
		}
		return strings.HasSuffix(r.URL.Path, "/status") && times < 3
	}
	w.mu.Unlock()
	w.record("api", "powerdns creds A api.example.org 192.0.2.2")
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	w.mu.Lock()
	defer w.mu.Unlock()
	if times < 3 {
		t.Errorf("the status was written %d times", times)
	}
}

// TestARequestOutlivesAnOperator has an operator end behind each of the writes that it makes about an operation.
func TestARequestOutlivesAnOperator(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	for passed := range 3 { // Processing, the annotation, Succeeded
		value := fmt.Sprint("192.0.2.1", passed)
		writes := 0
		w.mu.Lock()
		w.refuse = func(*http.Request) bool { writes++; return writes > passed }
		w.mu.Unlock()
		w.record("api", "powerdns creds A api.example.org "+value)
		w.ask("api", "reconcile")
		w.eventually("a write that does not pass", func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			if writes <= passed {
				return fmt.Sprintf("there were %d writes", writes)
			}
			return ""
		})
		w.stop()
		w.mu.Lock()
		w.refuse = nil
		w.mu.Unlock()
		w.start()
		w.holds(s, "A api.example.org", "120 "+value)
		w.until("api", "Reconcile Succeeded")
	}
}

// TestAForcedDeletionOutlivesAThrottle has a shoot go by force while its service asks to wait for a moment.
func TestAForcedDeletionOutlivesAThrottle(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.shoot(`{metadata: {annotations: {confirmation.gardener.cloud/force-deletion: "true"}}}`)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.stop()
	throttled := 0
	w.mu.Lock()
	w.fail = func(string) error {
		if throttled++; throttled < 3 {
			return &backend.Error{Class: backend.ErrThrottled, After: 1e9, Words: "Throttling: Rate exceeded"}
		}
		return nil
	}
	w.mu.Unlock()
	w.start()
	w.delete("api")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}
