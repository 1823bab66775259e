package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
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
func (b *Controller) instances() part {
	return part{
		kind: &v1beta1.Bind9Instance{},
		owns: []client.Object{
			&appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, servers.Metadata("Secret"),
			&corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
		},
		watches: []watch{
			{&v1beta1.Bind9Cluster{}, b.instancesOfCluster},
			{&v1beta1.ClusterBind9Provider{}, b.instancesOfProvider},
			{&v1beta1.Bind9Instance{}, b.nextInLine},
			{&appsv1.Deployment{}, b.nextInLine},
			{&corev1.Pod{}, instanceOfPod},
			{&corev1.ConfigMap{}, b.instancesWithConfigMap},
			{servers.Metadata("Secret"), b.instancesWithSecret},
			{servers.Metadata("Secret"), b.instancesWithTransferKeys},
			{&corev1.ServiceAccount{}, b.instancesWithAccount},
			{&rbacv1.ClusterRoleBinding{}, b.instancesWithBinding},
		},
		workers:   8,
		reconcile: b.reconcileInstance,
	}
}

func (b *Controller) reconcileInstance(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	var instance v1beta1.Bind9Instance
	if err := b.latest(ctx, key, &instance); err != nil {
		if apierrors.IsNotFound(err) {
			b.gone(v1beta1.KindInstance, key)
			b.line.leave(key)
			return 0, b.lookForZones(ctx, key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	if !instance.DeletionTimestamp.IsZero() {
		b.line.leave(key)
		return 0, errors.Join(b.lookForZones(ctx, key), b.deleteInstance(ctx, &instance))
	}
	p, problem, err := b.Servers.Plan(ctx, &instance)
	if err != nil {
		return 0, err
	}
	if problem != nil {
		b.line.leave(key)
		return b.keepUp(ctx, &instance, problem)
	}
	if behind, err := b.isBehind(ctx, &instance); behind || err != nil {
		return 0, err
	}
	if err := b.withFinalizer(ctx, &instance, v1beta1.InstanceFinalizer); err != nil {
		return 0, err
	}
	v := &visit{instance: &instance, plan: p, zones: instance.Status.Zones}
	if t := servers.MissesCluster(&instance, p); t != nil {
		v.troubles = append(v.troubles, *t)
	}
	err = b.carryOut(ctx, v)
	return v.after, errors.Join(err, b.reportVisit(ctx, v))
}

func (b *Controller) reportVisit(ctx context.Context, v *visit) error {
	err := b.reportInstance(ctx, v.instance, v)
	if b.Zones != nil && err == nil {
		b.Zones.Stored(client.ObjectKeyFromObject(v.instance), v.zones)
	}
	return err
}

// keepUp has the pods of an instance whose spec cannot be carried out go on with their zones, those that were made anew
// since, too, and lose those that it is not to have any more, and says why nothing else is done.
func (b *Controller) keepUp(ctx context.Context, i *v1beta1.Bind9Instance,
	problem *dialect.Trouble) (time.Duration, error) {
	v := &visit{instance: i, kept: true, troubles: []dialect.Trouble{*problem}, zones: i.Status.Zones}
	looked := b.lookForZones(ctx, client.ObjectKeyFromObject(i))
	server := &dialect.Server{Instance: i}
	var err error
	if v.pods, err = b.Servers.Pods(ctx, server); err == nil {
		if len(v.zones) > 0 {
			b.sweep(ctx, v)
		}
		after, troubles := b.declare(ctx, server, v.pods)
		v.again(after)
		v.troubles = append(v.troubles, troubles...)
	}
	return v.after, errors.Join(looked, err, b.reportVisit(ctx, v))
}

// lookForZones has the zones of an instance delivered to the pods that it has now.
func (b *Controller) lookForZones(ctx context.Context, key client.ObjectKey) error {
	if b.Zones == nil {
		return nil
	}
	return b.Zones.Look(ctx, key)
}

// sweep removes from the pods of an instance the zones that it is not to have any more.
func (b *Controller) sweep(ctx context.Context, v *visit) {
	if b.Zones == nil {
		return
	}
	zones, again := b.Zones.Sweep(ctx, v.instance, v.pods)
	v.zones = zones
	v.again(again)
}

// A visit is one look at an instance: what was wanted, and what came of it.
type visit struct {
	instance *v1beta1.Bind9Instance
	plan     *dialect.Plan // nil: there is none that could be carried out
	troubles []dialect.Trouble
	kept     bool          // the pods were left as they are because of the troubles
	held     string        // why the pods are not replaced yet, as a sentence; "": nothing is in the way
	after    time.Duration // when to look again; 0: an event will tell
	keys     keyReport
	pods     []corev1.Pod
	account  types.UID              // of the ServiceAccount of the pods
	wanted   string                 // the template that the pods should have
	zones    []v1beta1.InstanceZone // that it has or is to have
	lags     bool                   // the cache has the Deployment from before our last write
}

// again asks for another look after a while, if there is not one before that.
func (v *visit) again(after time.Duration) {
	if after > 0 && (v.after == 0 || after < v.after) {
		v.after = after
	}
}

// applyChild brings a child to what is wanted. What people have to put right is noted; the child is not as wanted then.
func (b *Controller) applyChild(ctx context.Context, v *visit, child client.Object) (ok bool, err error) {
	_, err = b.children.Apply(ctx, v.instance, child)
	return b.addTrouble(v, err)
}

func (b *Controller) addTrouble(v *visit, err error) (ok bool, _ error) {
	var notOwned *objects.NotOwnedError
	if errors.As(err, &notOwned) {
		v.again(afterNotOwned) // what is somebody else's may not be watched
	}
	ok = err == nil
	t, err := troubleOf(err, v.instance.Namespace)
	if t != nil {
		v.troubles = append(v.troubles, *t)
	}
	if notOwned != nil {
		err = nil
	}
	return ok, err
}

// carryOut brings the children of an instance to what its plan says. What is wrong with one holds up only what cannot
// do without it: pods are started, or replaced, when their configuration and keys are there.
func (b *Controller) carryOut(ctx context.Context, v *visit) error {
	p := v.plan
	var errs []error
	complete := true
	step := func(ok bool, err error) {
		complete = complete && ok
		errs = append(errs, err)
	}
	var err error
	if v.pods, err = b.Servers.Pods(ctx, p.Server); err != nil {
		return err
	}
	step(b.applyAccount(ctx, v))
	step(b.applyConfig(ctx, v))
	step(b.applyClaim(ctx, v))
	step(b.applyKeySecrets(ctx, v))
	_, err = b.applyChild(ctx, v, p.Service)
	_, apiErr := b.applyChild(ctx, v, p.API)
	errs = append(errs, err, apiErr, b.applyBudget(ctx, v), b.checkBinding(ctx, v))
	if complete {
		errs = append(errs, b.applyDeployment(ctx, v))
	} else {
		v.kept = true
	}
	errs = append(errs, b.lookForZones(ctx, client.ObjectKeyFromObject(v.instance)))
	b.sweep(ctx, v)
	after, troubles := b.declare(ctx, p.Server, v.pods)
	v.again(after)
	v.troubles = append(v.troubles, troubles...)
	return errors.Join(append(errs, b.removeLeftovers(ctx, v))...)
}

// applyKeySecrets brings the keys of a server on, and reports whether it has all that it cannot start without.
func (b *Controller) applyKeySecrets(ctx context.Context, v *visit) (bool, error) {
	keys, err := b.applyKeys(ctx, v.plan.Server, v.pods)
	v.keys = keys
	v.again(keys.after)
	v.troubles = append(v.troubles, keys.troubles...)
	if err != nil {
		return b.addTrouble(v, err)
	}
	if keys.missing || v.plan.Parent == nil || v.plan.Parent.Kind != v1beta1.KindCluster {
		return !keys.missing, nil
	}
	return b.hasTransferKeys(ctx, v)
}

// hasTransferKeys reports whether the cluster of a server has its Secret for zone transfers. With one of somebody else,
// which need not have the items that pods mount, no pod would start.
func (b *Controller) hasTransferKeys(ctx context.Context, v *visit) (bool, error) {
	var cluster v1beta1.Bind9Cluster
	secret := servers.Metadata("Secret")
	key := client.ObjectKey{Namespace: v.instance.Namespace, Name: v.plan.TransferSecret()}
	err := b.Client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: v.plan.Cluster()}, &cluster)
	if err == nil {
		err = b.Client.Get(ctx, key, secret)
	}
	switch {
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading what %s is to have: %w", dialect.Describe("Secret", key), err)
	case err == nil && metav1.IsControlledBy(secret, &cluster):
		return true, nil
	case err == nil && secret.DeletionTimestamp.IsZero() &&
		(metav1.GetControllerOf(secret) != nil || secret.Labels[v1beta1.PartOfLabel] != v1beta1.PartOfValue):
		return b.addTrouble(v, &objects.NotOwnedError{Kind: "Secret", Key: key, Controller: metav1.GetControllerOf(secret)})
	}
	v.held = dialect.Sentence("The Secret %s of Bind9Cluster %s is not there yet.", key.Name, v.plan.Cluster())
	return false, nil
}
