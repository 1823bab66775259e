package bindy

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	os.Exit(testcluster.MainWith(m, testcluster.Options{
		ControllerManager: true, CRDs: []string{"../../../config/crd"},
		// Some clusters ask for the right to set finalizers before an owner may block its deletion.
		APIServerFlags: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	}))
}

// A stage is a real control plane in which nobody else has objects of the dialect, with namespaces of this test.
type stage struct {
	*testing.T
	ctx    context.Context
	config *rest.Config
	scheme *runtime.Scheme
	live   client.Client // a person's: asks the API server
	word   string        // in all names, so that no other test has them
	writes *writes       // of the operator
	events *events.FakeRecorder
	stop   func() // ends the operator
	dns    *DNS   // nil: servers get no zones
	known  controller.Inspection
	real   bool         // the operator's clock is the machine's
	ahead  atomic.Int64 // seconds by which a real clock of the operator is
	hours  atomic.Int64 // since the operator's clock began: it moves whenever it is looked at
}

var stages atomic.Int32

func newStage(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s := &stage{T: t, ctx: ctx, scheme: runtime.NewScheme(), word: fmt.Sprintf("s%d", stages.Add(1)), writes: &writes{},
		stop: func() {}}
	var err error
	if s.config, err = clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	s.config.QPS = -1
	s.config.WarningHandler = rest.NoWarnings{}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(s.scheme); err != nil {
			t.Fatal(err)
		}
	}
	if s.live, err = client.New(s.config, client.Options{Scheme: s.scheme}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(); s.clear() })
	return s
}

// namespace makes a namespace of this test and returns its name.
func (s *stage) namespace(name string) string {
	s.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.word + "-" + name}}
	if err := s.live.Create(s.ctx, ns); err != nil {
		s.Fatal(err)
	}
	return ns.Name
}

// start runs the reconcilers that pick chooses, as one term of leadership of an operator.
func (s *stage) start(pick func(b *Controller) []part) *Controller {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next, s.writes} })
	objects, err := cache.New(config, CacheOptions(s.scheme))
	if err != nil {
		s.Fatal(err)
	}
	cached, err := client.New(config, client.Options{Scheme: s.scheme, Cache: &client.CacheOptions{Reader: objects}})
	if err != nil {
		s.Fatal(err)
	}
	live, err := client.New(config, client.Options{Scheme: s.scheme})
	if err != nil {
		s.Fatal(err)
	}
	s.events = events.NewFakeRecorder(1000)
	clock := func() time.Time { return time.Unix(0, 0).Add(time.Duration(s.hours.Add(1)) * time.Hour) }
	var token func(context.Context, string) (string, error)
	if s.real {
		clock = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load()) * time.Second) }
		token = shows(sidecarToken)
	}
	if s.dns != nil { // an engine of its own for each operator
		s.dns.Engine = controller.NewEngine(backend.Config{Clock: s.dns.Clock, Rand: rand.Float64, Audit: time.Hour})
	}
	b := New(Config{
		DNS: s.dns, Token: token,
		Settings: dialect.Settings{DefaultNamespace: s.word + "-default", Namespace: "zonefold-system",
			ServiceAccount: "zonefold-operator", BIND9Image: "zonefold/bind9", BindcarImage: "zonefold/bindcar:test"},
		Client: cached, Live: live, Cache: objects, Events: s.events,
		Log:     slog.New(slog.NewTextHandler(tested{s.T}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Metrics: controller.NewMetrics(), Clock: clock, Inspection: &s.known,
	})
	ctx, cancel := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	parts.Go(func() { _ = objects.Start(ctx) })
	if !objects.WaitForCacheSync(ctx) {
		s.Fatal("the caches do not fill")
	}
	parts.Go(func() {
		if err := b.run(ctx, pick(b)); err != nil {
			s.Error(err)
		}
	})
	s.stop = func() { cancel(); parts.Wait() }
	return b
}

// hierarchy are the reconcilers that make no pods. Instances, of which nothing runs then, go when they are deleted.
func hierarchy(b *Controller) []part {
	return []part{b.providers(), b.clusters(), {kind: &v1beta1.Bind9Instance{},
		reconcile: func(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
			var i v1beta1.Bind9Instance
			if err := b.Client.Get(ctx, key, &i); err != nil || i.DeletionTimestamp.IsZero() {
				return 0, client.IgnoreNotFound(err)
			}
			return 0, b.withoutFinalizer(ctx, &i, v1beta1.InstanceFinalizer)
		}}}
}

// tested logs where the test's log is.
type tested struct{ *testing.T }

func (w tested) Write(p []byte) (int, error) {
	w.Logf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// clear removes what this test made, whatever holds it.
func (s *stage) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), time.Minute)
	defer cancel()
	for _, list := range []client.ObjectList{&v1beta1.ClusterBind9ProviderList{}, &v1beta1.Bind9ClusterList{},
		&v1beta1.Bind9InstanceList{}, &v1beta1.DNSZoneList{}} {
		if err := s.live.List(ctx, list); err != nil {
			s.Log(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			_ = s.live.Delete(ctx, object)
			return client.IgnoreNotFound(s.live.Patch(ctx, object,
				client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		})
	}
}

// apply is what a person does with kubectl.
func (s *stage) apply(manifest string, args ...any) {
	s.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, manifest, args...), &object.Object); err != nil {
		s.Fatal(err)
	}
	if err := s.live.Apply(s.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"),
		client.ForceOwnership); err != nil {
		s.Fatal(err)
	}
}

// patch is what a person does with kubectl patch.
func (s *stage) patch(object client.Object, body string) {
	s.Helper()
	if err := s.live.Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(body)),
		client.FieldOwner("person")); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) remove(object client.Object, opts ...client.DeleteOption) {
	s.Helper()
	if err := s.live.Delete(s.ctx, object, opts...); err != nil {
		s.Fatal(err)
	}
}

// get reads an object by what its metadata say.
func (s *stage) get(object client.Object) bool {
	s.Helper()
	err := s.live.Get(s.ctx, client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// eventually waits until check has nothing to complain of.
func (s *stage) eventually(what string, check func() string) {
	s.Helper()
	testcluster.Eventually(s.ctx, s, what, check)
}

// quiet waits until the operator has written nothing for a while, and returns how much it has written by then.
func (s *stage) quiet() int64 {
	s.Helper()
	last, since := s.writes.total(), time.Now()
	for time.Since(since) < 500*time.Millisecond {
		select {
		case <-s.ctx.Done():
			s.Fatalf("the operator does not come to rest: %s", s.writes)
		case <-time.After(20 * time.Millisecond):
		}
		if now := s.writes.total(); now != last {
			last, since = now, time.Now()
		}
	}
	return last
}

// ready says what is wrong with the condition Ready of an object: it is not of this status and reason, or does not hold
// a text.
func ready(conditions []metav1.Condition, status metav1.ConditionStatus, reason string, texts ...string) string {
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	if c == nil {
		return "there is no condition Ready"
	}
	if c.Status != status || c.Reason != reason {
		return fmt.Sprintf("Ready is %s, %s: %s", c.Status, c.Reason, c.Message)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return fmt.Sprintf("the message %q does not hold %q", c.Message, text)
		}
	}
	return ""
}

// writes counts the requests of the operator that are no reading.
type writes struct {
	mu sync.Mutex
	by map[string]int64
}

func (w *writes) add(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string]int64{}
	}
	w.by[what]++
}

func (w *writes) total() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.by {
		n += v
	}
	return n
}

func (w *writes) count(what string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[what]
}

func (w *writes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.by)
}

func (w *writes) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by = nil
}

type counted struct {
	http.RoundTripper
	writes *writes
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		parts := strings.Split(r.URL.Path, "/")
		what := r.Method
		for i, p := range parts {
			if p == "v1" || p == "v1beta1" {
				rest := parts[i+1:]
				if len(rest) > 2 && rest[0] == "namespaces" {
					rest = rest[2:]
				}
				what += " " + rest[0]
				if len(rest) > 2 {
					what += "/" + rest[2]
				}
			}
		}
		c.writes.add(what)
	}
	return c.RoundTripper.RoundTrip(r)
}

// clean is a context for what is removed after a test.
func (s *stage) clean() context.Context { return context.WithoutCancel(s.ctx) }

func (s *stage) patchStatus(object client.Object, body string) {
	s.Helper()
	if err := s.live.Status().Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner(
		"person")); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) isGone(object client.Object) string {
	s.Helper()
	if s.get(object) && object.GetUID() != "" {
		return fmt.Sprintf("%s is still there, with the finalizers %v", object.GetName(), object.GetFinalizers())
	}
	return ""
}

// loosen takes the rules out of a definition, as it would be if an older schema had let objects in, until the test
// ends.
func (s *stage) loosen(plural string) {
	s.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinition"})
	crd.SetName(plural + "." + v1beta1.GroupVersion.Group)
	if !s.get(crd) {
		s.Fatal("there is no " + crd.GetName())
	}
	strict := crd.DeepCopy()
	dropRules(crd.Object)
	if err := s.live.Update(s.ctx, crd); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		strict.SetResourceVersion("")
		strict.SetManagedFields(nil)
		ctx := context.WithoutCancel(s.ctx)
		now := strict.DeepCopy()
		if err := s.live.Get(ctx, client.ObjectKeyFromObject(now), now); err != nil {
			s.Error(err)
		}
		strict.SetResourceVersion(now.GetResourceVersion())
		if err := s.live.Update(ctx, strict); err != nil {
			s.Error(err)
		}
	})
}

func dropRules(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, e := range v {
			dropRules(e)
		}
	case []any:
		for _, e := range v {
			dropRules(e)
		}
	}
}

// patchAnyway is patch for what the rules forbid: after loosen, when the API server has taken notice.
func (s *stage) patchAnyway(object client.Object, body string) {
	s.Helper()
	s.eventually("patching "+object.GetName(), func() string {
		if err := s.live.Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(body)),
			client.FieldOwner("person")); err != nil {
			return err.Error()
		}
		return ""
	})
}

// told are the events that the operator has recorded since this was called last.
func (s *stage) told() (out []string) {
	for {
		select {
		case e := <-s.events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}
