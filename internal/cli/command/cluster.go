package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// ClusterFlags say which cluster to work on, and where in it.
type ClusterFlags struct {
	Kubeconfig string
	Context    string
	Namespace  string
	as         string
	asGroups   []string

	Given *rest.Config // in place of a kubeconfig; nil: none
}

// Register adds the flags to a command.
func (f *ClusterFlags) Register(cmd *cobra.Command) {
	f.RegisterConnection(cmd)
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "the namespace (default: that of the context)")
}

// RegisterConnection adds those that say which cluster it is, without the namespace.
func (f *ClusterFlags) RegisterConnection(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Kubeconfig, "kubeconfig", "", "the kubeconfig (default: $KUBECONFIG, else ~/.kube/config)")
	cmd.Flags().StringVar(&f.Context, "context", "", "the context of the kubeconfig")
	cmd.Flags().StringVar(&f.as, "as", "", "the user to impersonate")
	cmd.Flags().StringArrayVar(&f.asGroups, "as-group", nil, "a group to impersonate; repeatable")
}

// A Cluster is what is asked of an API server: Zones, their ZoneSlices, DNSZones, and the Leases of operators.
type Cluster struct {
	config                       *rest.Config
	namespace                    string // of the context
	zones, slices, bindy, leases rest.Interface

	said atomic.Pointer[time.Time] // by the API server's clock, with its last answer; nil: it has none
}

// A listening notes the time that an API server says: the clock of this machine may be wrong.
type listening struct {
	http.RoundTripper
	said *atomic.Pointer[time.Time]
}

// RoundTrip implements http.RoundTripper.
func (l listening) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(request)
	if err != nil {
		return answer, err
	}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		l.said.Store(&at)
	}
	return answer, nil
}

// Kubizone is where objects of kubi.zone are asked for, by the name of their resource.
func (c *Cluster) Kubizone(resource string) Kind { return Kind{c.zones, resource} }

// Zonefold is where objects of zonefold.dev are asked for, by the name of their resource.
func (c *Cluster) Zonefold(resource string) Kind { return Kind{c.slices, resource} }

// Bindy is where objects of bindy.firestoned.io are asked for, by the name of their resource.
func (c *Cluster) Bindy(resource string) Kind { return Kind{c.bindy, resource} }

// Config returns how to reach the cluster, and the namespace to work in.
func (f *ClusterFlags) Config(env Env) (*rest.Config, string, error) {
	if f.Given != nil {
		return rest.CopyConfig(f.Given), f.Namespace, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.Kubeconfig}
	if list := env.Getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := env.Getenv("HOME"); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	var overrides clientcmd.ConfigOverrides
	overrides.CurrentContext = f.Context
	overrides.Context.Namespace = f.Namespace
	overrides.AuthInfo.Impersonate, overrides.AuthInfo.ImpersonateGroups = f.as, f.asGroups
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
	if err := f.hasContext(loader); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = errors.New("it is missing or empty; name it with --kubeconfig or $KUBECONFIG")
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return reaching{next} })
	return config, namespace, nil
}

// hasContext returns an error if the context that is asked for is not there.
func (f *ClusterFlags) hasContext(loader clientcmd.ClientConfig) error {
	raw, err := loader.RawConfig()
	if err != nil || f.Context == "" || raw.Contexts[f.Context] != nil {
		return err
	}
	there := slices.Sorted(maps.Keys(raw.Contexts))
	return fmt.Errorf("it has no context %s; it has %s", plain.Line(f.Context),
		plain.Line(cmp.Or(strings.Join(there, ", "), "none")))
}

// reaching says what to do if an API server cannot be reached.
type reaching struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r reaching) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.RoundTripper.RoundTrip(request)
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		err = fmt.Errorf(
			"the API server cannot be reached: %w; check that it runs, or choose another with --context or --kubeconfig", err)
	}
	return answer, err
}

// Connect returns the cluster, and the namespace to work in.
func (f *ClusterFlags) Connect(env Env) (*Cluster, string, error) {
	config, namespace, err := f.Config(env)
	if err != nil {
		return nil, "", err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(kubizone.AddToScheme(scheme), zonefold.AddToScheme(scheme),
		bindy.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
		return nil, "", err
	}
	c := &Cluster{config: config, namespace: namespace}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return listening{next, &c.said} })
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	of := func(version schema.GroupVersion) (rest.Interface, error) {
		one := rest.CopyConfig(config)
		one.APIPath, one.GroupVersion, one.NegotiatedSerializer = "/apis", &version, codecs
		one.QPS = -1 // the API server has its own limits
		return rest.RESTClientFor(one)
	}
	for version, client := range map[schema.GroupVersion]*rest.Interface{
		kubizone.GroupVersion: &c.zones, zonefold.GroupVersion: &c.slices, bindy.GroupVersion: &c.bindy,
		coordinationv1.SchemeGroupVersion: &c.leases,
	} {
		if *client, err = of(version); err != nil {
			return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
		}
	}
	return c, namespace, nil
}

// OperatorLeases are the names of the Leases by which one hears of a running operator: the leader's, and that of one
// without election.
func OperatorLeases() []string { return []string{zonefold.LeaderLease, zonefold.PresenceLease} }

// OperatorGone returns an error if an operator is running, or if nobody can tell. It goes by the clock of the API
// server, and by now if that does not say the time.
func OperatorGone(ctx context.Context, c *Cluster, now time.Time) error {
	for _, name := range OperatorLeases() {
		if err := leaseOver(ctx, c, name, now); err != nil {
			return err
		}
	}
	return nil
}

func leaseOver(ctx context.Context, c *Cluster, name string, now time.Time) error {
	var leases coordinationv1.LeaseList
	err := c.leases.Get().Resource("leases").Param("fieldSelector", "metadata.name="+name).Do(ctx).Into(&leases)
	if err != nil {
		return fmt.Errorf(
			"whether an operator is running is unknown: listing Leases: %w; if it is, set the annotation %s on a Zone that is "+
				"being deleted; if it is not, use --force", err, zonefold.LeaveAnnotation)
	}
	if at := c.said.Load(); at != nil {
		now = *at
	}
	for i := range leases.Items {
		spec := leases.Items[i].Spec
		if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil ||
			spec.LeaseDurationSeconds == nil {
			continue
		}
		until := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
		if now.Before(until) {
			return &OperatorRunsError{holder: *spec.HolderIdentity, lease: leases.Items[i].Namespace + "/" + name}
		}
	}
	return nil
}

// OperatorRunsError says that an operator is at work.
type OperatorRunsError struct{ holder, lease string }

// Error implements error.
func (e *OperatorRunsError) Error() string {
	return fmt.Sprintf("an operator is running: %s holds the Lease %s", plain.Line(e.holder), plain.Line(e.lease))
}

// OperatorNamespace is where the chart installs the operator.
const OperatorNamespace = "zonefold-system"
