package homelab_test

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab"
)

// ends deletes the DNSClass dns, and waits for it to be gone when nothing keeps it any more.
func (w *world) ends(before func()) {
	w.t.Helper()
	o := &v1alpha1.DNSClass{}
	o.Name = w.ns + "-dns"
	if err := w.live.Delete(w.ctx, o); err != nil {
		w.t.Fatal(err)
	}
	before()
	w.eventually("the class", func() string {
		if err := w.live.Get(w.ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return "it is still there, with the finalizers " + lines(o.Finalizers)
		}
		return ""
	})
}

// TestWhatCouldNeverBeSentKeepsNothing has DNSClasses for which nothing can be signed: no server has anything because
// of their records.
func TestWhatCouldNeverBeSentKeepsNothing(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, slowly)
	w.class("good", h.URL)
	w.class("short", h.URL, "hmacAuth: {secret: short}")
	w.class("dns", h.URL, "hmacAuth: {secretRef: {name: hmac, namespace: ~, key: key}}")
	w.record("moved", "good", "A moved example.com 192.0.2.1")
	w.until("moved", "Created True RecordCreated")
	w.record("moved", "dns", "A moved example.com 192.0.2.1")
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.marked("marked", "dns", "A marked example.com 192.0.2.1", "")
	w.record("other", "short", "A other example.com 192.0.2.1")
	w.until("moved", "Error False SecretNotFound")
	w.until("it", "Error False SecretNotFound")
	w.until("marked", "Error False SecretNotFound")
	w.until("other", "Error False InvalidConfiguration")
	h.asked()
	w.ends(func() {
		for _, name := range []string{"moved", "it", "marked", "other"} {
			w.delete(name)
			w.until(name, "gone")
		}
	})
	if got := strings.Join(h.asked(), "\n"); strings.Contains(got, "POST") || strings.Count(got, "DELETE") != 1 {
		t.Errorf("the server is asked\n%s", got)
	}
	w.holds(h)
}

// TestWhatHasReachedNobodyKeepsNothing has a server that there is not, and one that may have taken what it does not
// answer.
func TestWhatHasReachedNobodyKeepsNothing(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, slowly)
	w.class("good", h.URL)
	for _, name := range []string{"moved", "back"} {
		w.record(name, "good", "A "+name+" example.com 192.0.2.1")
		w.until(name, "Created True RecordCreated")
	}
	w.record("late", "dns", "A late example.com 192.0.2.1")
	w.until("late", "Error False DNSClassNotFound") // it has a status before anything is tried
	w.class("dns", dead(t))
	names := []string{"moved", "late", "new", "back"}
	for _, name := range names {
		w.record(name, "dns", "A "+name+" example.com 192.0.2.1")
		w.until(name, "Error False ServerUnreachable")
	}
	w.record("back", "good", "A back example.com 192.0.2.1")
	w.until("back", "Created True RecordCreated")
	w.ends(func() {
		for _, name := range names[:3] {
			w.delete(name)
			w.until(name, "gone")
		}
	})
	w.holds(h, "A back.example.com 300 192.0.2.1")

	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path != "/health" && hangUp(rw, r)
	})
	w.record("heard", "good", "A heard example.com 192.0.2.1")
	w.until("heard", "Error False ServerUnreachable")
	w.delete("heard")
	w.until("heard", "Error False ServerUnreachable")
	h.answers(nil)
	w.class("good", h.URL, "timeoutSeconds: 20") // another chance
	w.until("heard", "gone")
}

// TestASuccessorThatCannotBeSentKeepsNothing has the Secret go while the server has the record of another object.
func TestASuccessorThatCannotBeSentKeepsNothing(t *testing.T) {
	h := newHook(t, "one secret of sixteen")
	w := newWorld(t, slowly)
	w.secret("hmac", "key", "one secret of sixteen")
	w.class("dns", h.URL, "hmacAuth: {secretRef: {name: hmac, namespace: ~, key: key}}")
	w.record("first", "dns", "A www example.com 192.0.2.1")
	w.until("first", "Created True RecordCreated")
	w.younger()
	w.record("second", "dns", "A www example.com 192.0.2.2")
	w.until("second", "Error False InvalidConfiguration")
	if err := w.live.Delete(w.ctx, w.object("v1", "Secret", "hmac")); err != nil {
		t.Fatal(err)
	}
	w.classSays("dns", "Unhealthy False SecretNotFound")
	w.delete("first")
	w.until("first", "Error False SecretNotFound")
	w.until("second", "Error False SecretNotFound")
	w.delete("second")
	w.until("second", "gone")
	w.secret("hmac", "key", "one secret of sixteen")
	w.until("first", "gone")
	w.holds(h)
}

func TestARefusedRecordDoesNotKeepItsClass(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL, "allowed: [{names: [example.com, '*.example.com']}]")
	w.record("yes", "dns", "A www example.com 192.0.2.1")
	w.record("no", "dns", "A www example.net 192.0.2.1")
	w.until("yes", "Created True RecordCreated")
	w.until("no", "Error False InvalidConfiguration")
	w.ends(func() {
		w.record("yes", "dns", "A www example.com 192.0.2.2") // it works for those that it has
		w.holds(h, "A www.example.com 300 192.0.2.2")
		w.delete("yes")
		w.until("yes", "gone")
	})
	w.until("no", "Error False DNSClassNotFound")

	w.class("dns", h.URL)
	w.until("no", "Created True RecordCreated")
	w.class("dns", h.URL, "allowed: [{names: [example.com, '*.example.com']}]")
	w.until("no", "Error False InvalidConfiguration")
	w.ends(func() {})
	w.holds(h) // the class has stayed for its removal
}

// TestAClassThatGoesTakesNothingNew has records come for a class that is being deleted while one of its own is there.
func TestAClassThatGoesTakesNothingNew(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, slowly)
	w.class("dns", h.URL)
	w.record("old", "dns", "A www example.com 192.0.2.1")
	w.until("old", "Created True RecordCreated")
	w.ends(func() {
		w.record("new", "dns", "A new example.com 192.0.2.1")
		w.until("new", "Error False InvalidConfiguration")
		w.message("new", "DNSClass "+w.ns+"-dns is being deleted and takes no new records",
			"name another class in dnsClassRef")
		if got := w.reviewed("new"); len(got) != 1 ||
			!strings.HasPrefix(got[0], "refused (InvalidConfiguration): DNSClass ") {
			t.Errorf("who asks for one more is told %q", got)
		}
		w.record("old", "dns", "A moved example.com 192.0.2.1") // it works for those that it has
		w.holds(h, "A moved.example.com 300 192.0.2.1")
		w.until("old", "Created True RecordCreated")
		w.delete("old")
		w.until("old", "gone")
	})
	w.until("new", "Error False DNSClassNotFound")
	w.holds(h)
	w.class("dns", h.URL)
	w.until("new", "Created True RecordCreated")
}

// reviewed returns what admission warns of who creates a DNSRecord as it is stored.
func (w *world) reviewed(name string) (warnings []string) {
	w.t.Helper()
	for _, e := range homelab.Examiners(homelab.Reviews{Live: w.live, Clock: w.config.Clock}) {
		if _, ok := e.Kind.(*v1alpha1.DNSRecord); ok {
			warnings = e.Look(w.ctx, nil, w.get(name)).Warnings
		}
	}
	return warnings
}
