package fleet

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// applyClaim makes the claim of a server. A claim can only grow: everything else about it stays as it was made, and
// what the spec asks for in vain is told.
func (b *Controller) applyClaim(ctx context.Context, v *visit) (bool, error) {
	want := v.plan.Zones
	if want == nil {
		return true, nil
	}
	var live corev1.PersistentVolumeClaim
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(want), &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", dialect.Describe("PersistentVolumeClaim",
			client.ObjectKeyFromObject(want)), err)
	}
	if err == nil && metav1.IsControlledBy(&live, v.instance) {
		if complaint := keep(want, &live); complaint != "" {
			v.troubles = append(v.troubles, dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: complaint})
		}
	}
	_, err = b.children.Apply(ctx, v.instance, want)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) { // for instance, the storage class lets no volume grow
		v.again(afterRefusal)
		v.troubles = append(v.troubles, dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence(
			"The API server refuses the claim that spec.storage describes; the current one stays in use: %v.", err)})
		return live.Name != "", nil
	}
	return b.addTrouble(v, err)
}

// keep puts into a wanted claim what cannot be changed of the live one, and says which wishes are not met.
func keep(want, live *corev1.PersistentVolumeClaim) string {
	var vain []string
	if want.Spec.StorageClassName != nil && ptr.Deref(live.Spec.StorageClassName, "") != *want.Spec.StorageClassName {
		vain = append(vain, fmt.Sprintf("its storage class %q cannot change to %q", ptr.Deref(live.Spec.StorageClassName,
			""), *want.Spec.StorageClassName))
	}
	want.Spec.StorageClassName = live.Spec.StorageClassName
	if !slices.Equal(want.Spec.AccessModes, live.Spec.AccessModes) {
		vain = append(vain, fmt.Sprintf("its access modes %v cannot change to %v", live.Spec.AccessModes,
			want.Spec.AccessModes))
		want.Spec.AccessModes = live.Spec.AccessModes
	}
	is, asked := live.Spec.Resources.Requests[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if asked.Cmp(is) < 0 {
		vain = append(vain, fmt.Sprintf("its size %s cannot shrink to %s", &is, &asked))
		want.Spec.Resources.Requests[corev1.ResourceStorage] = is
	}
	if len(vain) == 0 {
		return ""
	}
	return dialect.Sentence("The PersistentVolumeClaim %s cannot be changed: %s. Undo the change of spec.storage, or "+
		"delete the claim and the pod; a new claim is empty until zones are written again.", live.Name, dialect.List(vain))
}
