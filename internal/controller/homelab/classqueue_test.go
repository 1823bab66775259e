package homelab_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// served counts the classes whose queues are served.
func served(t *testing.T) int {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	return strings.Count(stacks.String(), "homelab.(*Controller).serve(")
}

// lose takes a class away, whoever needs it.
func (w *world) lose(class string) {
	w.t.Helper()
	c := &v1alpha1.DNSClass{}
	c.Name = w.ns + "-" + class
	if err := w.live.Delete(w.ctx, c); err != nil {
		w.t.Fatal(err)
	}
	err := w.live.Patch(w.ctx, c, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":null}}`)))
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
}

func TestOnlyClassesThatExistAreServed(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	one := served(t)
	if one == 0 {
		t.Fatal("nobody delivers")
	}
	has := func(sentence string, want int) {
		t.Helper()
		w.eventually(sentence, func() string {
			if got := served(t); got != want {
				return fmt.Sprintf("%d classes are served, want %d", got, want)
			}
			return ""
		})
	}
	for i := range 20 {
		w.record(fmt.Sprint("r", i), fmt.Sprint("none", i), "A www example.com 192.0.2.1")
	}
	for i := range 20 {
		w.until(fmt.Sprint("r", i), "Error False DNSClassNotFound")
	}
	has("records of twenty classes that do not exist", one)
	w.class("none1", h.URL)
	w.until("r1", "Created True RecordCreated")
	has("a class that comes later", 2*one)
	w.lose("none1")
	w.until("r1", "Error False DNSClassNotFound")
	has("a class that is gone", one)
	w.delete("r1")
	w.message("r1", "has to be removed", "create the class again")
	w.annotate("r1", v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
	w.until("r1", "gone")
	w.delete("r2")
	w.until("r2", "gone")
	has("records that go", one)
}

// TestAClassThatComesBackWhileACallIsUnderWay has its records be sent one call at a time all the same.
func TestAClassThatComesBackWhileACallIsUnderWay(t *testing.T) {
	h := newHook(t, "")
	release := make(chan struct{})
	var under, most atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			n := under.Add(1)
			most.Store(max(most.Load(), n))
			<-release
			defer under.Add(-1)
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(slow.Close) // which waits for the call
	answer := sync.OnceFunc(func() { close(release) })
	t.Cleanup(answer)
	w := newWorld(t)
	w.class("dns", slow.URL)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.eventually("the call", func() string { return strings.Repeat("it is not there", 1-int(under.Load())) })
	w.lose("dns")
	w.until("it", "Error False DNSClassNotFound")
	w.class("dns", slow.URL, "defaultTTL: 60")
	w.classSays("dns", "Healthy True ServerHealthy")
	answer()
	w.holds(h, "A www.example.com 60 192.0.2.1")
	w.settled("it", "dns")
	if got := most.Load(); got != 1 {
		t.Errorf("there were %d calls about one record at a time", got)
	}
}
