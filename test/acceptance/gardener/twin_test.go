package gardener

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gardener/gardener/extensions/pkg/controller/dnsrecord"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// twinType is the type of the objects that Gardener's own controller works at.
const twinType = "twin"

// A twin is the provider that Gardener's controller calls: it knows no service, and fails where ours is going to.
type twin struct{}

func (twin) act(o *extensionsv1alpha1.DNSRecord, put bool) error {
	switch {
	case put && strings.Contains(o.Spec.Values[0], ":"):
		return v1beta1helper.NewErrorWithCodes(errors.New("no address of IPv4"), gardencorev1beta1.ErrorConfigurationProblem)
	case o.Spec.SecretRef.Name == wrongSecret:
		return v1beta1helper.NewErrorWithCodes(errors.New("wrong credentials"), gardencorev1beta1.ErrorInfraUnauthenticated)
	}
	return nil
}

func (a twin) Reconcile(_ context.Context, _ logr.Logger, o *extensionsv1alpha1.DNSRecord,
	_ *extensions.Cluster) error {
	return a.act(o, true)
}

func (a twin) Delete(_ context.Context, _ logr.Logger, o *extensionsv1alpha1.DNSRecord, _ *extensions.Cluster) error {
	return a.act(o, false)
}

func (a twin) ForceDelete(_ context.Context, _ logr.Logger, o *extensionsv1alpha1.DNSRecord,
	_ *extensions.Cluster) error {
	return a.act(o, false)
}

func (a twin) Restore(_ context.Context, _ logr.Logger, o *extensionsv1alpha1.DNSRecord, _ *extensions.Cluster) error {
	return a.act(o, true)
}

func (twin) Migrate(context.Context, logr.Logger, *extensionsv1alpha1.DNSRecord, *extensions.Cluster) error {
	return nil
}

// A witness is the client of Gardener's controller, and knows what that has seen.
type witness struct {
	client.Client
	ns   string // where there are credentials
	mu   sync.Mutex
	seen map[client.ObjectKey]string // the resource version
}

// Get notes which version of an object it was asked for.
func (w *witness) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := w.Client.Get(ctx, key, o, opts...)
	if record, ok := o.(*extensionsv1alpha1.DNSRecord); ok && err == nil {
		w.mu.Lock()
		w.seen[key] = record.ResourceVersion
		w.mu.Unlock()
	}
	return err
}

// saw reports whether Gardener's controller has come to an object since it had a version.
func (w *witness) saw(key client.ObjectKey, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(w.seen[key], version)
	return err == nil && order >= 0
}

// startTwin runs Gardener's own controller until the test ends.
func startTwin(t *testing.T, ns string, ignoreAnnotation bool) *witness {
	t.Helper()
	w := &witness{ns: ns, seen: map[client.ObjectKey]string{}}
	mgr, err := manager.New(here.config, manager.Options{
		Scheme: kubernetes.SeedScheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{
			SkipNameValidation: ptr.To(true),
			// Its statuses beside an annotation that stays have an object that fails go before all those that it found at its
			// start.
			UsePriorityQueue: ptr.To(false),
		},
		NewClient: func(c *rest.Config, o client.Options) (client.Client, error) {
			var err error
			w.Client, err = client.New(c, o)
			return w, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = dnsrecord.Add(mgr, dnsrecord.AddArgs{
		Actuator: twin{}, Type: twinType, IgnoreOperationAnnotation: ignoreAnnotation,
		Predicates:       dnsrecord.DefaultPredicates(ctx, mgr, ignoreAnnotation),
		ExtensionClasses: []extensionsv1alpha1.ExtensionClass{extensionsv1alpha1.ExtensionClassShoot},
		// Gardener tries again after ever longer times, up to a quarter of an hour; who waits for both need not wait so long.
		ControllerOptions: controller.Options{
			MaxConcurrentReconciles: 5,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond,
				time.Second),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Gardener's controller: %v", err)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("Gardener's controller does not begin")
	}
	return w
}
