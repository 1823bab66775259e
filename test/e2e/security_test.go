package e2e_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestTheOperatorRunsConfined(t *testing.T) {
	s := newSite(t)
	var pods corev1.PodList
	if n := s.count(&pods, client.InNamespace(testoperator.Namespace)); n != 2 {
		t.Fatalf("the operator has %d pods", n)
	}
	for i := range pods.Items {
		s.isConfined(&pods.Items[i], 65532)
	}
}

// isConfined complains of what a pod may do and does not need. That its namespace took it says the same of what Pod Security knows.
func (s *site) isConfined(p *corev1.Pod, user int64) {
	s.Helper()
	own := p.Spec.SecurityContext
	if own == nil || own.RunAsNonRoot == nil || !*own.RunAsNonRoot || own.RunAsUser == nil || *own.RunAsUser != user || own.SeccompProfile == nil ||
		own.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		s.Errorf("the security context of %s is %+v", p.Name, own)
	}
	if p.Spec.HostNetwork || p.Spec.HostPID || p.Spec.HostIPC {
		s.Errorf("%s is not apart from its node", p.Name)
	}
	for _, c := range p.Spec.Containers {
		sc := c.SecurityContext
		if sc == nil || sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation || sc.ReadOnlyRootFilesystem == nil || !*sc.ReadOnlyRootFilesystem ||
			sc.Capabilities == nil || len(sc.Capabilities.Add) > 0 || len(sc.Capabilities.Drop) != 1 || sc.Capabilities.Drop[0] != "ALL" {
			s.Errorf("the security context of %s in %s is %+v", c.Name, p.Name, sc)
		}
	}
}
