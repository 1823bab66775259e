package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9clusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9clusters/status,verbs=patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9clusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9instances,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete

// clusters reconciles Bind9Clusters: their instances and what these share.
type clusters struct {
	*owners
	keys *keeper
}

func (r *clusters) part() part {
	return part{
		kind: &v1beta1.Bind9Cluster{},
		owns: []client.Object{&v1beta1.Bind9Instance{}, &corev1.ConfigMap{}, &policyv1.PodDisruptionBudget{}},
		watches: []watch{
			// What somebody else made under the name of one of ours is in the way until it is gone.
			{&v1beta1.Bind9Instance{}, func(_ context.Context, o client.Object) []client.ObjectKey {
				if cluster, ok := dialect.ClusterOf(o.GetName()); ok {
					return []client.ObjectKey{{Namespace: o.GetNamespace(), Name: cluster}}
				}
				return nil
			}},
			{&corev1.ConfigMap{}, func(_ context.Context, o client.Object) []client.ObjectKey {
				if cluster, ok := strings.CutSuffix(o.GetName(), dialect.ConfigName("")); ok && cluster != "" {
					return []client.ObjectKey{{Namespace: o.GetNamespace(), Name: cluster}}
				}
				return nil
			}},
			{servers.Metadata("Secret"), clustersWithSecret},
		},
		workers:   4,
		reconcile: r.reconcile,
	}
}

func (r *clusters) reconcile(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var cluster v1beta1.Bind9Cluster
	if err := r.latest(ctx, key, &cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.gone(v1beta1.KindCluster, key)
			r.keys.forgetCluster(key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	if !cluster.DeletionTimestamp.IsZero() {
		return 0, r.delete(ctx, &cluster)
	}
	config, budgets, err := dialect.SharedBy(&cluster)
	if err != nil {
		return 0, r.report(ctx, &cluster,
			[]dialect.Trouble{{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence("Nothing was changed: %v.", err)}})
	}
	if held, err := r.withFinalizer(ctx, &cluster, v1beta1.ClusterFinalizer); !held {
		return 0, err
	}
	shared := []client.Object{config}
	for _, budget := range budgets {
		shared = append(shared, budget)
	}
	troubles, err := r.apply(ctx, &cluster, shared)
	keys, keysErr := r.keys.applyCluster(ctx, &cluster)
	if t, _ := troubleOf(keysErr, cluster.Namespace); t != nil {
		troubles = append(troubles, *t)
	}
	return keys.after, errors.Join(err, keysErr, r.report(ctx, &cluster, append(troubles, keys.troubles...)))
}

// apply brings all children of a cluster to what is wanted. What is wrong with one does not hold up the others.
func (r *clusters) apply(ctx context.Context, c *v1beta1.Bind9Cluster,
	shared []client.Object) ([]dialect.Trouble, error) {
	var troubles []dialect.Trouble
	var errs []error
	var made []string
	apply := func(child client.Object) objects.Result {
		what, err := r.children.Apply(ctx, c, child)
		t, err := troubleOf(err, c.Namespace)
		if t != nil {
			troubles = append(troubles, *t)
		}
		errs = append(errs, err)
		return what
	}
	for _, child := range shared {
		apply(child)
	}
	for _, instance := range dialect.InstancesFor(c) {
		if apply(instance) == objects.Created {
			made = append(made, instance.Name)
		}
	}
	if len(made) > 0 {
		r.normal(c, "InstancesMade", "Create", dialect.Sentence("Made Bind9Instance %s.", dialect.List(made)))
	}
	errs = append(errs, r.removeInstances(ctx, c, dialect.WantedNames(c)), r.removeBudgets(ctx, c, shared))
	return troubles, errors.Join(errs...)
}

// removeInstances deletes the instances that a cluster made and does not want any more.
func (r *clusters) removeInstances(ctx context.Context, c *v1beta1.Bind9Cluster, keep []string) error {
	instances, err := r.instancesOf(ctx, c)
	if err != nil {
		return err
	}
	var removed []string
	var errs []error
	for i := range instances {
		if slices.Contains(keep, instances[i].Name) {
			continue
		}
		did, err := r.children.Remove(ctx, c, &instances[i])
		if did {
			removed = append(removed, instances[i].Name)
		}
		errs = append(errs, err)
	}
	if len(removed) > 0 {
		r.normal(c, "InstancesRemoved", "Delete", dialect.Sentence("Removed Bind9Instance %s.", dialect.List(removed)))
	}
	return errors.Join(errs...)
}

// removeBudgets deletes the PodDisruptionBudgets of roles that have fewer than two servers now: one that covers a
// single pod would keep its node from ever being drained.
func (r *clusters) removeBudgets(ctx context.Context, c *v1beta1.Bind9Cluster, shared []client.Object) error {
	var errs []error
	for _, role := range dialect.Roles() {
		key := client.ObjectKey{Namespace: c.Namespace, Name: dialect.BudgetName(c.Name, role)}
		isWanted := func(o client.Object) bool {
			_, ok := o.(*policyv1.PodDisruptionBudget)
			return ok && client.ObjectKeyFromObject(o) == key
		}
		if slices.ContainsFunc(shared, isWanted) {
			continue
		}
		var budget policyv1.PodDisruptionBudget
		err := r.client.Get(ctx, key, &budget)
		if err == nil {
			_, err = r.children.Remove(ctx, c, &budget)
		}
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return errors.Join(errs...)
}

// instancesOf are the instances that a cluster made, not those that people made and that name it, sorted by role and
// number.
func (r *clusters) instancesOf(ctx context.Context, c *v1beta1.Bind9Cluster) ([]v1beta1.Bind9Instance, error) {
	var all v1beta1.Bind9InstanceList
	if err := r.client.List(ctx, &all, client.InNamespace(c.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the instances of Bind9Cluster %s/%s: %w", c.Namespace, c.Name, err)
	}
	out := slices.DeleteFunc(all.Items, func(i v1beta1.Bind9Instance) bool { return !metav1.IsControlledBy(&i, c) })
	slices.SortFunc(out, func(a, b v1beta1.Bind9Instance) int { return dialect.CompareInstances(a.Name, b.Name) })
	return out, nil
}

// delete deletes the instances of a cluster, then what they shared, and lets it go.
func (r *clusters) delete(ctx context.Context, c *v1beta1.Bind9Cluster) error {
	instances, err := r.instancesOf(ctx, c)
	if err != nil {
		return err
	}
	if orphans(c) {
		return r.withoutFinalizer(ctx, c, v1beta1.ClusterFinalizer)
	}
	if len(instances) == 0 {
		if err := r.removeChildren(ctx, c); err != nil {
			return err
		}
		return r.withoutFinalizer(ctx, c, v1beta1.ClusterFinalizer)
	}
	if err := r.removeInstances(ctx, c, nil); err != nil {
		return err
	}
	names := make([]string, len(instances))
	for i := range instances {
		names[i] = instances[i].Name
	}
	return r.report(ctx, c,
		[]dialect.Trouble{{Reason: v1beta1.ReasonDeleting, Message: dialect.Sentence(
			"It is being deleted, and waits until Bind9Instance %s is gone.", dialect.List(names))}})
}

// hasSettings reports whether an instance tells of what the cluster asks for now: one that does not know of a change
// yet is as ready as it was before.
func hasSettings(i *v1beta1.Bind9Instance, c *v1beta1.Bind9Cluster) bool {
	return i.Status.ObservedParentGeneration == c.Generation
}

// report brings the status up to date.
func (r *clusters) report(ctx context.Context, c *v1beta1.Bind9Cluster, troubles []dialect.Trouble) error {
	instances, err := r.instancesOf(ctx, c)
	if err != nil {
		return err
	}
	status := v1beta1.Bind9ClusterStatus{ObservedGeneration: c.Generation, InstanceCount: int32(len(instances))}
	status.PrimaryReplicas, status.SecondaryReplicas = dialect.AskedFor(&c.Spec.CommonSpec)
	var unready, behind []string
	for i := range instances {
		instance := &instances[i]
		status.Instances = append(status.Instances, instance.Name)
		switch {
		case !serves(instance):
			unready = append(unready, instance.Name)
			continue
		case !hasSettings(instance, c), !isReady(instance, instance.Status.Conditions),
			progresses(instance.Status.Conditions):
			behind = append(behind, instance.Name)
		}
		status.ReadyInstances++
	}
	for _, name := range dialect.WantedNames(c) {
		if !slices.Contains(status.Instances, name) {
			unready = append(unready, name)
		}
	}
	ready := outcome(troubles, fleet{
		of: v1beta1.KindInstance, wanted: dialect.InstancesIn(&c.Spec.CommonSpec),
		total: len(instances), ready: int(status.ReadyInstances), unready: unready, behind: behind,
	})
	rolls := func(i v1beta1.Bind9Instance) bool {
		return dialect.HasReason(i.Status.Conditions, v1beta1.ReasonRollingOut)
	}
	if ready.Status != metav1.ConditionTrue && len(troubles) == 0 && slices.ContainsFunc(instances, rolls) {
		ready.Reason = v1beta1.ReasonRollingOut
	}
	conditions := controller.Conditions{Old: c.Status.Conditions, Generation: c.Generation, Now: r.clock()}
	conditions.Set(v1beta1.ConditionReady, ready)
	status.Conditions = conditions.List()
	r.warnOf(c, c.Status.Conditions, troubles, ready)
	return r.writeStatus(ctx, c, c.Status, status)
}
