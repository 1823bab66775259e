package bindy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultSize is that of a claim whose spec names none.
const defaultSize = "1Gi"

// claimFor is the claim that is made for a server; nil if it has none, or one of the user's.
func (s *Server) claimFor() (*corev1.PersistentVolumeClaim, error) {
	if s.claim == nil || s.claim.ClaimName != "" {
		return nil, nil
	}
	text := s.claim.Size
	if text == "" {
		text = defaultSize
	}
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Sign() <= 0 {
		return nil, fmt.Errorf("spec.storage.persistentVolumeClaim.size is %.40q; write an amount of storage such as 1Gi",
			text)
	}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	if len(s.claim.AccessModes) > 0 {
		modes = nil
		for _, m := range s.claim.AccessModes {
			modes = append(modes, corev1.PersistentVolumeAccessMode(m))
		}
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: s.claimName(), Labels: s.Labels()},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: s.claim.StorageClassName,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}, nil
}
