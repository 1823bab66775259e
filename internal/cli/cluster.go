package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// clusterFlags say which cluster to work on, and where in it.
type clusterFlags struct {
	kubeconfig string
	context    string
	namespace  string
	as         string
	asGroups   []string

	given *rest.Config // in place of a kubeconfig; nil: none
}

func (f *clusterFlags) register(cmd *cobra.Command) {
	f.registerConnection(cmd)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "the namespace (default: that of the context)")
}

func (f *clusterFlags) registerConnection(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "the kubeconfig (default: $KUBECONFIG, else ~/.kube/config)")
	cmd.Flags().StringVar(&f.context, "context", "", "the context of the kubeconfig")
	cmd.Flags().StringVar(&f.as, "as", "", "the user to impersonate")
	cmd.Flags().StringArrayVar(&f.asGroups, "as-group", nil, "a group to impersonate; repeatable")
}

// A cluster is what is asked of an API server: Zones, their ZoneSlices, and the Leases of operators.
type cluster struct{ zones, slices, leases rest.Interface }

// config returns how to reach the cluster, and the namespace to work in.
func (f *clusterFlags) config(env Env) (*rest.Config, string, error) {
	if f.given != nil {
		return rest.CopyConfig(f.given), f.namespace, nil
	}
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}
	if list := env.Getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := env.Getenv("HOME"); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	var overrides clientcmd.ConfigOverrides
	overrides.CurrentContext = f.context
	overrides.Context.Namespace = f.namespace
	overrides.AuthInfo.Impersonate, overrides.AuthInfo.ImpersonateGroups = f.as, f.asGroups
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// connect returns the cluster, and the namespace to work in.
func (f *clusterFlags) connect(env Env) (*cluster, string, error) {
	config, namespace, err := f.config(env)
	if err != nil {
		return nil, "", err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(kubizone.AddToScheme(scheme), zonefold.AddToScheme(scheme),
		coordinationv1.AddToScheme(scheme)); err != nil {
		return nil, "", err
	}
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	of := func(version schema.GroupVersion) (rest.Interface, error) {
		one := rest.CopyConfig(config)
		one.APIPath, one.GroupVersion, one.NegotiatedSerializer = "/apis", &version, codecs
		return rest.RESTClientFor(one)
	}
	var c cluster
	for version, client := range map[schema.GroupVersion]*rest.Interface{
		kubizone.GroupVersion: &c.zones, zonefold.GroupVersion: &c.slices, coordinationv1.SchemeGroupVersion: &c.leases,
	} {
		if *client, err = of(version); err != nil {
			return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
		}
	}
	return &c, namespace, nil
}

// operatorLeases are the names of the Leases by which one hears of a running operator: the leader's, and that of one
// without election.
func operatorLeases() []string { return []string{zonefold.LeaderLease, zonefold.PresenceLease} }

// operatorGone returns an error if an operator is running, or if nobody can tell.
func operatorGone(ctx context.Context, c *cluster, now time.Time) error {
	for _, name := range operatorLeases() {
		if err := leaseOver(ctx, c, name, now); err != nil {
			return err
		}
	}
	return nil
}

func leaseOver(ctx context.Context, c *cluster, name string, now time.Time) error {
	var leases coordinationv1.LeaseList
	err := c.leases.Get().Resource("leases").Param("fieldSelector", "metadata.name="+name).Do(ctx).Into(&leases)
	if err != nil {
		return fmt.Errorf(
			"whether an operator is running cannot be seen: listing Leases: %w; see that none is, and say --force", err)
	}
	for i := range leases.Items {
		spec := leases.Items[i].Spec
		if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil ||
			spec.LeaseDurationSeconds == nil {
			continue
		}
		until := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
		if now.Before(until) {
			return &operatorRunsError{holder: *spec.HolderIdentity, lease: leases.Items[i].Namespace + "/" + name}
		}
	}
	return nil
}

// operatorRunsError says that an operator is at work.
type operatorRunsError struct{ holder, lease string }

// Error implements error.
func (e *operatorRunsError) Error() string {
	return fmt.Sprintf("an operator is running: %s holds the Lease %s", oneLine(e.holder), oneLine(e.lease))
}
