package bindy

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A NotOwnedError says that an object which we would write is somebody else's.
type NotOwnedError struct {
	Kind       string
	Key        client.ObjectKey
	Controller *metav1.OwnerReference // nil: nobody's, so a person's
}

// Error names the object and the way out.
func (e *NotOwnedError) Error() string {
	object := dialect.Describe(e.Kind, e.Key)
	if e.Controller == nil {
		return fmt.Sprintf("the %s was made by somebody else and is left alone; rename or delete it, and it is made here",
			object)
	}
	return fmt.Sprintf("the %s belongs to %s %s (uid %s) and is left alone; rename or delete one of the two",
		object, e.Controller.Kind, e.Controller.Name, e.Controller.UID)
}

// ownerReference is what a child has of its owner.
func ownerReference(c client.Client, owner client.Object) (metav1.OwnerReference, error) {
	gvk, err := c.GroupVersionKindFor(owner)
	if err != nil {
		return metav1.OwnerReference{}, fmt.Errorf("finding the kind of %T: %w", owner, err)
	}
	return metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}, nil
}

// mayTake says why a live object must not be written: it is controlled by somebody else, or by nobody and neither
// marked as one that this owner made nor the same. Clusters and instances are made by people, too, under any name.
func mayTake(owner, live client.Object, w wanted) error {
	ref := metav1.GetControllerOf(live)
	switch {
	case owner == nil && ref == nil, owner != nil && metav1.IsControlledBy(live, owner):
		return nil
	case owner != nil && ref == nil && bearsMark(live, w):
		// it lost its owner reference, or was restored from a backup without
		return nil
	case owner != nil && ref == nil && isThatOne(live, w):
		return nil
	}
	return &NotOwnedError{Kind: w.gvk.Kind, Key: w.id.ObjectKey, Controller: ref}
}

// lostToItsEnd reports whether an object has lost its owner because that is being deleted, which the cache may not know
// yet: what shall outlive it is taken from it first.
func (a *applier) lostToItsEnd(ctx context.Context, owner, live client.Object) (bool, error) {
	if owner == nil || metav1.IsControlledBy(live, owner) {
		return false, nil
	}
	now, ok := owner.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("%T is no object", owner)
	}
	err := a.live.Get(ctx, client.ObjectKeyFromObject(owner), now)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("reading the owner %s/%s: %w", owner.GetNamespace(), owner.GetName(), err)
	}
	return now.GetUID() != owner.GetUID() || !now.GetDeletionTimestamp().IsZero(), nil
}

// isThatOne reports whether an instance that somebody made is the very one that its cluster would make: it has its
// name, says that it is part of the cluster, and in which role, and asks for nothing of its own.
func isThatOne(live client.Object, w wanted) bool {
	i, ok := live.(*v1beta1.Bind9Instance)
	if !ok {
		return false
	}
	var want v1beta1.Bind9Instance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.object.Object, &want); err != nil {
		return false
	}
	more := *i.Spec.DeepCopy()
	more.ClusterRef, more.Role, more.Replicas = "", "", nil
	return reflect.DeepEqual(more, v1beta1.Bind9InstanceSpec{}) && i.Spec.ClusterRef == want.Spec.ClusterRef &&
		i.Spec.Role.Canonical() == want.Spec.Role.Canonical() && i.Spec.ReplicasOrDefault() == want.Spec.ReplicasOrDefault()
}

// bearsMark reports whether an object has the labels by which those of the dialect are known.
func bearsMark(live client.Object, w wanted) bool {
	is, want := live.GetLabels(), w.object.GetLabels()
	if w.gvk.Group != v1beta1.GroupVersion.Group {
		return is[v1beta1.PartOfLabel] == v1beta1.PartOfValue
	}
	return want[v1beta1.ManagedByLabel] != "" && is[v1beta1.ManagedByLabel] == want[v1beta1.ManagedByLabel] &&
		is[v1beta1.ClusterLabel] == want[v1beta1.ClusterLabel]
}
