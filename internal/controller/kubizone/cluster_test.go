package kubizone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	os.Exit(testcluster.Main(m, "../../../config/crd"))
}

// A cluster is a namespace of a real API server with one Zone, example.org.
type cluster struct {
	t      *testing.T
	ctx    context.Context
	config *rest.Config
	scheme *runtime.Scheme
	live   client.WithWatch // asks the API server
	id     zone.ID
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	t.Cleanup(cancel)
	c := &cluster{t: t, ctx: ctx, scheme: runtime.NewScheme()}
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	c.config.QPS = -1
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme,
		zonefold.AddToScheme} {
		if err := add(c.scheme); err != nil {
			t.Fatal(err)
		}
	}
	if c.live, err = client.NewWithWatch(c.config, client.Options{Scheme: c.scheme}); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{}
	ns.GenerateName = "test-"
	if err := c.live.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	c.id = dialect.ZoneID(ns.Name, "org")
	body :=
		`{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"org"},"spec":{"domainName":"example.org."}}`
	org := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "org"}}
	if err := c.live.Patch(ctx, org, client.RawPatch(types.ApplyPatchType, []byte(body)),
		client.FieldOwner("test")); err != nil {
		t.Fatal(err)
	}
	return c
}

// A leader is the dialect in one term of leadership, with a cache of its own, which can
// be made to lag behind.
type leader struct {
	*Controller
	watch *gate
}

func (c *cluster) leader() *leader {
	c.t.Helper()
	watch := &gate{}
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return watched{next, watch} })
	objects, err := cache.New(config, cache.Options{Scheme: c.scheme, DefaultTransform: Compact()})
	if err != nil {
		c.t.Fatal(err)
	}
	cached, err := client.New(c.config, client.Options{Scheme: c.scheme, Cache: &client.CacheOptions{Reader: objects}})
	if err != nil {
		c.t.Fatal(err)
	}
	k := New(Config{
		Client: cached, Live: c.live, Cache: objects, Events: events.NewFakeRecorder(100), Log: slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(), Clock: backend.SystemClock{}, Rand: rand.Float64,
	})
	ctx, cancel := context.WithCancel(c.ctx)
	var parts sync.WaitGroup
	parts.Go(func() { _ = objects.Start(ctx) })
	c.t.Cleanup(func() { watch.open(); cancel(); parts.Wait() })
	synced, err := gatherer{k}.gather(ctx)
	if err != nil || !toolscache.WaitForCacheSync(ctx.Done(), synced...) {
		c.t.Fatalf("the caches do not fill: %v", err)
	}
	return &leader{k, watch}
}

// catchUp waits until the leader's cache has what is in the cluster.
func (l *leader) catchUp(ctx context.Context, c *cluster) error {
	return controller.CatchUp{Live: c.live, Cached: l.Client, Cache: l.Cache, Log: l.Log}.Wait(ctx, Objects()...)
}

// eventually waits until check has nothing to complain of.
func (c *cluster) eventually(what string, check func() string) {
	c.t.Helper()
	testcluster.Eventually(c.ctx, c.t, what, check)
}

// publishes has a leader write a set down before it is sent, as the engine does.
func (l *leader) publishes(c *cluster, address string) {
	c.t.Helper()
	l.load(c)
	if err := (*store)(l.Controller).Record(c.ctx, c.id, []rr.Set{c.set(address)}); err != nil {
		c.t.Fatal(err)
	}
}

// set is one with a name of its own.
func (c *cluster) set(name string) rr.Set {
	c.t.Helper()
	set := apexOf(c.t, rr.TypeA, "192.0.2.1")
	set.Name = parse(c.t, name+".example.org.")
	return set
}

// load reads what an earlier run has written down, as the first look at a Zone does.
func (l *leader) load(c *cluster) {
	c.t.Helper()
	stored, ok := (*store)(l.Controller).Load(c.id)
	if !ok {
		c.t.Fatalf("%s is not there", c.id)
	}
	stored.Written()
}

// lacks says which of the sets a leader does not know to be ours.
func (l *leader) lacks(c *cluster, names ...string) string {
	all := l.ledgers.of(c.id).all()
	for _, name := range names {
		if _, ok := all.Get(c.set(name).Key()); !ok {
			return fmt.Sprintf("%s is not known to be ours", name)
		}
	}
	return ""
}

// pages lists the journal as it is stored.
func (c *cluster) pages() []zonefold.ZoneSlice {
	c.t.Helper()
	var list zonefold.ZoneSliceList
	if err := c.live.List(c.ctx, &list, client.InNamespace(c.id.Namespace)); err != nil {
		c.t.Fatal(err)
	}
	var out []zonefold.ZoneSlice
	for _, s := range list.Items {
		if s.Journal {
			out = append(out, s)
		}
	}
	return out
}

// A gate holds back what watches bring.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil: open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

type watched struct {
	http.RoundTripper
	gate *gate
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" {
		resp.Body = held{resp.Body, w.gate}
	}
	return resp, err
}

type held struct {
	io.ReadCloser
	gate *gate
}

func (h held) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if !errors.Is(err, context.Canceled) {
		h.gate.pass()
	}
	return n, err
}
