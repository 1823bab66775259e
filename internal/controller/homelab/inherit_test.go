package homelab_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/dnshook"
)

// inherited makes a DNSRecord with the finalizer and the status that the existing system gives it; "": it did not come
// to a status.
func (w *world) inherited(name, class, what, status string) {
	w.t.Helper()
	w.record(name, class, what)
	merge := func(body string) client.Patch {
		return client.RawPatch("application/merge-patch+json", []byte(body))
	}
	if err := w.live.Patch(w.ctx, w.get(name),
		merge(`{"metadata":{"finalizers":["dns.homelab.mortenolsen.pro/finalizer"]}}`)); err != nil {
		w.t.Fatal(err)
	}
	if status == "" {
		return
	}
	if err := w.live.Status().Patch(w.ctx, w.get(name),
		merge(`{"status":{`+status+`,"lastSyncTime":"2025-12-30T10:00:00Z","observedGeneration":1}}`)); err != nil {
		w.t.Fatal(err)
	}
}

// put has a server have records that this operator has not sent.
func (h *hook) put(domain string, subdomains ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range subdomains {
		r := dnshook.Record{Type: "A", Domain: domain, Subdomain: s, Values: []string{"192.0.2.1"}, TTL: 300}
		h.records[r.ID().String()] = r
	}
}

func TestObjectsOfTheExistingSystem(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.stop()
	w.class("dns", h.URL)
	h.put("example.com", "stays", "goes", "fails", "unsaid")
	updated := func(name string) string { return `"state":"Updated","fqdn":"` + name + `.example.com"` }
	w.inherited("stays", "dns", "A stays example.com 192.0.2.1", updated("stays"))
	w.inherited("goes", "dns", "A goes example.com 192.0.2.1", updated("goes"))
	// it was served before
	w.inherited("fails", "dns", "A fails example.com 192.0.2.1", `"state":"Error","fqdn":"fails.example.com"`)
	w.inherited("unsaid", "dns", "A unsaid example.com 192.0.2.1", "")
	w.inherited("done", "gone", "A done example.com 192.0.2.1", `"state":"Deleted"`) // and so its class could go
	for _, name := range []string{"goes", "fails", "unsaid", "done"} {
		w.delete(name)
	}
	w.start()
	for _, name := range []string{"goes", "fails", "unsaid", "done"} {
		w.until(name, "gone")
	}
	w.eventually("stays", func() string {
		if a := w.get("stays").Status.Applied; a == nil || a.Hash == "" {
			return "it is not taken over"
		}
		return ""
	})
	w.holds(h, "A stays.example.com 300 192.0.2.1")
	if got := strings.Join(h.asked(), "\n"); strings.Count(got, "POST") != 1 || strings.Count(got, "DELETE") != 3 {
		t.Errorf("the server is asked\n%s", got)
	}
}

func TestObjectsThatChangeBetweenTheSystems(t *testing.T) {
	before, after := newHook(t, ""), newHook(t, "")
	w := newWorld(t)
	w.stop()
	w.class("before", before.URL)
	w.class("after", after.URL)
	w.class("closed", after.URL, "allowed: [{namespaces: [elsewhere]}]")
	before.put("example.com", "values", "moves", "old")
	after.put("example.com", "hand", "moves")
	updated := func(name string) string { return `"state":"Updated","fqdn":"` + name + `.example.com"` }
	w.inherited("values", "before", "A values example.com 192.0.2.1", updated("values"))
	w.inherited("moves", "before", "A moves example.com 192.0.2.1", updated("moves"))
	w.inherited("renamed", "before", "A old example.com 192.0.2.1", updated("old"))
	w.record("values", "before", "A values example.com 192.0.2.2")
	w.record("moves", "closed", "A moves example.com 192.0.2.1")
	w.record("renamed", "after", "A hand example.com 192.0.2.1")
	w.delete("values")
	w.delete("renamed")
	w.start()
	w.until("values", "gone")
	w.until("renamed", "gone")
	w.until("moves", "Error False InvalidConfiguration")
	w.happened("FormerUnknown")
	w.delete("moves")
	w.until("moves", "gone")
	w.holds(after, "A hand.example.com 300 192.0.2.1", "A moves.example.com 300 192.0.2.1") // nobody has sent these
	w.holds(before, "A moves.example.com 300 192.0.2.1", "A old.example.com 300 192.0.2.1") // of which the event tells
}
