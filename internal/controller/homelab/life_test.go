package homelab_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/homelab"
)

func (w *world) object(version, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	u.SetNamespace(w.ns)
	u.SetName(name)
	return u
}

func TestARestartSendsNothing(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	for i := range 10 {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprint("A r", i, " example.com 192.0.2.1"))
	}
	w.record("m1", "dns", "MX @ example.com a.example.com", "metadata: {priority: 10}")
	w.until("m1", "Created True RecordCreated")
	w.younger()
	w.record("m2", "dns", "MX @ example.com b.example.com", "metadata: {priority: 10}")
	for i := range 10 {
		w.until(fmt.Sprint("r", i), "Created True RecordCreated")
	}
	w.holdsLine(h, `MX example.com 300 a.example.com,b.example.com {"priority":10}`)
	w.until("m1", "Updated True RecordUpdated")
	w.until("m2", "Created True RecordCreated")
	w.classSays("dns", "Healthy True ServerHealthy")
	w.stop()
	h.asked()
	w.writes.take()
	w.start()
	w.record("last", "dns", "A last example.com 192.0.2.1")
	w.until("last", "Created True RecordCreated")
	if got := h.asked(); len(got) != 1 || !strings.Contains(got[0], "last") {
		t.Errorf("after a restart the server is asked %q", got)
	}
	if got := w.writes.take(); len(got) > 3 {
		t.Errorf("after a restart the API server gets %q", got)
	}
	w.stop()
	h.asked()
	w.record("r0", "dns", "A r0 example.com 192.0.2.9") // while nobody looks
	w.delete("r1")
	w.start()
	w.until("r0", "Updated True RecordUpdated")
	w.until("r1", "gone")
	if got := h.asked(); len(got) != 2 {
		t.Errorf("after a pause the server is asked %q", got)
	}
}

func TestIdleMeansNoWrites(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t, func(c *homelab.Config) { c.Audit = 50 * time.Millisecond })
	w.class("dns", h.URL)
	w.record("one", "dns", "A one example.com 192.0.2.1")
	w.record("two", "dns", "TXT two example.com x")
	w.record("wrong", "none", "A three example.com 192.0.2.1")
	w.until("one", "Created True RecordCreated")
	w.until("two", "Created True RecordCreated")
	w.until("wrong", "Error False DNSClassNotFound")
	w.classSays("dns", "Healthy True ServerHealthy")
	h.asked()
	w.writes.take()
	var looks []string
	w.eventually("sixty looks at the server", func() string {
		if looks = append(looks, h.asked()...); len(looks) < 60 {
			return fmt.Sprint("there are ", len(looks))
		}
		return ""
	})
	for _, r := range looks {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("idle, it asks %s", r)
		}
	}
	if got := w.writes.take(); len(got) > 0 {
		t.Errorf("idle, it writes %q", got)
	}
}

// holdsLine waits for a server to have a record, beside others.
func (w *world) holdsLine(h *hook, want string) {
	w.t.Helper()
	w.eventually("the server", func() string {
		if !strings.Contains("\n"+h.has()+"\n", "\n"+want+"\n") {
			return "it has " + h.has()
		}
		return ""
	})
}

func TestWhoMayHaveWhat(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL, "allowed:", "- {namespaces: [~], names: [example.com, '*.example.com']}",
		"- {namespaces: [elsewhere]}")
	w.record("yes", "dns", "A *.www example.com 192.0.2.1")
	w.record("apex", "dns", "A @ example.com 192.0.2.1")
	w.record("no", "dns", "A www example.net 192.0.2.1")
	w.until("yes", "Created True RecordCreated")
	w.until("apex", "Created True RecordCreated")
	w.until("no", "Error False InvalidConfiguration")
	w.message("no", "does not let namespace "+w.ns+" have www.example.net", "spec.allowed")
	if e := w.get("no").Status.Error; e == nil || e.Code != "NOT_ALLOWED" {
		t.Errorf("its error is %+v", e)
	}
	w.class("dns", h.URL, "allowed:", "- {names: [example.net, '*.example.net']}")
	w.until("no", "Created True RecordCreated")
	w.until("yes", "Error False InvalidConfiguration")
	w.holds(h, "A www.example.net 300 192.0.2.1")
}

func TestWhatTheSchemaRefuses(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		sentence, spec string
		fine           bool
	}{
		{"the smallest", "server: http://dns:7100", true},
		{"a path", "server: https://dns.example.com/a@b/c", true},
		{"no server", "defaultTTL: 1", false},
		{"another scheme", "server: ftp://dns", false},
		{"a user", "server: http://user:pass@dns", false},
		{"a query", "server: http://dns?x=1", false},
		{"a fragment", "server: 'http://dns#x'", false},
		{"a TTL of 0", "server: http://dns\n  defaultTTL: 0", false},
		{"both secrets", "server: http://dns\n  hmacAuth: {secret: x, secretRef: {name: a, namespace: b, key: c}}", false},
		{"no secret", "server: http://dns\n  hmacAuth: {algorithm: SHA512}", false},
		{"another algorithm", "server: http://dns\n  hmacAuth: {secret: x, algorithm: MD5}", false},
	} {
		err := w.try(
			"apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSClass\nmetadata: {name: ~-schema}\nspec:\n  %s", c.spec)
		if (err == nil) != c.fine {
			t.Errorf("a class with %s: %v", c.sentence, err)
		}
	}
	for _, c := range []struct {
		sentence, record, more string
		fine                   bool
	}{
		{"an underscore and an asterisk", "A *._x example.com. 192.0.2.1", "", true},
		{"the longest TTL", "A @ example.com 192.0.2.1", "ttl: 2147483647", true},
		{"a TTL of 0", "A @ example.com 192.0.2.1", "ttl: 0", false},
		{"a TTL that is too long", "A @ example.com 192.0.2.1", "ttl: 2147483648", false},
		{"another type", "SOA @ example.com 192.0.2.1", "", false},
		{"two aliases", "CNAME x example.com a.example b.example", "", false},
		{"mail without priority", "MX x example.com a.example", "", false},
		{"mail with one", "MX x example.com a.example", "metadata: {priority: 0}", true},
		{"a service without a port", "SRV x example.com a.example", "metadata: {priority: 0, weight: 0}", false},
		{"a priority that is too large", "MX x example.com a.example", "metadata: {priority: 65536}", false},
		{"no values", "A x example.com", "", false},
		{"a star in the middle", "A a.*.b example.com 192.0.2.1", "", false},
		{"a slash", "A a/b example.com 192.0.2.1", "", false},
		{"a letter that DNS does not have", "A ä example.com 192.0.2.1", "", false},
		{"a star in the domain", "A x *.example.com 192.0.2.1", "", false},
		{"an empty label", "A x example..com 192.0.2.1", "", false},
		{"a hyphen first in the domain", "A x -example.com 192.0.2.1", "", false},
		{"a hyphen last in the domain", "A x a.example-.com. 192.0.2.1", "", false},
		{"a hyphen first in the subdomain", "A *.-x example.com 192.0.2.1", "", false},
		{"a hyphen last in the subdomain", "A x- example.com 192.0.2.1", "", false},
		{"hyphens inside", "A x--y.a-1 xn--bcher-kva.example 192.0.2.1", "", true},
	} {
		err := w.tryRecord("schema", "none", c.record, c.more)
		if (err == nil) != c.fine {
			t.Errorf("a record with %s: %v", c.sentence, err)
		}
	}
}

// A provider is what somebody writes who uses package dnshook for a server; it has one record that it does not like.
type provider struct {
	mu      sync.Mutex
	records map[string]dnshook.Record
	batches []int
}

func (p *provider) Upsert(_ context.Context, r dnshook.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Subdomain == "bad" {
		return &dnshook.Error{Code: dnshook.CodeInvalidDomain, Message: "The provider does not like the name."}
	}
	p.records[r.ID().String()] = r
	return nil
}

func (p *provider) Delete(_ context.Context, id dnshook.ID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.records, id.String())
	return nil
}

func (p *provider) Get(_ context.Context, id dnshook.ID) (dnshook.Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.records[id.String()]; ok {
		return r, nil
	}
	return dnshook.Record{}, dnshook.ErrNotFound
}

func (p *provider) Health(context.Context) error { return nil }

// Batch does the operations one by one, and counts them.
func (p *provider) Batch(ctx context.Context, operations []dnshook.Operation) []error {
	p.mu.Lock()
	p.batches = append(p.batches, len(operations))
	p.mu.Unlock()
	errs := make([]error, len(operations))
	for i, o := range operations {
		if o.Action == dnshook.ActionDelete {
			errs[i] = p.Delete(ctx, o.Record.ID())
		} else {
			errs[i] = p.Upsert(ctx, o.Record)
		}
	}
	return errs
}

func TestManyRecordsGoOutTogether(t *testing.T) {
	p := &provider{records: map[string]dnshook.Record{}}
	handler, err := dnshook.NewHandler(dnshook.HandlerConfig{Provider: p, Now: time.Now,
		Keys: func() ([]dnshook.Key, error) { return []dnshook.Key{{Secret: []byte("a secret of sixteen")}}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := newWorld(t, func(c *homelab.Config) { c.Rand = func() float64 { return 0 } })
	w.class("dns", server.URL, "hmacAuth: {secret: a secret of sixteen}")
	w.classSays("dns", "Healthy True ServerHealthy")
	w.stop()
	const many = 150
	for i := range many {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprint("A r", i, " example.com 192.0.2.1"))
	}
	w.record("bad", "dns", "A bad example.com 192.0.2.1")
	w.start()
	for i := range many {
		w.until(fmt.Sprint("r", i), "Created True RecordCreated")
	}
	w.until("bad", "Error False ValidationFailed")
	p.mu.Lock()
	sum := 0
	for _, n := range p.batches {
		sum += n
	}
	if len(p.records) != many || sum < many/2 || len(p.batches) > many/4 {
		t.Errorf("%d records came in batches of %v", len(p.records), p.batches)
	}
	p.mu.Unlock()
	w.stop()
	if err := w.live.DeleteAllOf(w.ctx, &v1alpha1.DNSRecord{}, client.InNamespace(w.ns)); err != nil {
		t.Fatal(err)
	}
	w.writes.take()
	w.start()
	w.eventually("the server", func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.records) > 0 {
			return fmt.Sprint(len(p.records), " are left")
		}
		return ""
	})
	w.eventually("the objects", func() string {
		var left v1alpha1.DNSRecordList
		if err := w.live.List(w.ctx, &left, client.InNamespace(w.ns)); err != nil || len(left.Items) > 0 {
			return fmt.Sprint(len(left.Items), " are left; ", err)
		}
		return ""
	})
	statuses := 0
	for _, path := range w.writes.take() {
		if strings.HasPrefix(path, "PATCH ") && strings.Contains(path, "/dnsrecords/") && strings.HasSuffix(path, "/status") {
			statuses++
		}
	}
	if statuses >= many {
		t.Errorf("the statuses of %d objects that go are written %d times", many+1, statuses)
	}
}

func TestARecordIsDelivered(t *testing.T) {
	h := newHook(t, "my-shared-secret-key")
	w := newWorld(t)
	w.secret("hmac", "hmac-secret", "my-shared-secret-key")
	w.class("dns", h.URL, "hmacAuth:", "  secretRef: {name: hmac, namespace: ~, key: hmac-secret}")
	w.record("web", "dns", "A www example.com 192.168.1.100 192.168.1.101", "ttl: 600")
	w.until("web", "Created True RecordCreated")
	w.holds(h, "A www.example.com 600 192.168.1.100,192.168.1.101")
	w.record("web", "dns", "A www example.com 192.168.1.100", "ttl: 600")
	w.until("web", "Updated True RecordUpdated")
	w.holds(h, "A www.example.com 600 192.168.1.100")
	w.delete("web")
	w.until("web", "gone")
	w.holds(h)
}
