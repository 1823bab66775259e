package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// deleteInstance deletes everything that an instance has, and lets it go when all of it is gone or on its way. It waits
// for no pod: one on a node that does not answer may never end.
func (b *Controller) deleteInstance(ctx context.Context, i *v1beta1.Bind9Instance) error {
	if !slices.Contains(i.Finalizers, v1beta1.InstanceFinalizer) {
		return nil
	}
	if !orphans(i) {
		if err := b.removeChildren(ctx, i); err != nil {
			t := dialect.Trouble{Reason: v1beta1.ReasonDeleting, Message: dialect.Sentence(
				"It is being deleted, but its children cannot be deleted: %v.", err)}
			return errors.Join(err, b.reportInstance(ctx, i, &visit{instance: i, troubles: []dialect.Trouble{t}}))
		}
	}
	return b.withoutFinalizer(ctx, i, v1beta1.InstanceFinalizer)
}

// orphans reports whether an object is deleted in such a way that what it has stays: kubectl delete --cascade=orphan.
func orphans(o client.Object) bool {
	return slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// removeChildren deletes what an instance, or a cluster without instances, controls in its namespace: pods first, then
// what they need.
func (b *Controller) removeChildren(ctx context.Context, owner client.Object) error {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	lists := []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.ConfigMapList{},
		metadata, &corev1.PersistentVolumeClaimList{},
	}
	var errs []error
	for _, l := range lists {
		if err := b.Client.List(ctx, l, client.InNamespace(owner.GetNamespace())); err != nil {
			errs = append(errs, fmt.Errorf("listing what %s/%s has: %w", owner.GetNamespace(), owner.GetName(), err))
			continue
		}
		errs = append(errs, meta.EachListItem(l, func(o runtime.Object) error {
			child, ok := o.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no object", o)
			}
			if m, ok := child.(*metav1.PartialObjectMetadata); ok {
				m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			}
			_, err := b.children.Remove(ctx, owner, child)
			return err
		}))
	}
	return errors.Join(errs...)
}
