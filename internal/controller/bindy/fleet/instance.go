package fleet

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
)

// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9instances,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9instances/status,verbs=patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9instances/finalizers,verbs=update
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=bind9clusters;clusterbind9providers,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services;configmaps;persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete

// instances reconciles Bind9Instances: the workload of each.
type instances struct {
	*owners
	servers  *servers.Servers
	zones    Zones // nil: servers get no zones
	keys     *keeper
	declared *declarations
	accounts *accounts
	rollouts *rollouts
}

func (r *instances) part() part {
	return part{
		kind: &v1beta1.Bind9Instance{},
		owns: []client.Object{
			&appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, servers.Metadata("Secret"),
			&corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
		},
		watches: []watch{
			{&v1beta1.Bind9Cluster{}, r.ofCluster},
			{&v1beta1.ClusterBind9Provider{}, r.ofProvider},
			{&v1beta1.Bind9Instance{}, r.rollouts.next},
			{&appsv1.Deployment{}, r.rollouts.next},
			{&corev1.Pod{}, instanceOfPod},
			{&corev1.ConfigMap{}, r.withConfigMap},
			{servers.Metadata("Secret"), r.withSecret},
			{servers.Metadata("Secret"), r.withTransferKeys},
			{&corev1.ServiceAccount{}, r.withAccount},
			{&rbacv1.ClusterRoleBinding{}, r.withBinding},
		},
		workers:   8,
		reconcile: r.reconcile,
	}
}

func (r *instances) reconcile(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var instance v1beta1.Bind9Instance
	if err := r.latest(ctx, key, &instance); err != nil {
		if apierrors.IsNotFound(err) {
			r.gone(v1beta1.KindInstance, key)
			r.keys.forgetInstance(key)
			r.declared.forget(key, nil)
			r.rollouts.line.leave(key)
			return 0, r.lookForZones(ctx, key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	v := &visit{instances: r, instance: &instance, listed: instance.Status.Zones}
	if !instance.DeletionTimestamp.IsZero() {
		r.rollouts.line.leave(key)
		return 0, errors.Join(r.lookForZones(ctx, key), v.delete(ctx))
	}
	p, problem, err := r.servers.Plan(ctx, &instance)
	if err != nil {
		return 0, err
	}
	if problem != nil {
		r.rollouts.line.leave(key)
		return v.keepUp(ctx, problem)
	}
	behind, err := r.rollouts.isBehind(ctx, &instance)
	switch {
	case err != nil:
		return 0, err
	case behind:
		return v.keepZones(ctx)
	}
	if held, err := r.withFinalizer(ctx, &instance, v1beta1.InstanceFinalizer); !held {
		return 0, err
	}
	v.plan = p
	if t := servers.MissesCluster(&instance, p); t != nil {
		v.troubles = append(v.troubles, *t)
	}
	err = v.carryOut(ctx)
	return v.after, errors.Join(err, v.report(ctx))
}

// lookForZones has the zones of an instance delivered to the pods that it has now.
func (r *instances) lookForZones(ctx context.Context, key client.ObjectKey) error {
	if r.zones == nil {
		return nil
	}
	return r.zones.Look(ctx, key)
}
