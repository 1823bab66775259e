package homelab_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
)

// marked makes a DNSRecord as the API server does with the chart's policy: with finalizer and annotation; "": with
// those of its spec.
func (w *world) marked(name, class, what, place string) {
	w.t.Helper()
	f := strings.Fields(what)
	if place == "" {
		place = strings.Join([]string{w.ns + "-" + class, f[0], f[2], f[1]}, " ")
	}
	o := &v1alpha1.DNSRecord{}
	o.Name, o.Namespace, o.Finalizers = name, w.ns, []string{v1alpha1.Finalizer}
	o.Annotations = map[string]string{v1alpha1.AppliedAnnotation: place}
	o.Spec = v1alpha1.DNSRecordSpec{Type: v1alpha1.RecordType(f[0]), Subdomain: f[1], Domain: f[2], Values: f[3:],
		DNSClassRef: v1alpha1.DNSClassRef{Name: w.ns + "-" + class}}
	if err := w.live.Create(w.ctx, o); err != nil {
		w.t.Fatal(err)
	}
}

// holdsBy waits for a server to have a record, by type and name.
func (w *world) holdsBy(h *hook, id string) {
	w.t.Helper()
	w.eventually("the server", func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.records[id]; !there {
			return "it does not have " + id
		}
		return ""
	})
}

func TestATermThatEndsBeforeAnyStatusLeavesNothing(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.writes.refuses(func(path string) bool {
		return strings.HasSuffix(path, "/status") && strings.Contains(path, "/dnsrecords/")
	})
	w.record("renamed", "dns", "A one example.com 192.0.2.1")
	w.record("deleted", "dns", "A two example.com 192.0.2.2")
	w.record("moved", "dns", "A three example.com 192.0.2.3")
	w.record("stays", "dns", "A four example.com 192.0.2.4")
	for _, name := range []string{"one", "two", "three", "four"} {
		w.holdsBy(h, "A "+name+".example.com")
	}
	w.stop()
	for _, name := range []string{"renamed", "deleted", "moved", "stays"} {
		if o := w.get(name); len(o.Status.Conditions) > 0 || o.Status.Applied != nil || len(o.Finalizers) != 1 {
			t.Fatalf("%s has a status, or no finalizer: %+v", name, o)
		}
	}
	other := newHook(t, "")
	w.class("other", other.URL)
	w.record("renamed", "dns", "A uno example.com 192.0.2.1")
	w.record("moved", "other", "A three example.com 192.0.2.3")
	w.delete("deleted")
	w.writes.refuses(nil)
	w.start()
	w.until("renamed", "Created True RecordCreated")
	w.until("moved", "Created True RecordCreated")
	w.until("stays", "Created True RecordCreated")
	w.until("deleted", "gone")
	w.holds(h, "A four.example.com 300 192.0.2.4", "A uno.example.com 300 192.0.2.1")
	w.holds(other, "A three.example.com 300 192.0.2.3")
}

func TestWhatADNSRecordCostsTheAPIServer(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("before", "dns", "A before example.com 192.0.2.1")
	w.until("before", "Created True RecordCreated") // the class is in use now
	w.classSays("dns", "Healthy True ServerHealthy")
	for _, c := range []struct {
		sentence string
		create   func(name, what string)
		writes   string
	}{
		{"one that nobody has marked", func(name, what string) { w.record(name, "dns", what) }, "record, record/status"},
		{"one that the API server has marked", func(name, what string) { w.marked(name, "dns", what, "") }, "record/status"},
		{"one with the mark of another object", func(name, what string) {
			w.marked(name, "dns", what, w.ns+"-dns A example.com before")
		}, "record, record/status"},
		{"one with a mark that says nothing", func(name, what string) { w.marked(name, "dns", what, "A") },
			"record, record/status"},
	} {
		w.writes.take()
		name := fmt.Sprint("r", len(c.sentence))
		c.create(name, "A "+name+" example.com 192.0.2.1")
		w.until(name, "Created True RecordCreated")
		var got []string
		for _, path := range w.writes.take() {
			if _, rest, ok := strings.Cut(path, "/dnsrecords/"+name); ok {
				got = append(got, "record"+rest)
			}
		}
		if strings.Join(got, ", ") != c.writes {
			t.Errorf("%s costs %q", c.sentence, got)
		}
		w.delete(name)
		w.until(name, "gone")
	}
	w.holds(h, "A before.example.com 300 192.0.2.1")
}

func TestAMarkGivesNobodyAnything(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL, "allowed: [{names: [example.com, '*.example.com']}]")
	w.record("owner", "dns", "A owned example.com 192.0.2.1")
	w.until("owner", "Created True RecordCreated")
	by := func(id dnshook.ID) {
		h.records[id.String()] = dnshook.Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain, Values: []string{
			"192.0.2.9"}, TTL: 60}
	}
	h.mu.Lock()
	by(dnshook.ID{Type: "A", Domain: "example.net", Subdomain: "www"})
	by(dnshook.ID{Type: "A", Domain: "example.com", Subdomain: "hand"})
	h.mu.Unlock()
	w.younger()
	w.marked("refused", "dns", "A www example.net 192.0.2.2", "") // nobody has sent that
	w.until("refused", "Error False InvalidConfiguration")
	w.delete("refused")
	w.until("refused", "gone")
	w.marked("early", "none", "A hand example.com 192.0.2.2", "")
	w.until("early", "Error False DNSClassNotFound")
	w.stop()
	w.marked("forged", "dns", "A mine example.com 192.0.2.2", w.ns+"-dns A example.net www")    // not for this namespace
	w.marked("stolen", "dns", "A mine2 example.com 192.0.2.2", w.ns+"-dns A example.com owned") // somebody has it
	w.marked("nothing", "never", "A mine3 example.com 192.0.2.2", "")
	w.delete("nothing")
	w.start()
	w.until("forged", "Created True RecordCreated")
	w.until("stolen", "Created True RecordCreated")
	w.until("nothing", "gone") // for a class that there is not, nobody has sent it
	w.delete("forged")
	w.delete("stolen")
	w.delete("early")
	for _, name := range []string{"forged", "stolen", "early"} {
		w.until(name, "gone")
	}
	w.holds(h, "A hand.example.com 60 192.0.2.9", "A owned.example.com 300 192.0.2.1", "A www.example.net 60 192.0.2.9")
}

func TestANewSpecBeforeTheFirstStatus(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.writes.refuses(func(path string) bool { return strings.HasSuffix(path, "/dnsrecords/it/status") })
	w.record("it", "dns", "A one example.com 192.0.2.1")
	w.holdsBy(h, "A one.example.com")
	w.record("it", "dns", "A two example.com 192.0.2.1")
	w.eventually("the change to be seen", func() string {
		var o v1alpha1.DNSRecord
		if err := w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: "it"}, &o); err != nil || o.Generation < 2 {
			return fmt.Sprint("it is at generation ", o.Generation, err)
		}
		return ""
	})
	w.writes.refuses(nil)
	w.until("it", "Created True RecordCreated")
	w.holds(h, "A two.example.com 300 192.0.2.1")
}

// TestANameThatIsNotAllowedAnyMore has a class be narrowed after a record was sent, and before the object had a status
// or the next term began.
func TestANameThatIsNotAllowedAnyMore(t *testing.T) {
	for _, c := range []struct {
		sentence string
		annotate bool // the mark says where it is, else the finalizer is the existing system's
		delete   bool
		says     string
	}{
		{"of an object that is there", true, false, "Error False InvalidConfiguration"},
		{"of one that goes", true, true, "gone"},
		{"of one of the existing system", false, false, "Error False InvalidConfiguration"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			w := newWorld(t)
			w.stop()
			if c.annotate {
				w.marked("it", "dns", "A www example.com 192.0.2.1", "")
			} else {
				w.inherited("it", "dns", "A www example.com 192.0.2.1", "")
			}
			h.put("example.com", "www")
			w.class("dns", h.URL, "allowed: [{names: [example.net]}]")
			if c.delete {
				w.delete("it")
			}
			w.start()
			w.until("it", c.says)
			if e := w.happened("FormerNotAllowed"); !strings.Contains(e, "www.example.com A") ||
				!strings.Contains(e, w.ns+"-dns") || !strings.Contains(e, "remove it there") {
				t.Errorf("the event says %s", e)
			}
			w.holds(h, "A www.example.com 300 192.0.2.1")
			if c.delete {
				return
			}
			w.class("dns", h.URL) // it was narrowed by mistake
			w.until("it", "Created True RecordCreated")
			w.delete("it")
			w.until("it", "gone")
			w.holds(h)
		})
	}
}
