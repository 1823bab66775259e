package e2e_test

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/internal/bindcar"
)

func TestTheOperatorRunsConfined(t *testing.T) {
	s := newSite(t)
	s.awaitOperators()
	for _, p := range s.operators() {
		s.isConfined(&p, 65532)
	}
}

// isConfined complains of what a pod may do and does not need. That its namespace took it says the same of what Pod
// Security knows.
func (s *site) isConfined(p *corev1.Pod, user int64) {
	s.Helper()
	own := p.Spec.SecurityContext
	if own == nil || own.RunAsNonRoot == nil || !*own.RunAsNonRoot || own.RunAsUser == nil || *own.RunAsUser != user ||
		own.SeccompProfile == nil ||
		own.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		s.Errorf("the security context of %s is %+v", p.Name, own)
	}
	if p.Spec.HostNetwork || p.Spec.HostPID || p.Spec.HostIPC {
		s.Errorf("%s is not apart from its node", p.Name)
	}
	for _, c := range p.Spec.Containers {
		sc := c.SecurityContext
		if sc == nil || sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation ||
			sc.ReadOnlyRootFilesystem == nil || !*sc.ReadOnlyRootFilesystem ||
			sc.Capabilities == nil || len(sc.Capabilities.Add) > 0 || len(sc.Capabilities.Drop) != 1 ||
			sc.Capabilities.Drop[0] != "ALL" {
			s.Errorf("the security context of %s in %s is %+v", c.Name, p.Name, sc)
		}
	}
}

func TestPodsAreConfinedAndZonesTransferredWithTheKeyAlone(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 1, secondaryReplicas: 1")
	s.awaitReady(cluster(ns, "dns"))
	for _, p := range s.pods(ns, "") {
		s.isConfined(&p, 101)
		for _, container := range []string{"bind9", "api"} { // there is nothing to run in them
			if _, err := s.cluster.RunKubectl(s.ctx, "exec", "-n", ns, p.Name, "-c", container, "--", "sh", "-c",
				"true"); err == nil {
				t.Errorf("there is a shell in %s of %s", container, p.Name)
			}
		}
	}

	const zone = "transferred.example"
	s.makeZone(ns, "dns-primary-0", zone)
	primary, k := s.pod(ns, "dns-primary-0"), s.key(ns, "dns-transfer-key")
	primaries := []string{hostPort(s.podAddress(primary), podPort) + " key " + k.name}
	copied := bindcar.CreateZone{ZoneName: zone, ZoneType: "secondary", ZoneConfig: bindcar.ZoneConfig{
		TTL: 60, SOA: bindcar.SOA{PrimaryNS: "ns." + zone + ".", AdminEmail: "admin." + zone + "."}, Primaries: &primaries,
	}}
	if _, err := s.sidecar(ns, "dns-secondary-0").Create(s.ctx, copied); err != nil {
		t.Fatal(err)
	}
	s.resolves(netip.AddrPortFrom(s.podAddress(s.pod(ns, "dns-secondary-0")), podPort), "www."+zone, "192.0.2.1")
	s.awaitReady(cluster(ns, "dns"))
	for _, name := range s.instances(ns) {
		at := s.service(ns, name).At(servicePort)
		own := s.key(ns, name+"-rndc-key")
		for sentence, wrong := range map[string]*key{"without a key": nil, "with the key for updates": &own,
			"with a key of that name": {k.name, k.algorithm, own.secret}} {
			if n, err := transfer(at, zone, wrong); err == nil || n > 0 {
				t.Errorf("%s gives %d records %s (%v)", name, n, sentence, err)
			}
		}
		if n, err := transfer(at, zone, &k); err != nil || n < 4 {
			t.Errorf("%s gives %d records with the transfer key: %v", name, n, err)
		}
	}
}
