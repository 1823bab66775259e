package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestASignedZoneOutlivesItsSigner has the primary of a fleet sign a zone, with keys on a volume, and takes its pod
// away: a validating resolver believes every server before and after, with the keys of before.
func TestASignedZoneOutlivesItsSigner(t *testing.T) {
	s := newSite(t)
	ns, dir := s.namespace("a"), t.TempDir()
	if err := os.Chown(dir, 101, 101); err != nil { // fsGroup does not reach a hostPath
		t.Fatal(err)
	}
	s.apply(volume, s.word, s.word, dir)
	s.apply(clusterManifest, ns, "dns", fmt.Sprintf(`primaryReplicas: 1, secondaryReplicas: 1,
  global: {dnssec: {signing: {enabled: true, policy: ours, keysFrom: {persistentVolume: {storageClassName: %s}}}}}`, s.word))
	s.apply(zoneManifest, ns, "zone", "signed.example", "clusterRef: dns")
	s.apply(aManifest, ns, "www", "signed.example", "www", "192.0.2.1")
	s.awaitZone(ns, "zone")
	before := must(s, dnsZone("", ""), ns, "zone").Status.DNSSEC
	if before == nil || !before.Signed || before.KeyTag == nil || before.Signer != ns+"/dns-primary-0" ||
		before.Algorithm == "" {
		t.Fatalf("the status says %+v", before)
	}
	all := []string{"dns-primary-0", "dns-secondary-0"}
	anchor := s.anchor(s.servers(ns, all...)[0], "signed.example")
	s.believed(s.servers(ns, all...), anchor, "www.signed.example", "192.0.2.1")

	p := s.pod(ns, "dns-primary-0")
	s.remove(p)
	s.apply(aManifest, ns, "www", "signed.example", "www", "192.0.2.2") // waits for the signer
	s.believed(s.servers(ns, "dns-secondary-0"), anchor, "www.signed.example", "")
	s.another(ns, "dns-primary-0", p)
	s.believed(s.servers(ns, all...), anchor, "www.signed.example", "192.0.2.2")
	s.awaitZone(ns, "zone")
	if after := must(s, dnsZone("", ""), ns, "zone").Status.DNSSEC; after == nil || after.KeyTag == nil ||
		*after.KeyTag != *before.KeyTag {
		t.Errorf("the keys are %+v after %+v", after, before)
	}
	s.agree(s.servers(ns, all...), "signed.example", s.transferKey(ns, "dns"))

	s.patch(dnsZone(ns, "zone"), `{"spec":{"dnssecPolicy":"none"}}`)
	s.allDig(s.servers(ns, all...), "signed.example", dns.TypeDNSKEY, noData)
	s.allDig(s.servers(ns, all...), "www.signed.example", dns.TypeA, "30 192.0.2.2")
	s.eventually("a zone that is not signed", func() string {
		z := must(s, dnsZone("", ""), ns, "zone")
		if z.Status.DNSSEC != nil && (z.Status.DNSSEC.Signed || z.Status.DNSSEC.KeyTag != nil) {
			return fmt.Sprintf("%+v", z.Status.DNSSEC)
		}
		return s.ready(z, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
}

// anchor writes a file that has resolvers believe the key that a server shows now.
func (s *site) anchor(v server, zone string) (path string) {
	s.Helper()
	s.eventually("a key of "+zone, func() string {
		answer, err := exchange(s.ctx, "tcp", v.at, question(zone, dns.TypeDNSKEY), nil)
		if err != nil {
			return err.Error()
		}
		for _, r := range answer.Answer {
			if k, ok := r.(*dns.DNSKEY); ok && k.Flags&dns.SEP != 0 {
				path = filepath.Join(s.TempDir(), "anchor")
				content := fmt.Appendf(nil, "trust-anchors { %s. static-key %d %d %d %q; };\n", zone, k.Flags, k.Protocol,
					k.Algorithm, k.PublicKey)
				return text(os.WriteFile(path, content, 0o600))
			}
		}
		return "there is none"
	})
	return path
}

// believed waits until a validating resolver that trusts the anchor believes what every server says of a name, and that
// a name is not there.
func (s *site) believed(servers []server, anchor, name, want string) {
	s.Helper()
	_, zone, _ := strings.Cut(name, ".")
	for _, ask := range []struct{ name, want string }{{name, want}, {"none." + zone, "fully validated"}} {
		s.eventually("belief in "+ask.name, func() string {
			for _, v := range servers {
				out, err := exec.CommandContext(s.ctx, "delv", "@"+v.at.Addr().String(), "-p", fmt.Sprint(v.at.Port()), "-a",
					anchor, "+root="+zone, ask.name, "A").CombinedOutput()
				if err != nil || !strings.Contains(string(out), "fully validated") || !strings.Contains(string(out), ask.want) {
					return fmt.Sprintf("%s: %v %s", v, err, out)
				}
			}
			return ""
		})
	}
}
