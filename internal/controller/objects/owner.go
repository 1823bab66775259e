package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A NotOwnedError says that an object which we would write is somebody else's.
type NotOwnedError struct {
	Kind       string
	Key        client.ObjectKey
	Controller *metav1.OwnerReference // nil: nobody's, so a person's
}

// Error names the object and the way out.
func (e *NotOwnedError) Error() string {
	object := named(e.Kind, e.Key)
	if e.Controller == nil {
		return fmt.Sprintf("the %s was not made by the operator, which leaves it alone; rename or delete it so that the "+
			"operator can make its own",
			object)
	}
	return fmt.Sprintf(
		"the %s belongs to %s %s (uid %s), so the operator leaves it alone; rename or delete one of the two",
		object, e.Controller.Kind, e.Controller.Name, e.Controller.UID)
}

// ownerReference is what a child has of its owner.
func (a *Applier) ownerReference(owner client.Object) (metav1.OwnerReference, error) {
	gvk, err := a.Writer.Client.GroupVersionKindFor(owner)
	if err != nil {
		return metav1.OwnerReference{}, fmt.Errorf("finding the kind of %T: %w", owner, err)
	}
	return metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}, nil
}

// mayTake says why a live object must not be written: it is controlled by somebody else, or by nobody and not to be
// taken.
func (a *Applier) mayTake(owner, live client.Object, w wanted) error {
	ref := metav1.GetControllerOf(live)
	switch {
	case owner == nil && ref == nil, owner != nil && metav1.IsControlledBy(live, owner):
		return nil
	case owner != nil && ref == nil && a.Takes(live, w.object):
		return nil
	}
	return &NotOwnedError{Kind: w.gvk.Kind, Key: w.id.ObjectKey, Controller: ref}
}

// lostToItsEnd reports whether an object has lost its owner because that is being deleted, which the cache may not know
// yet: what shall outlive it is taken from it first.
func (a *Applier) lostToItsEnd(ctx context.Context, owner, live client.Object) (bool, error) {
	if owner == nil || metav1.IsControlledBy(live, owner) {
		return false, nil
	}
	now, ok := owner.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("%T is no object", owner)
	}
	err := a.Live.Get(ctx, client.ObjectKeyFromObject(owner), now)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("reading the owner %s/%s: %w", owner.GetNamespace(), owner.GetName(), err)
	}
	return now.GetUID() != owner.GetUID() || !now.GetDeletionTimestamp().IsZero(), nil
}
