// Package bindytest has what tests of the rooms of internal/controller/bindy share: a real control plane in which
// nobody else has objects of the dialect, what people and nodes do there, and what an operator has of it. It knows no
// room, so that each may use it, and only tests import it.
package bindytest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// Main runs the tests of a package with a control plane. Root is the way from there to the root of the repository.
func Main(m *testing.M, root string) {
	log.SetLogger(logr.Discard()) // of the client
	os.Exit(testcluster.MainWith(m, testcluster.Options{
		ControllerManager: true, CRDs: []string{filepath.Join(root, "config", "crd")},
		// Some clusters ask for the right to set finalizers before an owner may block its deletion.
		APIServerFlags: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	}))
}

// A Stage is a real control plane in which nobody else has objects of the dialect, with namespaces of this test.
type Stage struct {
	*testing.T
	Ctx    context.Context
	Config *rest.Config
	Scheme *runtime.Scheme
	Live   client.Client // a person's: asks the API server
	Word   string        // in all names, so that no other test has them
	Writes *Writes       // of the operator
	Stop   func()        // ends the operator
	Real   bool          // the operator's clock is the machine's, and sidecars know SidecarToken
	Ahead  atomic.Int64  // seconds by which a real clock of the operator is
	events *events.FakeRecorder
	hours  atomic.Int64 // since the operator's clock began: it moves whenever it is looked at
}

var stages atomic.Int32

// NewStage returns a Stage on which no operator works yet. What a test makes there goes when it ends.
func NewStage(t *testing.T) *Stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	t.Cleanup(cancel)
	s := &Stage{T: t, Ctx: ctx, Scheme: runtime.NewScheme(), Word: fmt.Sprintf("s%d", stages.Add(1)), Writes: &Writes{},
		Stop: func() {}}
	var err error
	if s.Config, err = clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	s.Config.QPS = -1
	s.Config.WarningHandler = rest.NoWarnings{}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme,
		zonefold.AddToScheme} {
		if err := add(s.Scheme); err != nil {
			t.Fatal(err)
		}
	}
	if s.Live, err = client.New(s.Config, client.Options{Scheme: s.Scheme}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(); s.clear() })
	return s
}

// SidecarToken is what sidecars know the operator by on a Stage that is Real.
const SidecarToken = "the-token-of-the-operator"

// An Operator is what an operator has of the cluster for one term of leadership.
type Operator struct {
	Settings dialect.Settings
	Client   client.Client // reads from Cache
	Live     client.WithWatch
	Cache    cache.Cache
	Events   events.EventRecorder
	Log      *slog.Logger
	Clock    func() time.Time
	Token    func(ctx context.Context, namespace string) (string, error) // nil: one of its ServiceAccount
}

// Operator makes an Operator whose Writes are counted, and whose events are those of Reported.
func (s *Stage) Operator(options cache.Options) *Operator {
	s.Helper()
	config := rest.CopyConfig(s.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next, s.Writes} })
	objects, err := cache.New(config, options)
	if err != nil {
		s.Fatal(err)
	}
	cached, err := client.New(config, client.Options{Scheme: s.Scheme, Cache: &client.CacheOptions{Reader: objects}})
	if err != nil {
		s.Fatal(err)
	}
	live, err := client.NewWithWatch(config, client.Options{Scheme: s.Scheme})
	if err != nil {
		s.Fatal(err)
	}
	s.events = events.NewFakeRecorder(1000)
	o := &Operator{
		Settings: dialect.Settings{DefaultNamespace: s.Word + "-default", Namespace: "zonefold-system",
			ServiceAccount: "zonefold-operator", BIND9Image: "zonefold/bind9", BindcarImage: "zonefold/bindcar:test"},
		Client: cached, Live: live, Cache: objects, Events: s.events,
		Log:   slog.New(slog.NewTextHandler(tested{s.T}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Clock: func() time.Time { return time.Unix(0, 0).Add(time.Duration(s.hours.Add(1)) * time.Hour) },
	}
	if s.Real {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(s.Ahead.Load()) * time.Second) }
		o.Token = func(context.Context, string) (string, error) { return SidecarToken, nil }
	}
	return o
}

// Begin has an Operator do something until Stop is called or the test ends.
func (s *Stage) Begin(o *Operator, run func(ctx context.Context) error) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Ctx)
	var parts sync.WaitGroup
	parts.Go(func() { _ = o.Cache.Start(ctx) })
	if !o.Cache.WaitForCacheSync(ctx) {
		s.Fatal("the caches do not fill")
	}
	parts.Go(func() {
		if err := run(ctx); err != nil {
			s.Error(err)
		}
	})
	s.Stop = func() { cancel(); parts.Wait() }
}

// tested logs where the test's log is.
type tested struct{ *testing.T }

func (w tested) Write(p []byte) (int, error) {
	w.Logf("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// clear removes what this test made, whatever holds it.
func (s *Stage) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Ctx), time.Minute)
	defer cancel()
	for _, list := range []client.ObjectList{&v1beta1.ClusterBind9ProviderList{}, &v1beta1.Bind9ClusterList{},
		&v1beta1.Bind9InstanceList{}, &v1beta1.DNSZoneList{}} {
		if err := s.Live.List(ctx, list); err != nil {
			s.Log(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			_ = s.Live.Delete(ctx, object)
			return client.IgnoreNotFound(s.Live.Patch(ctx, object,
				client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		})
	}
}
