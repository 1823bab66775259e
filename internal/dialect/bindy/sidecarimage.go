package bindy

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// existingSidecar is the repository of the existing Bindy's sidecar, under whatever registry: mirrors keep the path, or
// write it with other separators.
var existingSidecar = regexp.MustCompile(`(^|[/._-])firestoned[/._-]+bindcar([._-]+[a-z0-9]+)*$`)

// CheckSidecarImage refuses the sidecar of the existing Bindy. It does most of what it is asked for, and has pods ready
// that have no zones.
func CheckSidecarImage(image string) error {
	if !existingSidecar.MatchString(repositoryOf(image)) {
		return nil
	}
	return fmt.Errorf("the image %.200s is the sidecar of the existing Bindy, which cannot learn the zones of a pod, so "+
		"a pod without zones would become ready", image)
}

// repositoryOf is an image without its tag and digest.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return strings.ToLower(image)
}

// ImageIn is the image of a container of a pod.
func ImageIn(p *corev1.Pod, container string) string {
	for _, c := range p.Spec.Containers {
		if c.Name == container {
			return c.Image
		}
	}
	return ""
}
