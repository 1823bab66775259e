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
type providers struct {
	*owners
	defaultNamespace string
}

func (r *providers) part() part {
	return part{
		kind: &v1beta1.ClusterBind9Provider{},
		owns: []client.Object{&v1beta1.Bind9Cluster{}},
		watches: []watch{
			// A cluster of the provider's name that somebody else made is in the way until it is gone.
			{&v1beta1.Bind9Cluster{}, func(_ context.Context, o client.Object) []client.ObjectKey {
				return []client.ObjectKey{{Name: o.GetName()}}
			}},
			{servers.Metadata("Namespace"), r.of},
		},
		reconcile: r.reconcile,
	}
}

// of are the providers that want a cluster in a namespace.
func (r *providers) of(ctx context.Context, namespace client.Object) []client.ObjectKey {
	var all v1beta1.ClusterBind9ProviderList
	if err := r.client.List(ctx, &all); err != nil {
		r.log.Error("listing ClusterBind9Providers", "error", err)
		return nil
	}
	var out []client.ObjectKey
	for i := range all.Items {
		targets, err := all.Items[i].Spec.TargetNamespaces(r.defaultNamespace)
		if err == nil && slices.Contains(targets, namespace.GetName()) {
			out = append(out, client.ObjectKeyFromObject(&all.Items[i]))
		}
	}
	return out
}

func (r *providers) reconcile(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var provider v1beta1.ClusterBind9Provider
	if err := r.latest(ctx, key, &provider); err != nil {
		if apierrors.IsNotFound(err) {
			r.gone(v1beta1.KindProvider, key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	if !provider.DeletionTimestamp.IsZero() {
		return 0, r.delete(ctx, &provider)
	}
	targets, err := r.targets(&provider)
	if err != nil {
		return 0, r.report(ctx, &provider, nil,
			[]dialect.Trouble{{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence("Nothing was changed: %v.", err)}})
	}
	if held, err := r.withFinalizer(ctx, &provider, v1beta1.ProviderFinalizer); !held {
		return 0, err
	}
	troubles, err := r.apply(ctx, &provider, targets)
	err = errors.Join(err, r.remove(ctx, &provider, targets))
	return 0, errors.Join(err, r.report(ctx, &provider, targets, troubles))
}

// targets are the namespaces of a provider whose spec can be carried out.
func (r *providers) targets(p *v1beta1.ClusterBind9Provider) ([]string, error) {
	targets, err := p.Spec.TargetNamespaces(r.defaultNamespace)
	if err != nil {
		return nil, err
	}
	return targets, dialect.CheckFleet(v1beta1.KindProvider, p.Name, &p.Spec.CommonSpec)
}

// apply brings a cluster into every namespace. What is wrong with one does not hold up the others.
func (r *providers) apply(ctx context.Context, p *v1beta1.ClusterBind9Provider,
	targets []string) ([]dialect.Trouble, error) {
	var troubles []dialect.Trouble
	var errs []error
	var made []string
	for _, namespace := range targets {
		cluster := clusterFor(p, namespace)
		what, err := objects.Unchanged, r.usable(ctx, p, namespace)
		if err == nil {
			what, err = r.children.Apply(ctx, p, cluster)
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
		r.normal(p, "ClustersMade", "Create", dialect.Sentence("Made Bind9Cluster %s.", dialect.List(made)))
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
func (r *providers) usable(ctx context.Context, p *v1beta1.ClusterBind9Provider, name string) error {
	namespace := servers.Metadata("Namespace")
	err := r.client.Get(ctx, client.ObjectKey{Name: name}, namespace)
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
	if name, is := selectsOthers(err); is {
		return &dialect.Trouble{Reason: v1beta1.ReasonReconcileFailed, Message: dialect.Sentence(
			"Deployment %s/%s selects its pods by other labels, which cannot be changed; delete Deployment %[1]s/%[2]s, and "+
				"the operator creates it again.", namespace, name)}, err
	}
	return &dialect.Trouble{Reason: v1beta1.ReasonReconcileFailed, Message: dialect.Sentence(
		"The operator tries again: %v.",
		err)}, err
}

// selectsOthers is the Deployment that an error is about whose selector would have to change, as that of one by the
// existing Bindy would.
func selectsOthers(err error) (name string, is bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || status.Status().Details.Kind != "Deployment" {
		return "", false
	}
	d := status.Status().Details
	return d.Name, slices.ContainsFunc(d.Causes, func(c metav1.StatusCause) bool {
		return c.Field == "spec.selector" && strings.Contains(c.Message, "field is immutable")
	})
}

// remove deletes the clusters of namespaces that the spec does not list any more.
func (r *providers) remove(ctx context.Context, p *v1beta1.ClusterBind9Provider, targets []string) error {
	clusters, err := r.clustersOf(ctx, p)
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
		did, err := r.children.Remove(ctx, p, c)
		if did {
			removed = append(removed, c.Namespace+"/"+c.Name)
		}
		errs = append(errs, err)
	}
	if len(removed) > 0 {
		r.normal(p, "ClustersRemoved", "Delete", dialect.Sentence("Removed Bind9Cluster %s.", dialect.List(removed)))
	}
	return errors.Join(errs...)
}

// clustersOf are the clusters that a provider controls, sorted.
func (r *providers) clustersOf(ctx context.Context, p *v1beta1.ClusterBind9Provider) ([]v1beta1.Bind9Cluster, error) {
	var all v1beta1.Bind9ClusterList
	if err := r.client.List(ctx, &all); err != nil {
		return nil, fmt.Errorf("listing the clusters of ClusterBind9Provider %s: %w", p.Name, err)
	}
	out := slices.DeleteFunc(all.Items, func(c v1beta1.Bind9Cluster) bool { return !metav1.IsControlledBy(&c, p) })
	slices.SortFunc(out, func(a, b v1beta1.Bind9Cluster) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return out, nil
}

// delete deletes the clusters of a provider and lets it go when they are gone.
func (r *providers) delete(ctx context.Context, p *v1beta1.ClusterBind9Provider) error {
	clusters, err := r.clustersOf(ctx, p)
	if err != nil {
		return err
	}
	if len(clusters) == 0 || orphans(p) {
		return r.withoutFinalizer(ctx, p, v1beta1.ProviderFinalizer)
	}
	if err := r.remove(ctx, p, nil); err != nil {
		return err
	}
	names := make([]string, len(clusters))
	for i := range clusters {
		names[i] = clusters[i].Namespace + "/" + clusters[i].Name
	}
	return r.report(ctx, p, nil,
		[]dialect.Trouble{{Reason: v1beta1.ReasonDeleting, Message: dialect.Sentence(
			"It is being deleted, and waits until Bind9Cluster %s is gone.", dialect.List(names))}})
}

// report brings the status up to date.
func (r *providers) report(ctx context.Context, p *v1beta1.ClusterBind9Provider, targets []string,
	troubles []dialect.Trouble) error {
	clusters, err := r.clustersOf(ctx, p)
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
		if r.objects.Behind(c) != nil || !isReady(c, c.Status.Conditions) {
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
	conditions := controller.Conditions{Old: p.Status.Conditions, Generation: p.Generation, Now: r.clock()}
	conditions.Set(v1beta1.ConditionReady, ready)
	status.Conditions = conditions.List()
	r.warnOf(p, p.Status.Conditions, troubles, ready)
	return r.writeStatus(ctx, p, p.Status, status)
}
