package homelab_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// theDocumentsClass and theDocumentsRecord are the document's examples but for the URL and the name of the class, and
// its namespaces.
const theDocumentsClass = `apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata:
  name: ~-cloudflare
spec:
  # Server URL for the DNS provider webhook service
  server: "%s"
  
  # Optional: Default TTL for records using this DNSClass
  defaultTTL: 300
  
  # Optional: Connection timeout in seconds
  timeoutSeconds: 30
  
  # Optional: HMAC-based authentication for request integrity verification
  hmacAuth:
    # Option 1: Reference to Kubernetes Secret (preferred)
    secretRef:
      name: cloudflare-dns-secret
      namespace: ~
      key: hmac-secret  # Key within the secret containing the shared secret
    
    # Option 2: Direct secret value (less secure, for testing only)
    # secret: "my-shared-secret-key"
    
    # Optional: HMAC algorithm (default: SHA256)
    algorithm: "SHA256"  # or "SHA512"
`

const theDocumentsRecord = `apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata:
  name: web-app
  namespace: ~
spec:
  # Record type: A, CNAME, AAAA, TXT, MX, SRV, NS
  type: A
  
  # Domain name (e.g., "example.com")
  domain: "example.com"
  
  # Subdomain (use "@" for root domain, or "www" for www.example.com)
  subdomain: "www"
  
  # Reference to DNSClass
  dnsClassRef:
    name: ~-cloudflare
  
  # Record value(s)
  values:
    - "192.168.1.100"
    - "192.168.1.101"
  
  # Optional: TTL override (overrides DNSClass default)
  ttl: 600
  
  # Optional: Description/notes
  description: "Web application load balancer IPs"
  
  # Optional: Record-specific metadata
  metadata:
    priority: 10  # For MX/SRV
    weight: 100   # For SRV
    port: 443     # For SRV
`

// kubectl runs it with words, and fails if it does.
func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	out, err := testcluster.ForTest(w.t).RunKubectl(w.ctx, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// statusOf returns a status as it is stored.
func (w *world) statusOf(kind, name string) map[string]any {
	w.t.Helper()
	u := w.object("dns.homelab.mortenolsen.pro/v1alpha1", kind, name)
	if kind == "DNSClass" {
		u.SetNamespace("")
	}
	if err := w.live.Get(w.ctx, client.ObjectKeyFromObject(u), u); err != nil {
		w.t.Fatal(err)
	}
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	return status
}

// ready looks at the one condition of a status, which is to have the document's members and no others.
func ready(t *testing.T, status map[string]any, want string) {
	t.Helper()
	conditions, _ := status["conditions"].([]any)
	if len(conditions) != 1 {
		t.Fatalf("the conditions are %v", status["conditions"])
	}
	c, _ := conditions[0].(map[string]any)
	if got := strings.Join(slices.Sorted(maps.Keys(c)), " "); got != "lastTransitionTime message observedGeneration "+
		"reason status type" {
		t.Errorf("the condition has %s", got)
	}
	if got := fmt.Sprint(c["type"], " ", c["status"], " ", c["observedGeneration"], " ", c["reason"]); got != want {
		t.Errorf("the condition is %s, want %s", got, want)
	}
}

// times reports which members are no times of RFC 3339 in UTC and whole seconds, as the document has them.
func times(t *testing.T, of map[string]any, names ...string) {
	t.Helper()
	for _, name := range names {
		text, _ := of[name].(string)
		if _, err := time.Parse("2006-01-02T15:04:05Z", text); err != nil {
			t.Errorf("%s is %v", name, of[name])
		}
	}
}

func TestTheDocumentsExamples(t *testing.T) {
	h := newHook(t, "my-shared-secret-key")
	w := newWorld(t)
	w.secret("cloudflare-dns-secret", "hmac-secret", "my-shared-secret-key")
	w.apply(theDocumentsClass, h.URL)
	w.apply(theDocumentsRecord)
	class := w.ns + "-cloudflare"
	w.kubectl("wait", "--for=condition=Ready", "dnsclass/"+class, "--timeout=30s")
	w.kubectl("wait", "-n", w.ns, "--for=condition=Ready", "dnsrecord/web-app", "--timeout=30s")
	w.kubectl("wait", "-n", w.ns, "--for=jsonpath={.status.state}=Created", "dnsrecord/web-app", "--timeout=30s")
	const upsert = `POST /records {"record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.168.1.100","192.168.1.101"],"ttl":600},"operation":"upsert"}`
	if got := h.asked(); len(got) != 1 || got[0] != upsert {
		t.Errorf("the server is asked %q", got)
	}

	s := w.statusOf("DNSClass", class)
	ready(t, s, "Ready True 1 ServerHealthy")
	times(t, s, "lastHealthCheck")
	health, _ := s["health"].(map[string]any)
	times(t, health, "lastCheck")
	if health["status"] != "Healthy" || health["message"] != "fine" || s["observedGeneration"] != int64(1) {
		t.Errorf("the status of the class is %v", s)
	}
	s = w.statusOf("DNSRecord", "web-app")
	ready(t, s, "Ready True 1 RecordCreated")
	times(t, s, "lastSyncTime")
	if s["state"] != "Created" || s["fqdn"] != "www.example.com" || s["observedGeneration"] != int64(1) ||
		s["error"] != nil {
		t.Errorf("the status of the record is %v", s)
	}
	if got := w.get("web-app").Finalizers; !slices.Equal(got, []string{"dns.homelab.mortenolsen.pro/finalizer"}) {
		t.Errorf("its finalizers are %q", got)
	}
	for kind, want := range map[string]string{
		"dnsclass/" + class: class + " " + h.URL + " Healthy", "dnsrecord/web-app": "web-app A www.example.com " + class +
			" Created RecordCreated",
	} {
		if got := strings.Join(strings.Fields(w.kubectl("get", "-n", w.ns, "--no-headers", kind)), " "); !strings.HasPrefix(
			got, want) {
			t.Errorf("kubectl get shows %q, want %q", got, want)
		}
	}

	h.answers(status(http.StatusInternalServerError,
		`{"success":false,"error":{"code":"SERVER_ERROR","message":"Failed to connect to DNS server","details":{}}}`))
	w.apply("%s", strings.Replace(theDocumentsRecord, "ttl: 600", "ttl: 601", 1))
	w.until("web-app", "Error False ServerError")
	s = w.statusOf("DNSRecord", "web-app")
	e, _ := s["error"].(map[string]any)
	times(t, e, "timestamp")
	if text, _ := json.Marshal(e["message"]); e["code"] != "SERVER_ERROR" || !strings.Contains(string(text),
		"Failed to connect to DNS server") {
		t.Errorf("the error is %v", e)
	}
}

// watch follows the DNSRecords of the namespace.
func (w *world) watch() watch.Interface {
	w.t.Helper()
	watcher, err := client.NewWithWatch(w.rest, client.Options{Scheme: w.scheme})
	if err != nil {
		w.t.Fatal(err)
	}
	seen, err := testoperator.Watch(w.ctx, watcher, &v1alpha1.DNSRecordList{}, client.InNamespace(w.ns))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(seen.Stop)
	return seen
}

func TestAnObjectThatGoesSaysSo(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("it", "dns", "CNAME www example.com example.net")
	w.until("it", "Created True RecordCreated")
	seen := w.watch()
	w.delete("it")
	var said []string
	for e := range seen.ResultChan() {
		o, ok := e.Object.(*v1alpha1.DNSRecord)
		if !ok {
			t.Fatalf("the watch ends with %v", e.Object)
		}
		said = append(said, fmt.Sprint(o.Status.State, " ", o.Status.Conditions[0].Status, " ",
			o.Status.Conditions[0].Reason))
		if e.Type == watch.Deleted {
			break
		}
	}
	if got := slices.Compact(said); !slices.Equal(got,
		[]string{"Created True RecordCreated", "Deleted False RecordDeleted"}) {
		t.Errorf("it says %q", got)
	}
}
