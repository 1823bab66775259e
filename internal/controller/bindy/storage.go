package bindy

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// defaultSize is that of a claim whose spec names none.
const defaultSize = "1Gi"

// claimFor is the claim that is made for a server; nil if it has none, or one of the user's.
func (s *server) claimFor() (*corev1.PersistentVolumeClaim, error) {
	if s.claim == nil || s.claim.ClaimName != "" {
		return nil, nil
	}
	text := s.claim.Size
	if text == "" {
		text = defaultSize
	}
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Sign() <= 0 {
		return nil, fmt.Errorf("spec.storage.persistentVolumeClaim.size is %.40q; write an amount of storage such as 1Gi", text)
	}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	if len(s.claim.AccessModes) > 0 {
		modes = nil
		for _, m := range s.claim.AccessModes {
			modes = append(modes, corev1.PersistentVolumeAccessMode(m))
		}
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.instance.Namespace, Name: s.claimName(), Labels: s.labels()},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: s.claim.StorageClassName,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}, nil
}

// applyClaim makes the claim of a server. A claim can only grow: everything else about it stays as it was made, and what the spec
// asks for in vain is told.
func (b *Controller) applyClaim(ctx context.Context, v *visit) (bool, error) {
	want := v.plan.zones
	if want == nil {
		return true, nil
	}
	var live corev1.PersistentVolumeClaim
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(want), &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", describe("PersistentVolumeClaim", client.ObjectKeyFromObject(want)), err)
	}
	if err == nil && metav1.IsControlledBy(&live, v.instance) {
		if complaint := keep(want, &live); complaint != "" {
			v.troubles = append(v.troubles, trouble{v1beta1.ReasonInvalidSpec, complaint})
		}
	}
	_, err = b.apply(ctx, v.instance, want)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) { // for instance, the storage class lets no volume grow
		v.again(afterRefusal)
		v.troubles = append(v.troubles, trouble{v1beta1.ReasonInvalidSpec, sentence("The API server refuses the claim that spec.storage asks for; what there is stays in use: %v.", err)})
		return live.Name != "", nil
	}
	return b.noted(v, err)
}

// keep puts into a wanted claim what cannot be changed of the live one, and says which wishes are not met.
func keep(want, live *corev1.PersistentVolumeClaim) string {
	var vain []string
	if want.Spec.StorageClassName != nil && ptr.Deref(live.Spec.StorageClassName, "") != *want.Spec.StorageClassName {
		vain = append(vain, fmt.Sprintf("its storage class is %q and cannot become %q", ptr.Deref(live.Spec.StorageClassName, ""), *want.Spec.StorageClassName))
	}
	want.Spec.StorageClassName = live.Spec.StorageClassName
	if !slices.Equal(want.Spec.AccessModes, live.Spec.AccessModes) {
		vain = append(vain, fmt.Sprintf("its access modes are %v and cannot become %v", live.Spec.AccessModes, want.Spec.AccessModes))
		want.Spec.AccessModes = live.Spec.AccessModes
	}
	is, asked := live.Spec.Resources.Requests[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if asked.Cmp(is) < 0 {
		vain = append(vain, fmt.Sprintf("its size is %s and cannot shrink to %s", &is, &asked))
		want.Spec.Resources.Requests[corev1.ResourceStorage] = is
	}
	if len(vain) == 0 {
		return ""
	}
	return sentence("The PersistentVolumeClaim %s stays as it was made: %s. Take that out of spec.storage; or delete the claim and the pod, which loses "+
		"the zones that it holds until they are written again, and it is made anew.", live.Name, list(vain))
}
