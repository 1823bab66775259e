package homelab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestNothingIsSignedWithASecretThatIsGone has a request wait for its turn while the Secret is deleted.
func TestNothingIsSignedWithASecretThatIsGone(t *testing.T) {
	s := newSchedule(t)
	s.secret("hmac", "key", "one secret of sixteen")
	s.class("dns", s.hook.URL, "rateLimit: {requests: 1, seconds: 3600}", "hmacAuth:",
		"  secretRef: {name: hmac, namespace: ~, key: key}")
	s.record("first", "dns", "A first example.com 192.0.2.1")
	s.holds(s.hook, "A first.example.com 300 192.0.2.1")
	timers := s.clock.Waiters()
	s.record("it", "dns", "A it example.com 192.0.2.1")
	s.eventually("the request", func() string {
		if got := s.clock.Waiters(); got <= timers {
			return fmt.Sprintf("there are %d timers, as before", got)
		}
		return ""
	})
	if err := s.live.Delete(s.ctx, s.object("v1", "Secret", "hmac")); err != nil {
		t.Fatal(err)
	}
	s.classSays("dns", "Unhealthy False SecretNotFound")
	s.hook.asked()
	s.clock.Step(2 * time.Hour)
	s.until("it", "Error False SecretNotFound")
	if got := strings.Join(s.hook.asked(), "\n"); strings.Contains(got, "POST") {
		t.Errorf("it sends\n%s", got)
	}
	s.until("first", "Created True RecordCreated") // the server has it

	s.secret("hmac", "key", "one secret of sixteen")
	s.eventually("the record", func() string { // its words go with their cause
		s.clock.Step(time.Hour)
		if got := s.says("it"); got != "Created True RecordCreated" {
			return "it says " + got
		}
		return ""
	})
	s.message("it", "has it.example.com A")
	if e := s.get("it").Status.Error; e != nil {
		t.Errorf("its error stays: %+v", e)
	}
	s.classSays("dns", "Healthy True ServerHealthy")
}
