package bindy

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

const signingCluster = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {namespace: %s, name: dns}, spec: {primaryReplicas: %d, secondaryReplicas: 1,
	global: {dnssec: {signing: {enabled: true, policy: ours%s}}}}}`

// TestASignedZone has one of two primaries sign a zone, and the other servers copy it: whoever is asked is believed,
// while records change, when the signer comes back, and when the zone is not to be signed any more.
func TestASignedZone(t *testing.T) {
	s, n := zoneStage(t, "signed")
	n.mu.Lock()
	n.volumes = map[string]string{}
	n.mu.Unlock()
	s.Apply(signingCluster, n.namespace, 2, `, keysFrom: {persistentVolume: {resources: {requests: {storage: 1Gi}}}}`)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	before := example.Status.DNSSEC
	if before == nil || !before.Signed || !strings.HasPrefix(before.Signer, n.namespace+"/dns-primary-") ||
		before.KeyTag == nil || before.Algorithm != "ECDSAP256SHA256" || before.DSRecords != nil {
		t.Fatalf("the status says %+v", before)
	}
	n.witness("www.example.com.", "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
	for host := 2; host < 4; host++ {
		s.Apply(addressRecord, n.namespace, "www", fmt.Sprintf("192.0.2.%d", host))
		s.Eventually("a change everywhere", func() string {
			return n.answers(3, "www.example.com.", dns.TypeA, fmt.Sprintf("192.0.2.%d", host))
		})
		s.Eventually("belief", func() string { return n.believed(3, "www.example.com", "none.example.com", "example.com") })
		s.Eventually("the same serial", func() string { return n.sameSerial(3) })
	}

	s.Remove(n.onePod(strings.TrimPrefix(before.Signer, n.namespace+"/"))) // whichever was known first
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.4")
	s.Eventually("a change by the signer that is back", func() string {
		return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.4")
	})
	s.Eventually("belief in it", func() string { return n.believed(3, "www.example.com") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Get(example)
	if after := example.Status.DNSSEC; after == nil || after.KeyTag == nil || *after.KeyTag != *before.KeyTag {
		t.Errorf("the keys are %+v after %+v", after, before)
	}

	s.Patch(example, `{"spec":{"dnssecPolicy":"none"}}`)
	s.Eventually("a zone without keys", func() string { return n.answers(3, "example.com.", dns.TypeDNSKEY, "") })
	s.Eventually("a status without them", func() string {
		s.Get(example)
		if d := example.Status.DNSSEC; d == nil || d.Signed || d.KeyTag != nil {
			return fmt.Sprintf("%+v", d)
		}
		return bindytest.Ready(example.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
	s.Eventually("all records", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.4") })
}

// TestASignerThatIsGone keeps the zone to itself: another signer would have other keys than the parent zone names, and
// so would one that is created again.
func TestASignerThatIsGone(t *testing.T) {
	s, n := zoneStage(t, "signer")
	n.keepVolumes()
	s.Apply(signingCluster, n.namespace, 1, `, keysFrom: {persistentVolume: {}}`)
	s.Apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	before := example.Status.DNSSEC
	cluster := &v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")}
	s.Patch(cluster, `{"spec":{"primaryReplicas":0}}`)
	same := func() {
		s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
		s.Quiet()
		if s.Get(example); !reflect.DeepEqual(example.Status.DNSSEC, before) {
			t.Errorf("the status says %+v after %+v", example.Status.DNSSEC, before)
		}
		s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	}
	same()
	s.Stop()
	s.start()
	same()
	s.Patch(cluster, `{"spec":{"primaryReplicas":1}}`)
	s.Eventually("word of the keys", func() string {
		s.Get(example)
		return bindytest.Ready(example.Status.Conditions, metav1.ConditionFalse, v1beta1.ReasonSigningRefused,
			"has lost the keys")
	})
	same()
	s.Remove(example)
	s.Eventually("the end of the zone", func() string { return s.IsGone(example) })
	s.Apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("belief in new keys", func() string { return n.believed(2, "none.example.com") })
}

// TestASignerThatIsCreatedAgainWithItsKeys has these on a claim that a person has made.
func TestASignerThatIsCreatedAgainWithItsKeys(t *testing.T) {
	s, n := zoneStage(t, "keeper")
	n.keepVolumes()
	s.Apply(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: %s, name: bindy-keys},
		spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, n.namespace)
	s.Apply(signingCluster, n.namespace, 0, "")
	const signer = `{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Instance, metadata: {namespace: %s,
		name: dns-primary-0}, spec: {clusterRef: dns, role: Primary, storage: {storageType: persistentVolumeClaim,
		persistentVolumeClaim: {claimName: bindy-keys}}}}`
	s.Apply(signer, n.namespace)
	s.Apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	before := example.Status.DNSSEC
	instance := &v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0")}
	s.Remove(instance)
	s.Eventually("the end of the signer", func() string { return s.IsGone(instance) })
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	s.Apply(signer, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("belief in the signer that is back", func() string { return n.believed(2, "none.example.com") })
	if s.Get(example); !reflect.DeepEqual(example.Status.DNSSEC, before) {
		t.Errorf("the status says %+v after %+v", example.Status.DNSSEC, before)
	}
}

// TestASignerWhoseClaimIsMadeAnew has lost its keys with the one before: who has the signed zone keeps it.
func TestASignerWhoseClaimIsMadeAnew(t *testing.T) {
	s, n := zoneStage(t, "claim")
	n.keepVolumes()
	s.Apply(signingCluster, n.namespace, 1, `, keysFrom: {persistentVolume: {}}`)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	before := example.Status.DNSSEC
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0-zones")}
	s.Has(claim)
	former := claim.UID
	n.setAway("dns-primary-0", true)
	s.Remove(claim)
	s.Eventually("another claim", func() string {
		if !s.Get(claim) || claim.UID == former {
			return "there is none"
		}
		return ""
	})
	n.setAway("dns-primary-0", false)
	s.Eventually("word of the keys", func() string {
		s.Get(example)
		return bindytest.Ready(example.Status.Conditions, metav1.ConditionFalse, v1beta1.ReasonSigningRefused,
			"has lost the keys")
	})
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.recordIs(n.namespace, "www", metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	s.Eventually("what is kept", func() string {
		return n.answersAt("dns-secondary-0", "www.example.com.", dns.TypeA, "192.0.2.1")
	})
	if s.Get(example); !reflect.DeepEqual(example.Status.DNSSEC, before) {
		t.Errorf("the status says %+v after %+v", example.Status.DNSSEC, before)
	}
}

// TestASignerThatIsDeletedWithoutItsClaim is made anew by its cluster, and takes over what it had, its keys too.
func TestASignerThatIsDeletedWithoutItsClaim(t *testing.T) {
	s, n := zoneStage(t, "orphan")
	n.keepVolumes()
	s.Apply(signingCluster, n.namespace, 1, `, keysFrom: {persistentVolume: {}}`)
	s.Apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	before, former := example.Status.DNSSEC, s.Instance(n.namespace, "dns-primary-0")
	s.Remove(former, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: bindytest.Named(n.namespace, "dns-primary-0-zones")}
	s.Eventually("the claim of the next", func() string {
		now := s.Instance(n.namespace, "dns-primary-0")
		if s.Get(claim); now.UID == "" || now.UID == former.UID || !metav1.IsControlledBy(claim, now) {
			return fmt.Sprintf("it is of %+v", claim.OwnerReferences)
		}
		return ""
	})
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("belief in it", func() string { return n.believed(2, "www.example.com") })
	if s.Get(example); !reflect.DeepEqual(example.Status.DNSSEC, before) {
		t.Errorf("the status says %+v after %+v", example.Status.DNSSEC, before)
	}
}

// TestAClusterThatSignsNoMore keeps the volume of the keys until the zone is not signed any more.
func TestAClusterThatSignsNoMore(t *testing.T) {
	s, n := zoneStage(t, "nomore")
	n.keepVolumes()
	s.Apply(signingCluster, n.namespace, 1, `, keysFrom: {persistentVolume: {}}`)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Patch(s.BindCluster(n.namespace, "dns"), `{"spec":{"global":{"dnssec":{"signing":{"enabled":false}}}}}`)
	s.Eventually("a zone without keys", func() string { return n.answers(2, "example.com.", dns.TypeDNSKEY, "") })
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("a change", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}

// TestAZoneThatBecomesSigned has two primaries serve it before, as equals.
func TestAZoneThatBecomesSigned(t *testing.T) {
	s, n := zoneStage(t, "becomes")
	n.mu.Lock()
	n.volumes = map[string]string{}
	n.mu.Unlock()
	s.Apply(signingCluster, n.namespace, 2, `, keysFrom: {persistentVolume: {}}`)
	s.Apply(exampleZone, n.namespace)
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Patch(example, `{"spec":{"dnssecPolicy":"none"}}`)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Eventually("every server", func() string { return n.answers(3, "www.example.com.", dns.TypeA, "192.0.2.1") })
	n.witness("www.example.com.", "192.0.2.1")
	s.Patch(example, `{"spec":{"dnssecPolicy":"ours"}}`)
	s.Eventually("belief", func() string { return n.believed(3, "www.example.com", "none.example.com") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Patch(example, `{"spec":{"dnssecPolicy":"theirs"}}`)
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	s.Eventually("belief yet", func() string { return n.believed(3, "www.example.com") })
}

// TestAZoneThatCannotBeSigned is served as it is, and says why.
func TestAZoneThatCannotBeSigned(t *testing.T) {
	s, n := zoneStage(t, "unsigned")
	s.Apply(signingCluster, n.namespace, 1, "")
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.zoneIs(n.namespace, metav1.ConditionFalse, v1beta1.ReasonSigningRefused)
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.Eventually("the servers", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	s.Eventually("no keys", func() string { return n.answers(2, "example.com.", dns.TypeDNSKEY, "") })
	example := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Get(example)
	c := meta.FindStatusCondition(example.Status.Conditions, v1beta1.ConditionReady)
	if !strings.Contains(c.Message, "dnssec.signing.keysFrom.persistentVolume") ||
		!meta.IsStatusConditionTrue(example.Status.Conditions, v1beta1.ConditionDegraded) || example.Status.DNSSEC != nil {
		t.Errorf("the status is %+v", example.Status)
	}
	s.Patch(example, `{"spec":{"dnssecPolicy":"none"}}`)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}

// believed complains of a server that a validating resolver which trusts the keys of the signer does not believe.
func (n *bindNode) believed(servers int, names ...string) string {
	m := new(dns.Msg)
	m.SetQuestion("example.com.", dns.TypeDNSKEY)
	answer, _, err := (&dns.Client{Net: "tcp", Timeout: 2 * time.Second}).Exchange(m, n.at("dns-primary-0"))
	if err != nil {
		return err.Error()
	}
	i := slices.IndexFunc(answer.Answer, func(r dns.RR) bool {
		k, ok := r.(*dns.DNSKEY)
		return ok && k.Flags&dns.SEP != 0
	})
	if i < 0 {
		return "there is no key"
	}
	k := answer.Answer[i].(*dns.DNSKEY)
	anchor := filepath.Join(n.TempDir(), "anchor")
	if err := os.WriteFile(anchor, fmt.Appendf(nil, "trust-anchors { example.com. static-key %d %d %d %q; };\n", k.Flags,
		k.Protocol, k.Algorithm, k.PublicKey), 0o600); err != nil {
		n.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := 0
	for _, p := range n.pods {
		if !p.ready {
			continue
		}
		asked++
		host, port, _ := net.SplitHostPort(p.dns)
		for _, name := range names {
			out, err := exec.CommandContext(n.Ctx, "delv", "@"+host, "-p", port, "-a", anchor, "+root=example.com", name,
				"A").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "fully validated") {
				return fmt.Sprintf("%s: %v %s", p.name, err, out)
			}
		}
	}
	if asked != servers {
		return fmt.Sprintf("%d servers are ready", asked)
	}
	return ""
}

// TestFieldsThatGoAreNamed has what is inside of an object go too.
func TestFieldsThatGoAreNamed(t *testing.T) {
	was := v1beta1.DNSZoneStatus{RecordsCount: 1, DNSSEC: &v1beta1.ZoneDNSSEC{Signed: true, Signer: "a/b", Algorithm: "x"}}
	is := v1beta1.DNSZoneStatus{RecordsCount: 1, DNSSEC: &v1beta1.ZoneDNSSEC{Signer: "a/b", Algorithm: "y"}}
	patch, err := objects.Differences(was, is)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(patch); got != "map[dnssec:map[algorithm:y signed:<nil>]]" {
		t.Errorf("the patch is %s", got)
	}
}
