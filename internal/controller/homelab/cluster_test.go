package homelab_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	os.Exit(testcluster.Main(m, "../../../config/crd"))
}

// A world is a namespace of a real API server, with the dialect at work on the whole of that server. Its DNSClasses
// have names of its own: ~ stands for the namespace.
type world struct {
	t       *testing.T
	ctx     context.Context
	live    client.Client
	rest    *rest.Config
	scheme  *runtime.Scheme
	ns      string
	config  homelab.Config
	events  *events.FakeRecorder
	stop    func()
	writes  *counter
	numbers *homelab.Numbers // of this term
}

func newWorld(t *testing.T, change ...func(*homelab.Config)) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, scheme: runtime.NewScheme(), writes: &counter{}, stop: func() {}}
	var err error
	if w.rest, err = clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	w.rest.QPS = -1
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(w.scheme); err != nil {
			t.Fatal(err)
		}
	}
	if w.live, err = client.New(w.rest, client.Options{Scheme: w.scheme}); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{}
	ns.GenerateName = "test-"
	if err := w.live.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	w.ns = ns.Name
	w.config = homelab.Config{
		Clock: clock.RealClock{}, Rand: rand.Float64, Audit: 0, HealthInterval: 10 * time.Minute,
		Retry: servers.Retry{BaseDelay: 5 * time.Second, MaxDelay: time.Minute, MaxAttempts: 5, Slow: 10 * time.Minute},
	}
	for _, f := range change {
		f(&w.config)
	}
	w.start()
	t.Cleanup(func() { w.stop(); w.clean() })
	return w
}

// start begins a term of leadership, with a cache of its own.
func (w *world) start() {
	w.t.Helper()
	config := rest.CopyConfig(w.rest)
	config.Wrap(w.writes.wrap)
	o := homelab.CacheOptions(w.scheme)
	objects, err := cache.New(config, o)
	if err != nil {
		w.t.Fatal(err)
	}
	cached, err := client.New(config, client.Options{Scheme: w.scheme, Cache: &client.CacheOptions{Reader: objects}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.events = events.NewFakeRecorder(1000)
	c := w.config
	if c.Live == nil {
		c.Live = w.live
	}
	c.Client, c.Cache, c.Events, c.Log = cached, objects, w.events, slog.New(slog.DiscardHandler)
	c.Metrics, c.Numbers = controller.NewMetrics(), homelab.NewNumbers()
	w.numbers = c.Numbers
	k := homelab.New(c)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	var parts sync.WaitGroup
	parts.Go(func() { _ = objects.Start(ctx) })
	parts.Go(func() { _ = k.Run(ctx) })
	w.stop = sync.OnceFunc(func() { cancel(); parts.Wait() })
}

// clean takes the objects away that belong to no namespace, and what would hold them.
func (w *world) clean() {
	ctx := context.WithoutCancel(w.ctx)
	var records v1alpha1.DNSRecordList
	_ = w.live.List(ctx, &records, client.InNamespace(w.ns))
	for i := range records.Items {
		_ = w.live.Patch(ctx, &records.Items[i], client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null}}`)))
		_ = w.live.Delete(ctx, &records.Items[i])
	}
	var classes v1alpha1.DNSClassList
	_ = w.live.List(ctx, &classes)
	for i := range classes.Items {
		if c := &classes.Items[i]; strings.HasPrefix(c.Name, w.ns) {
			_ = w.live.Patch(ctx, c, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
			_ = w.live.Delete(ctx, c)
		}
	}
}

// apply creates or changes objects. In the text ~ is the namespace.
func (w *world) apply(format string, args ...any) {
	w.t.Helper()
	if err := w.try(format, args...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) try(format string, args ...any) error {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "~", w.ns)
	for part := range strings.SplitSeq(text, "\n---\n") {
		body, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(part, "\t", "  ")))
		if err != nil {
			return err
		}
		u, err := decode(body)
		if err != nil {
			return err
		}
		if u.GetNamespace() == "" && u.GetKind() != "DNSClass" {
			u.SetNamespace(w.ns)
		}
		if err := w.live.Patch(w.ctx, u, client.Apply, client.FieldOwner("test"), client.ForceOwnership); err != nil { //nolint:staticcheck // unstructured
			return err
		}
	}
	return nil
}

// class makes a DNSClass for a hook; more are lines of its spec.
func (w *world) class(name, server string, more ...string) {
	w.t.Helper()
	w.apply(
		"apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSClass\nmetadata: {name: ~-%s}\nspec:\n  server: %s\n%s",
		name, server, lines(more))
}

// record makes a DNSRecord: name, class, "TYPE subdomain domain value value", and more lines of its spec.
func (w *world) record(name, class, what string, more ...string) {
	w.t.Helper()
	if err := w.tryRecord(name, class, what, more...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tryRecord(name, class, what string, more ...string) error {
	f := strings.Fields(what)
	var values []string
	for _, v := range f[3:] {
		values = append(values, fmt.Sprintf("%q", v))
	}
	return w.try("apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: %q}\nspec:\n  "+
		"dnsClassRef: {name: ~-%s}\n  type: %s\n  subdomain: %q\n  domain: %s\n  values: [%s]\n%s",
		name, class, f[0], f[1], f[2], strings.Join(values, ", "), lines(more))
}

func lines(more []string) string {
	var out strings.Builder
	for _, l := range more {
		out.WriteString("  " + l + "\n")
	}
	return out.String()
}

func (w *world) secret(name, key, value string) {
	w.t.Helper()
	w.apply("apiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData: {%s: %q}", name, key, value)
}

func (w *world) delete(name string) {
	w.t.Helper()
	o := &v1alpha1.DNSRecord{}
	o.Name, o.Namespace = name, w.ns
	if err := w.live.Delete(w.ctx, o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) *v1alpha1.DNSRecord {
	w.t.Helper()
	o := &v1alpha1.DNSRecord{}
	if err := w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: name}, o); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// says returns "STATE STATUS REASON" of a record, and "gone" of one that there is not.
func (w *world) says(name string) string {
	o := w.get(name)
	if o == nil {
		return "gone"
	}
	c := meta.FindStatusCondition(o.Status.Conditions, controller.ConditionReady)
	if c == nil || o.Status.ObservedGeneration != o.Generation || c.ObservedGeneration != o.Generation {
		return "nothing yet"
	}
	return fmt.Sprint(o.Status.State, " ", c.Status, " ", c.Reason)
}

// until waits for a record to say something.
func (w *world) until(name, want string) {
	w.t.Helper()
	w.eventually(name, func() string {
		if got := w.says(name); got != want {
			return fmt.Sprintf("it says %q, want %q\n%+v", got, want, w.get(name))
		}
		return ""
	})
}

// holds waits for a server to have exactly these records.
func (w *world) holds(h *hook, want ...string) {
	w.t.Helper()
	w.eventually("the server", func() string {
		if got := h.has(); got != strings.Join(want, "\n") {
			return fmt.Sprintf("it has\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
		return ""
	})
}

// eventually waits until check has nothing to complain of.
func (w *world) eventually(what string, check func() string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	testcluster.Eventually(ctx, w.t, what, check)
}

// A counter counts what the dialect writes to the API server.
type counter struct {
	mu     sync.Mutex
	paths  []string
	refuse func(path string) bool // writes that do not reach the API server
}

// refuses has writes break off, until it is called with nil.
func (c *counter) refuses(f func(path string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = f
}

type counted struct {
	http.RoundTripper
	c *counter
}

func (c *counter) wrap(next http.RoundTripper) http.RoundTripper { return counted{next, c} }

func (t counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		t.c.mu.Lock()
		refused := t.c.refuse != nil && t.c.refuse(r.URL.Path)
		if !refused {
			t.c.paths = append(t.c.paths, r.Method+" "+r.URL.Path)
		}
		t.c.mu.Unlock()
		if refused {
			return nil, errors.New("the connection breaks")
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// take returns the writes since it was called last.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.paths = nil }()
	return c.paths
}

func decode(body []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, json.Unmarshal(body, &u.Object)
}
