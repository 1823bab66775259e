package homelab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/homelab"
)

// outsider is a user of the API server whom no role is bound to.
const outsider = "zonefold-without-rights"

// restrict has the operator read Secrets as the outsider, from its next start on.
func (w *world) restrict() {
	w.t.Helper()
	as := rest.CopyConfig(w.rest)
	as.Impersonate.UserName = outsider
	live, err := client.New(as, client.Options{Scheme: w.scheme})
	if err != nil {
		w.t.Fatal(err)
	}
	w.config.Live = live
}

// entitle lets the outsider read the Secrets of the namespace.
func (w *world) entitle() {
	w.t.Helper()
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reads}\nrules: [{apiGroups: [\"\"], " +
		"resources: [secrets], verbs: [get]}]")
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: reads}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads}\nsubjects: [{apiGroup: "+
		"rbac.authorization.k8s.io, kind: User, name: %s}]", outsider)
}

// TestASecretThatTheOperatorMayNotRead has the rights of the operator be less than it needs: nothing tells it when that
// is over.
func TestASecretThatTheOperatorMayNotRead(t *testing.T) {
	h := newHook(t, "one secret of sixteen")
	// the second retry reads it again
	w := newWorld(t, func(c *homelab.Config) { c.Retry.BaseDelay = 3500 * time.Millisecond })
	w.stop()
	w.restrict()
	w.start()
	w.secret("hmac", "key", "one secret of sixteen")
	w.class("dns", h.URL, "hmacAuth:", "  secretRef: {name: hmac, namespace: ~, key: key}")
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Error False SecretNotFound")
	w.message("it", "the Secret "+w.ns+"/hmac, which the operator may not read", outsider,
		"grant its ServiceAccount the right to get it", "(retry ")
	w.classSays("dns", "Unhealthy False SecretNotFound")
	if e := w.get("it").Status.Error; e == nil || e.Code != "SECRET_NOT_FOUND" {
		t.Errorf("its error is %+v", e)
	}
	if got := h.asked(); len(got) > 0 {
		t.Errorf("without a secret it sends %q", got)
	}
	w.entitle()
	w.until("it", "Created True RecordCreated")
}

// TestNothingIsSignedWithASecretThatIsGone has a request wait for its turn while the Secret is deleted.
func TestNothingIsSignedWithASecretThatIsGone(t *testing.T) {
	s := newSchedule(t)
	s.secret("hmac", "key", "one secret of sixteen")
	s.class("dns", s.hook.URL, "rateLimit: {requests: 1, seconds: 3600}", "hmacAuth:",
		"  secretRef: {name: hmac, namespace: ~, key: key}")
	s.classSays("dns", "Healthy True ServerHealthy")
	s.record("first", "dns", "A first example.com 192.0.2.1")
	s.until("first", "Created True RecordCreated") // no status waits for its moment (2 s), whose timer would count
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
