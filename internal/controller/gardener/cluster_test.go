package gardener_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/gardener"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	os.Exit(testcluster.Main(m, "../../../config/crd", "testdata/clusters.yaml"))
}

// A world is a namespace of a real API server, with the dialect at work there.
type world struct {
	t      *testing.T
	ctx    context.Context
	live   client.Client
	rest   *rest.Config
	scheme *runtime.Scheme
	ns     string
	config gardener.Config
	events *events.FakeRecorder
	tracer trace.Tracer
	stop   func()

	mu     sync.Mutex
	writes []string // to the API server, by the operator
	asked  []string // of accounts
	fail   func(question string) error
	refuse func(*http.Request) bool // writes to the API server that fail
}

func newWorld(t *testing.T, change ...func(*gardener.Config)) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, scheme: runtime.NewScheme(), stop: func() {}}
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
	w.config = gardener.Config{
		Clock: time.Now, Rand: rand.Float64, Seed: true,
		Filter: gardener.Filter{Types: []string{"powerdns", "rfc2136"}, Classes: []v1alpha1.Class{v1alpha1.ClassShoot}},
	}
	for _, f := range change {
		f(&w.config)
	}
	w.start()
	t.Cleanup(func() { w.stop(); w.clean() })
	return w
}

// start begins a term of leadership, with a cache, an engine and accounts of its own.
func (w *world) start() {
	w.t.Helper()
	config := rest.CopyConfig(w.rest)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counted{next, w} })
	o := gardener.CacheOptions(w.scheme)
	// other tests' are theirs
	o.ByObject = map[client.Object]cache.ByObject{&v1alpha1.DNSRecord{}: {Namespaces: map[string]cache.Config{w.ns: {}}}}
	objects, err := cache.New(config, o)
	if err != nil {
		w.t.Fatal(err)
	}
	cached, err := client.New(config, client.Options{Scheme: w.scheme, Cache: &client.CacheOptions{Reader: objects}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.events = events.NewFakeRecorder(10000)
	c := w.config
	numbers := controller.NewMetrics()
	c.Client, c.Cache, c.Events, c.Log, c.Metrics = cached, objects, w.events, slog.New(slog.DiscardHandler), numbers
	if c.Live == nil {
		c.Live = w.live
	}
	c.Engine = delivery.NewEngine(engine.Config{Clock: backend.SystemClock{}, Rand: rand.Float64, Metrics: numbers})
	if pool := all.NewPool(time.Now, nil); c.Open == nil {
		c.Open = func(r gardener.Request) (backend.Account, error) {
			account, err := pool.Open(all.ProviderConfig{Type: r.Type, Data: r.Data, Region: r.Region, Options: r.Options})
			if err != nil {
				return nil, err
			}
			return watched{account, w}, nil
		}
	}
	c.Engine.Tracer = w.tracer
	k := gardener.New(c)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	var parts sync.WaitGroup
	parts.Go(func() { _ = objects.Start(ctx) })
	parts.Go(func() {
		if err := k.Run(ctx); err != nil && ctx.Err() == nil {
			w.t.Errorf("the dialect has ended: %v", err)
		}
	})
	w.stop = sync.OnceFunc(func() {
		cancel()
		parts.Wait()
		ending, over := context.WithTimeout(context.WithoutCancel(w.ctx), 10*time.Second)
		defer over()
		c.Engine.Stop(ending)
	})
}

// counted notes what is written to the API server.
type counted struct {
	http.RoundTripper
	w *world
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		c.w.mu.Lock()
		c.w.writes = append(c.w.writes, r.Method+" "+r.URL.Path)
		refused := c.w.refuse != nil && c.w.refuse(r)
		c.w.mu.Unlock()
		if refused {
			return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody, Request: r}, nil
		}
	}
	return c.RoundTripper.RoundTrip(r)
}

// watched is an account that notes what it is asked, and fails on demand.
type watched struct {
	backend.Account
	w *world
}

func (a watched) note(question string) error {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.asked = append(a.w.asked, question)
	if a.w.fail != nil {
		return a.w.fail(question)
	}
	return nil
}

func (a watched) FindZone(ctx context.Context, name dnsname.Name) (backend.HostedZone, error) {
	if err := a.note("find " + name.String()); err != nil {
		return backend.HostedZone{}, err
	}
	return backend.FindZone(ctx, a.Account, name)
}

func (a watched) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	if err := a.note("zone " + id); err != nil {
		return backend.HostedZone{}, err
	}
	return a.Account.HostedZone(ctx, id)
}

func (a watched) Refresh() { a.Account.(backend.Refresher).Refresh() }

// took returns what was written and asked since it was called last.
func (w *world) took() (writes, asked []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.writes, w.asked = nil, nil }()
	return w.writes, w.asked
}

// clean takes away what would hold the namespace.
func (w *world) clean() {
	ctx := context.WithoutCancel(w.ctx)
	var records v1alpha1.DNSRecordList
	_ = w.live.List(ctx, &records, client.InNamespace(w.ns))
	for i := range records.Items {
		_ = w.live.Patch(ctx, &records.Items[i], client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`)))
		_ = w.live.Delete(ctx, &records.Items[i])
	}
}

func (w *world) apply(format string, args ...any) {
	w.t.Helper()
	body, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(fmt.Sprintf(format, args...), "\t", "  ")))
	if err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &u.Object); err != nil {
		w.t.Fatal(err)
	}
	if u.GetNamespace() == "" && u.GetKind() != "Cluster" && u.GetKind() != "Namespace" {
		u.SetNamespace(w.ns)
	}
	if err := w.live.Patch(w.ctx, u, client.Apply, client.FieldOwner("test"), client.ForceOwnership); err != nil { //nolint:staticcheck // unstructured
		w.t.Fatal(err)
	}
}

// secret makes a Secret of pairs.
func (w *world) secret(name string, data map[string]string) {
	w.t.Helper()
	s := &corev1.Secret{StringData: data}
	s.Name, s.Namespace = name, w.ns
	_ = w.live.Delete(w.ctx, s.DeepCopy())
	if err := w.live.Create(w.ctx, s); err != nil {
		w.t.Fatal(err)
	}
}

// record makes a DNSRecord, or changes it: "type secret RECORDTYPE name value value", and more lines of its spec.
func (w *world) record(name, what string, more ...string) {
	w.t.Helper()
	f := strings.Fields(what)
	var values []string
	for _, v := range f[4:] {
		values = append(values, fmt.Sprintf("%q", v))
	}
	w.apply("apiVersion: extensions.gardener.cloud/v1alpha1\nkind: DNSRecord\nmetadata: {name: %s}\nspec:\n  type: %s\n "+
		" secretRef: {name: %s}\n  recordType: %s\n  name: %q\n  values: [%s]\n%s",
		name, f[0], f[1], f[2], f[3], strings.Join(values, ", "), lines(more))
}

func lines(more []string) string {
	var out strings.Builder
	for _, l := range more {
		out.WriteString("  " + l + "\n")
	}
	return out.String()
}

// ask annotates a DNSRecord as gardenlet does.
func (w *world) ask(name, operation string) {
	w.t.Helper()
	w.patch(name, fmt.Sprintf(`{"metadata":{"annotations":{"gardener.cloud/operation":%q,"gardener.cloud/timestamp":%q}}}`,
		operation, time.Now().UTC().Format(time.RFC3339Nano)))
}

func (w *world) patch(name, body string) {
	w.t.Helper()
	o := &v1alpha1.DNSRecord{}
	o.Name, o.Namespace = name, w.ns
	if err := w.live.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		w.t.Fatal(err)
	}
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

// says returns "Type State code" of a record, "New" of one without an operation, and "gone" of one that there is not.
// It is "asked" while what was asked for has not begun.
func (w *world) says(name string) string {
	o := w.get(name)
	switch {
	case o == nil:
		return "gone"
	case o.Status.LastOperation == nil:
		return "New"
	case o.Annotations[v1alpha1.OperationAnnotation] != "" &&
		o.Annotations[v1alpha1.OperationAnnotation] != v1alpha1.OperationWaitForState:
		return "asked"
	}
	out := fmt.Sprint(o.Status.LastOperation.Type, " ", o.Status.LastOperation.State)
	if e := o.Status.LastError; e != nil {
		out += fmt.Sprint(" ", e.Codes)
	}
	return out
}

// until waits for a record to say something.
func (w *world) until(name, want string) {
	w.t.Helper()
	w.eventually(name, func() string {
		if got := w.says(name); got != want {
			text := ""
			if o := w.get(name); o != nil {
				text = fmt.Sprintf("%v %+v %+v %+v", o.Annotations, o.Status.LastOperation, o.Status.LastError, o.Spec)
			}
			return fmt.Sprintf("it says %q, want %q: %s", got, want, text)
		}
		return ""
	})
}

// eventually waits until check has nothing to complain of.
func (w *world) eventually(what string, check func() string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	testcluster.Eventually(ctx, w.t, what, check)
}

// with returns data with other values.
func with(data map[string]string, pairs ...string) map[string]string {
	out := maps.Clone(data)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// status changes the status of a record, as nobody should.
func (w *world) status(name, body string) {
	w.t.Helper()
	o := &v1alpha1.DNSRecord{}
	o.Name, o.Namespace = name, w.ns
	if err := w.live.Status().Patch(w.ctx, o, client.RawPatch(types.MergePatchType,
		[]byte(`{"status":`+body+`}`))); err != nil {
		w.t.Fatal(err)
	}
}
