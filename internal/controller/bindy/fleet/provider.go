package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=clusterbind9providers,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=clusterbind9providers/status,verbs=patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=clusterbind9providers/finalizers,verbs=update
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9clusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// providers reconciles ClusterBind9Providers: a Bind9Cluster in each of their namespaces.
func (b *Controller) providers() part {
	return part{
		kind: &v1beta1.ClusterBind9Provider{},
		owns: []client.Object{&v1beta1.Bind9Cluster{}},
		watches: []watch{
			// A cluster of the provider's name that somebody else made is in the way until it is gone.
			{&v1beta1.Bind9Cluster{}, func(_ context.Context, o client.Object) []client.ObjectKey {
				return []client.ObjectKey{{Name: o.GetName()}}
			}},
			{servers.Metadata("Namespace"), b.providersOf},
		},
		reconcile: b.reconcileProvider,
	}
}

// providersOf are the providers that want a cluster in a namespace.
func (b *Controller) providersOf(ctx context.Context, namespace client.Object) []client.ObjectKey {
	var all v1beta1.ClusterBind9ProviderList
	if err := b.Client.List(ctx, &all); err != nil {
		b.Log.Error("listing ClusterBind9Providers", "error", err)
		return nil
	}
	var out []client.ObjectKey
	for i := range all.Items {
		targets, err := all.Items[i].Spec.TargetNamespaces(b.DefaultNamespace)
		if err == nil && slices.Contains(targets, namespace.GetName()) {
			out = append(out, client.ObjectKeyFromObject(&all.Items[i]))
		}
	}
	return out
}

func (b *Controller) reconcileProvider(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var provider v1beta1.ClusterBind9Provider
	if err := b.latest(ctx, key, &provider); err != nil {
		if apierrors.IsNotFound(err) {
			b.gone(v1beta1.KindProvider, key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	if !provider.DeletionTimestamp.IsZero() {
		return 0, b.deleteProvider(ctx, &provider)
	}
	targets, err := b.targets(&provider)
	if err != nil {
		return 0, b.reportProvider(ctx, &provider, nil,
			[]dialect.Trouble{{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence("Nothing was changed: %v.", err)}})
	}
	if err := b.withFinalizer(ctx, &provider, v1beta1.ProviderFinalizer); err != nil {
		return 0, err
	}
	troubles, err := b.applyClusters(ctx, &provider, targets)
	err = errors.Join(err, b.removeClusters(ctx, &provider, targets))
	return 0, errors.Join(err, b.reportProvider(ctx, &provider, targets, troubles))
}

// targets are the namespaces of a provider whose spec can be carried out.
func (b *Controller) targets(p *v1beta1.ClusterBind9Provider) ([]string, error) {
	targets, err := p.Spec.TargetNamespaces(b.DefaultNamespace)
	if err != nil {
		return nil, err
	}
	return targets, dialect.CheckFleet(v1beta1.KindProvider, p.Name, &p.Spec.CommonSpec)
}

// applyClusters brings a cluster into every namespace. What is wrong with one does not hold up the others.
func (b *Controller) applyClusters(ctx context.Context, p *v1beta1.ClusterBind9Provider,
	targets []string) ([]dialect.Trouble, error) {
	var troubles []dialect.Trouble
	var errs []error
	var made []string
	for _, namespace := range targets {
		cluster := clusterFor(p, namespace)
		what, err := objects.Unchanged, b.usable(ctx, p, namespace)
		if err == nil {
			what, err = b.children.Apply(ctx, p, cluster)
		}
		if what == objects.Created {
			made = append(made, namespace+"/"+p.Name)
		}
		t, err := troubleOf(err, namespace)
		if t != nil {
			troubles = append(troubles, *t)
		}
		errs = append(errs, err)
	}
	if len(made) > 0 {
		b.normal(p, "ClustersMade", "Create", dialect.Sentence("Made Bind9Cluster %s.", dialect.List(made)))
	}
	return troubles, errors.Join(errs...)
}

// clusterFor is the cluster of a provider in a namespace. Its finalizer is put on at once, which saves a write.
func clusterFor(p *v1beta1.ClusterBind9Provider, namespace string) *v1beta1.Bind9Cluster {
	return &v1beta1.Bind9Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: p.Name,
			Labels:     dialect.ObjectLabels(v1beta1.KindProvider, p.Name, nil),
			Finalizers: []string{v1beta1.ClusterFinalizer},
		},
		Spec: v1beta1.Bind9ClusterSpec{CommonSpec: *p.Spec.CommonSpec.DeepCopy()},
	}
}

// errNamespace says that a namespace cannot take objects.
type errNamespace struct{ message string }

func (e *errNamespace) Error() string { return e.message }

// usable says why a namespace cannot take a cluster.
func (b *Controller) usable(ctx context.Context, p *v1beta1.ClusterBind9Provider, name string) error {
	namespace := servers.Metadata("Namespace")
	err := b.Client.Get(ctx, client.ObjectKey{Name: name}, namespace)
	switch {
	case apierrors.IsNotFound(err):
		return &errNamespace{dialect.Sentence(
			"The namespace %s does not exist; create it, or remove it from the spec of ClusterBind9Provider %s.", name, p.Name)}
	case err != nil:
		return fmt.Errorf("reading the namespace %s: %w", name, err)
	case !namespace.DeletionTimestamp.IsZero():
		return &errNamespace{dialect.Sentence("The namespace %s is being deleted; create it again to get a cluster, or "+
			"remove it from the spec of ClusterBind9Provider %s.", name, p.Name)}
	}
	return nil
}

// troubleOf separates what people have to put right from what is tried again.
func troubleOf(err error, namespace string) (*dialect.Trouble, error) {
	var absent *errNamespace
	var notOwned *objects.NotOwnedError
	switch {
	case err == nil, apierrors.IsConflict(err), errors.Is(err, objects.ErrNotLeading):
		return nil, err // nothing to tell
	case errors.As(err, &absent):
		return &dialect.Trouble{Reason: v1beta1.ReasonNamespaceNotFound, Message: absent.message}, nil
	case errors.As(err, &notOwned):
		// not everybody's objects are watched
		return &dialect.Trouble{Reason: v1beta1.ReasonNotOwned, Message: controller.Capital(notOwned.Error()) + "."}, err
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), apierrors.IsNotFound(err):
		// The watch of namespaces has not told yet.
		return &dialect.Trouble{Reason: v1beta1.ReasonNamespaceNotFound, Message: dialect.Sentence(
			"No objects can be created in namespace %s: %v.", namespace, err)}, nil
	}
	return &dialect.Trouble{Reason: v1beta1.ReasonReconcileFailed, Message: dialect.Sentence(
		"The operator tries again: %v.",
		err)}, err
}

// removeClusters deletes the clusters of namespaces that the spec does not list any more.
func (b *Controller) removeClusters(ctx context.Context, p *v1beta1.ClusterBind9Provider, targets []string) error {
	clusters, err := b.clustersOf(ctx, p)
	if err != nil {
		return err
	}
	var removed []string
	var errs []error
	for i := range clusters {
		c := &clusters[i]
		if slices.Contains(targets, c.Namespace) && c.Name == p.Name {
			continue
		}
		did, err := b.children.Remove(ctx, p, c)
		if did {
			removed = append(removed, c.Namespace+"/"+c.Name)
		}
		errs = append(errs, err)
	}
	if len(removed) > 0 {
		b.normal(p, "ClustersRemoved", "Delete", dialect.Sentence("Removed Bind9Cluster %s.", dialect.List(removed)))
	}
	return errors.Join(errs...)
}

// clustersOf are the clusters that a provider controls, sorted.
func (b *Controller) clustersOf(ctx context.Context, p *v1beta1.ClusterBind9Provider) ([]v1beta1.Bind9Cluster, error) {
	var all v1beta1.Bind9ClusterList
	if err := b.Client.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("listing the clusters of ClusterBind9Provider %s: %w", p.Name, err)
	}
	out := slices.DeleteFunc(all.Items, func(c v1beta1.Bind9Cluster) bool { return !metav1.IsControlledBy(&c, p) })
	slices.SortFunc(out, func(a, b v1beta1.Bind9Cluster) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out, nil
}

// deleteProvider deletes the clusters of a provider and lets it go when they are gone.
func (b *Controller) deleteProvider(ctx context.Context, p *v1beta1.ClusterBind9Provider) error {
	clusters, err := b.clustersOf(ctx, p)
	if err != nil {
		return err
	}
	if len(clusters) == 0 || orphans(p) {
		return b.withoutFinalizer(ctx, p, v1beta1.ProviderFinalizer)
	}
	if err := b.removeClusters(ctx, p, nil); err != nil {
		return err
	}
	names := make([]string, len(clusters))
	for i := range clusters {
		names[i] = clusters[i].Namespace + "/" + clusters[i].Name
	}
	return b.reportProvider(ctx, p, nil,
		[]dialect.Trouble{{Reason: v1beta1.ReasonDeleting, Message: dialect.Sentence(
			"It is being deleted, and waits until Bind9Cluster %s is gone.", dialect.List(names))}})
}

// reportProvider brings the status up to date.
func (b *Controller) reportProvider(ctx context.Context, p *v1beta1.ClusterBind9Provider, targets []string,
	troubles []dialect.Trouble) error {
	clusters, err := b.clustersOf(ctx, p)
	if err != nil {
		return err
	}
	status := v1beta1.ClusterBind9ProviderStatus{ObservedGeneration: p.Generation}
	status.PrimaryReplicas, status.SecondaryReplicas = dialect.AskedFor(&p.Spec.CommonSpec)
	var unready []string
	for i := range clusters {
		c := &clusters[i]
		status.InstanceCount += c.Status.InstanceCount
		status.ReadyInstances += c.Status.ReadyInstances
		for _, name := range c.Status.Instances {
			status.Instances = append(status.Instances, c.Namespace+"/"+name)
		}
		if b.Objects.Behind(c) != nil || !isReady(c, c.Status.Conditions) {
			unready = append(unready, c.Namespace+"/"+c.Name)
		}
	}
	for _, namespace := range targets {
		if !slices.ContainsFunc(clusters, func(c v1beta1.Bind9Cluster) bool { return c.Namespace == namespace }) {
			unready = append(unready, namespace+"/"+p.Name)
		}
	}
	ready := outcome(troubles, fleet{
		of: v1beta1.KindCluster, wanted: len(targets) * dialect.InstancesIn(&p.Spec.CommonSpec),
		total: int(status.InstanceCount), ready: int(status.ReadyInstances), unready: unready,
	})
	conditions := controller.Conditions{Old: p.Status.Conditions, Generation: p.Generation, Now: b.Clock()}
	conditions.Set(v1beta1.ConditionReady, ready)
	status.Conditions = conditions.List()
	b.warnOf(p, p.Status.Conditions, troubles, ready)
	return b.writeStatus(ctx, p, p.Status, status)
}
