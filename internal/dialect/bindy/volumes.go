package bindy

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// What a user's volume may be, and where it may be mounted: nothing of the node's, no Secret that was not meant for
// name servers, and no place that BIND or the sidecar have files at.
const objectPrefix = "bindy-"

func mountRoots() []string { return []string{"/data/", "/var/log/bind/"} }

// userVolumes decodes and checks the volumes of a spec. The error names the one that cannot be used.
func userVolumes(volumes, mounts []v1beta1.Fragment) ([]corev1.Volume, []corev1.VolumeMount, error) {
	outVolumes := make([]corev1.Volume, len(volumes))
	known := map[string]bool{}
	for n := range volumes {
		v := &outVolumes[n]
		if err := volumes[n].Into(v); err != nil {
			return nil, nil, fmt.Errorf("spec.volumes[%d] cannot be used: %w", n, err)
		}
		if err := checkVolume(v); err != nil {
			return nil, nil, fmt.Errorf("spec.volumes[%d] (%s) cannot be used: %w", n, v.Name, err)
		}
		if known[v.Name] {
			return nil, nil, fmt.Errorf("spec.volumes[%d]: the name %q is taken; give it another one", n, v.Name)
		}
		known[v.Name] = true
	}
	outMounts := make([]corev1.VolumeMount, len(mounts))
	for n := range mounts {
		m := &outMounts[n]
		if err := mounts[n].Into(m); err != nil {
			return nil, nil, fmt.Errorf("spec.volumeMounts[%d] cannot be used: %w", n, err)
		}
		if err := checkMount(m, known); err != nil {
			return nil, nil, fmt.Errorf("spec.volumeMounts[%d] (%s) cannot be used: %w", n, m.Name, err)
		}
	}
	return outVolumes, outMounts, nil
}

func checkVolume(v *corev1.Volume) error {
	switch v.Name {
	case "", configVolume, dataVolume, scratchVolume, tokenVolume:
		return fmt.Errorf("its name is empty, or already in use: %s, %s, %s, %s", configVolume, dataVolume,
			scratchVolume, tokenVolume)
	}
	var name string
	source := v.VolumeSource
	switch {
	case source == corev1.VolumeSource{EmptyDir: source.EmptyDir} && source.EmptyDir != nil:
		return nil
	case source == corev1.VolumeSource{ConfigMap: source.ConfigMap} && source.ConfigMap != nil:
		name = source.ConfigMap.Name
	case source == corev1.VolumeSource{Secret: source.Secret} && source.Secret != nil:
		name = source.Secret.SecretName
	case source == corev1.VolumeSource{PersistentVolumeClaim: source.PersistentVolumeClaim} &&
		source.PersistentVolumeClaim != nil:
		name = source.PersistentVolumeClaim.ClaimName
	default:
		return fmt.Errorf("a volume must be emptyDir, configMap, secret or persistentVolumeClaim")
	}
	return checkObject(name)
}

func checkObject(name string) error {
	if !strings.HasPrefix(name, objectPrefix) {
		return fmt.Errorf(
			"it names %.80q, but name servers may read only objects whose names begin with %s", name, objectPrefix)
	}
	return nil
}

// checkEnv refuses what would show a container, whose image is the user's choice too, what no volume may show it.
func checkEnv(e *corev1.EnvVar) error {
	if e.Name == "" {
		return fmt.Errorf("it has no name")
	}
	if e.Name == requireContent {
		return fmt.Errorf("changing it would make pods ready without their zones; remove it")
	}
	switch from := e.ValueFrom; {
	case from == nil:
		return nil
	case from.SecretKeyRef != nil:
		return checkObject(from.SecretKeyRef.Name)
	case from.ConfigMapKeyRef != nil:
		return checkObject(from.ConfigMapKeyRef.Name)
	case from.FieldRef != nil || from.ResourceFieldRef != nil:
		return nil
	}
	return fmt.Errorf("its valueFrom is not one of secretKeyRef, configMapKeyRef, fieldRef and resourceFieldRef")
}

func checkMount(m *corev1.VolumeMount, known map[string]bool) error {
	if !known[m.Name] {
		return fmt.Errorf("spec.volumes has no volume of that name")
	}
	if m.SubPath != "" || m.SubPathExpr != "" {
		return fmt.Errorf("subPath is not accepted: such a mount never shows a change")
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		return fmt.Errorf("mountPropagation can only be None")
	}
	clean := path.Clean(m.MountPath)
	for _, root := range mountRoots() {
		if clean == m.MountPath && strings.HasPrefix(clean, root) {
			return nil
		}
	}
	return fmt.Errorf("its mountPath is %.80q; mount it below %s, without .. in the path", m.MountPath,
		strings.Join(mountRoots(), " or "))
}
