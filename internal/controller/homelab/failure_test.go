package homelab_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// quick has retries follow each other at once, five of them, and then none for long.
func quick(c *homelab.Config) {
	c.Retry = servers.Retry{BaseDelay: 20 * time.Millisecond, MaxDelay: 80 * time.Millisecond, MaxAttempts: 5,
		Slow: time.Hour}
}

// slowly has nothing tried again by itself.
func slowly(c *homelab.Config) {
	c.Retry = servers.Retry{BaseDelay: time.Hour, MaxDelay: time.Hour, MaxAttempts: 5, Slow: time.Hour}
}

// dead is the URL of a server that there is not.
func dead(t *testing.T) string {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	return s.URL
}

// message waits until the condition of a record has these words.
func (w *world) message(name string, words ...string) {
	w.t.Helper()
	w.eventually(name, func() string {
		conditions := w.get(name).Status.Conditions
		if len(conditions) == 0 {
			return "it says nothing"
		}
		for _, text := range words {
			if said := conditions[0].Message; !strings.Contains(said, text) {
				return fmt.Sprintf("it says %q, without %q", said, text)
			}
		}
		return ""
	})
}

func TestAServerThatIsDead(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, quick)
	w.class("dns", dead(t))
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Error False ServerUnreachable")
	w.message("it", "does not answer", "All retries failed (5/5)")
	if e := w.get("it").Status.Error; e == nil || e.Code != "SERVER_UNREACHABLE" || e.Timestamp == nil {
		t.Errorf("its error is %+v", e)
	}
	w.class("dns", h.URL) // another chance
	w.until("it", "Created True RecordCreated")
	if e := w.get("it").Status.Error; e != nil {
		t.Errorf("the error stays: %+v", e)
	}
}

func TestAServerThatRecovers(t *testing.T) {
	h := newHook(t, "")
	h.answers(status(500, `{"success":false,"error":{"code":"SERVER_ERROR","message":"no database"}}`))
	w := newWorld(t, slowly, func(c *homelab.Config) { c.HealthInterval = 200 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Error False ServerError")
	w.message("it", "no database", "retry 1/5")
	w.classSays("dns", "Unhealthy False ServerError")
	h.answers(nil)
	w.until("it", "Created True RecordCreated")
	w.classSays("dns", "Healthy True ServerHealthy")
}

// classSays waits until a DNSClass says "HEALTH STATUS REASON".
func (w *world) classSays(name, want string) {
	w.t.Helper()
	w.eventually(name, func() string {
		var c v1alpha1.DNSClass
		if err := w.live.Get(w.ctx, client.ObjectKey{Name: w.ns + "-" + name}, &c); err != nil {
			return err.Error()
		}
		if len(c.Status.Conditions) == 1 && c.Status.Health != nil && c.Status.ObservedGeneration == c.Generation {
			if got := fmt.Sprint(c.Status.Health.Status, " ", c.Status.Conditions[0].Status, " ",
				c.Status.Conditions[0].Reason); got == want {
				return ""
			}
		}
		return fmt.Sprintf("it says %+v, want %s", c.Status, want)
	})
}

func TestAnswersOfServers(t *testing.T) {
	const no = `{"success":false,"error":{"code":"%s","message":"because"}}`
	for _, c := range []struct {
		sentence string
		answer   func(http.ResponseWriter, *http.Request) bool
		says     string
		code     string
		requests int
		words    string
	}{
		{"nothing but success", status(204, ""), "Created True RecordCreated", "", 1, "has www.example.com A"},
		{"a record that the server does not take", status(400, fmt.Sprintf(no, "INVALID_VALUE")),
			"Error False ValidationFailed", "INVALID_VALUE", 1, "because"},
		{"a no with 200", status(200, fmt.Sprintf(no, "INVALID_DOMAIN")), "Error False ValidationFailed", "INVALID_DOMAIN", 1,
			"because"},
		{"a wrong signature", status(401, "go away"), "Error False AuthenticationFailed", "AUTH_FAILED", 6,
			"All retries failed (5/5)"},
		{"a replay, as the server sees it", status(401, fmt.Sprintf(no, "NONCE_REUSED")), "Error False AuthenticationFailed",
			"NONCE_REUSED", 6, "All retries failed (5/5)"},
		{"a failure", status(503, "{"), "Error False ServerError", "SERVER_ERROR", 6, "All retries failed (5/5)"},
		{"a quota", status(403, fmt.Sprintf(no, "QUOTA_EXCEEDED")), "Error False ServerError", "QUOTA_EXCEEDED", 6,
			"All retries failed (5/5)"},
		{"a place that is none", status(404, "404 page not found"), "Error False ServerError", "SERVER_ERROR", 6,
			"All retries failed (5/5)"},
		{"a redirect", status(307, "", "Location", "/elsewhere"), "Error False ServerError", "SERVER_ERROR", 6,
			"All retries failed (5/5)"},
		{"too many requests", status(429, "", "Retry-After", "3600"), "Error False ServerError", "RATE_LIMITED", 1,
			"in 1h0m0s, as the server asks"},
		{"a wish beyond the interval of health checks", status(429, "", "Retry-After", "7200"), "Error False ServerError",
			"RATE_LIMITED", 1, "in 1h0m0s, although the server asks for 2h0m0s"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
				return r.Method == http.MethodPost && c.answer(rw, r)
			})
			w := newWorld(t, quick)
			w.class("dns", h.URL)
			w.record("it", "dns", "A www example.com 192.0.2.1")
			w.message("it", c.words)
			w.until("it", c.says)
			if e := w.get("it").Status.Error; (e != nil) != (c.code != "") || e != nil && e.Code != c.code {
				t.Errorf("its error is %+v, want %s", e, c.code)
			}
			if got := h.asked(); len(got) != c.requests {
				t.Errorf("the server is asked %d times, want %d: %q", len(got), c.requests, got)
			}
		})
	}
}

func TestAServerThatSaysWhenToComeBack(t *testing.T) {
	h := newHook(t, "")
	posts := 0
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		if posts++; posts == 1 {
			return status(503, "", "Retry-After", "1")(rw, r)
		}
		return false
	})
	w := newWorld(t, slowly)
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.times) != 2 || h.times[1].Sub(h.times[0]) < time.Second {
		t.Errorf("it comes at %v", h.times)
	}
}

func TestSecrets(t *testing.T) {
	h := newHook(t, "one secret of sixteen")
	w := newWorld(t, slowly)
	w.class("dns", h.URL, "hmacAuth:", "  secretRef: {name: hmac, namespace: ~, key: key}")
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Error False SecretNotFound")
	w.classSays("dns", "Unhealthy False SecretNotFound")
	w.secret("hmac", "other", "one secret of sixteen")
	w.message("it", "the key key of the Secret")
	if got := h.asked(); len(got) > 0 {
		t.Errorf("without a secret it sends %q", got)
	}
	w.secret("hmac", "key", "fifteen octets.")
	w.until("it", "Error False InvalidConfiguration")
	w.message("it", "the key key of the Secret "+w.ns+"/hmac", "fewer than 16", "openssl rand")
	w.classSays("dns", "Unhealthy False InvalidConfiguration")
	if got := h.asked(); len(got) > 0 {
		t.Errorf("signed with a short secret it sends %q", got)
	}
	w.secret("hmac", "key", "one secret of sixteen")
	w.until("it", "Created True RecordCreated")
	w.classSays("dns", "Healthy True ServerHealthy")

	h.sign("two secret of sixteen")
	w.record("it", "dns", "A www example.com 192.0.2.2")
	w.until("it", "Error False AuthenticationFailed")
	w.message("it", "may still serve")
	w.secret("hmac", "key", "two secret of sixteen")
	w.until("it", "Updated True RecordUpdated")
	w.holds(h, "A www.example.com 300 192.0.2.2")

	if err := w.live.Delete(w.ctx, w.object("v1", "Secret", "hmac")); err != nil {
		t.Fatal(err)
	}
	w.classSays("dns", "Unhealthy False SecretNotFound")
	w.delete("it")
	w.until("it", "Error False SecretNotFound")
	w.secret("hmac", "key", "two secret of sixteen\n")
	w.until("it", "Error False AuthenticationFailed")
	w.happened("SecretEndsInNewline")
	w.secret("hmac", "key", "two secret of sixteen")
	w.until("it", "gone")
	w.holds(h)
}

// happened waits for an event with a reason.
func (w *world) happened(reason string) string {
	w.t.Helper()
	for {
		select {
		case e := <-w.events.Events:
			if strings.Contains(e, reason) {
				return e
			}
		case <-w.ctx.Done():
			w.t.Fatalf("there is no event %s", reason)
		}
	}
}

func TestDeletionWithoutAServer(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, quick)
	w.class("dns", h.URL)
	for _, name := range []string{"one", "two"} {
		w.record(name, "dns", "A "+name+" example.com 192.0.2.1")
		w.until(name, "Created True RecordCreated")
	}
	h.answers(status(500, ""))
	w.delete("one")
	w.delete("two")
	w.until("one", "Error False ServerError")
	w.message("one", "5/5", "kubectl annotate -n "+w.ns+
		" dnsrecord one dns.homelab.mortenolsen.pro/deletion-policy=orphan")
	w.annotate("one", v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
	w.until("one", "gone")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodDelete && status(404, "nothing here")(rw, r)
	})
	w.class("dns", h.URL, "timeoutSeconds: 5") // another chance
	w.until("two", "gone")
}

func (w *world) annotate(name, key, value string) {
	w.t.Helper()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if err := w.live.Patch(w.ctx, w.get(name), client.RawPatch("application/merge-patch+json", []byte(body))); err != nil {
		w.t.Fatal(err)
	}
}

// TestWhoLeavesARecordWhereItIsWaitsForNobody has a server that never answers keep all workers of its class.
func TestWhoLeavesARecordWhereItIsWaitsForNobody(t *testing.T) {
	end := make(chan struct{})
	var sent atomic.Int32
	bad := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost {
			sent.Add(1)
		}
		<-end
	}))
	t.Cleanup(bad.Close)
	w := newWorld(t)
	defer close(end)
	w.class("dns", bad.URL, "timeoutSeconds: 3600")
	const workers, records = 8, 12
	for i := range records {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprint("A r", i, " example.com 192.0.2.1"))
	}
	w.eventually("the workers", func() string {
		if n := sent.Load(); n < workers {
			return fmt.Sprint("the server has been sent ", n)
		}
		return ""
	})
	for i := range records {
		name := fmt.Sprint("r", i)
		w.annotate(name, v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
		w.delete(name)
		w.until(name, "gone")
	}
}

func TestOneOfTwoServersIsDead(t *testing.T) {
	hang, end := make(chan struct{}), make(chan struct{})
	bad := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-hang
	}))
	t.Cleanup(func() { close(hang); close(end); bad.Close() })
	good := newHook(t, "")
	w := newWorld(t)
	w.class("bad", bad.URL)
	w.class("good", good.URL)
	for i := range 30 {
		w.record(fmt.Sprint("bad", i), "bad", fmt.Sprint("A b", i, " example.com 192.0.2.1"))
	}
	began := time.Now()
	w.record("good", "good", "A www example.com 192.0.2.1")
	w.holds(good, "A www.example.com 300 192.0.2.1")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the other server had to wait for %s", took)
	}
	w.classSays("good", "Healthy True ServerHealthy")
	w.classSays("bad", "Unknown Unknown Pending")
}
