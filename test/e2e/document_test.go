package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// documents are the manifests of the document, as they stand there.
const documents = "../schema/testdata/bindy/document"

// kubectl runs it, and returns what it prints.
func (s *site) kubectl(args ...string) string {
	s.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// TestTheDocumentsZoneAndRecord applies the document's cluster, instance, zone and record as they stand there, the
// record first, and looks at everything that the document says of them.
func TestTheDocumentsZoneAndRecord(t *testing.T) {
	s := newSite(t)
	const ns = "platform-dns"
	if err := s.client.Create(s.ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns,
			Labels: map[string]string{restricted: "restricted"}}}); err != nil {
		t.Fatal(err)
	}
	s.namespaces = append(s.namespaces, ns)
	file := func(name string) { s.kubectl("apply", "-f", filepath.Join(documents, name+".yaml")) }
	www, zone := aRecord(ns, "www-example-com"), dnsZone(ns, "example-zone")

	file("arecord")
	s.eventually("a record without a zone", func() string {
		return s.ready(www, metav1.ConditionFalse, v1beta1.ReasonZoneNotFound, "example.com")
	})
	file("dnszone")
	s.eventually("a zone without servers", func() string {
		return s.ready(zone, metav1.ConditionFalse, v1beta1.ReasonNoInstances, "my-cluster")
	})
	s.eventually("a record in it", func() string { return s.ready(www, metav1.ConditionFalse, v1beta1.ReasonNoInstances) })
	file("bind9instance")
	s.eventually("an instance without its cluster", func() string {
		return s.ready(instance(ns, "my-cluster-primary-0"), metav1.ConditionFalse, v1beta1.ReasonClusterNotFound)
	})
	file("bind9cluster") // which takes it for the one that it would make
	names := []string{"my-cluster-primary-0", "my-cluster-primary-1", "my-cluster-secondary-0", "my-cluster-secondary-1",
		"my-cluster-secondary-2"}
	for _, what := range []string{"bind9cluster/my-cluster", "dnszone/example-zone", "arecord/www-example-com"} {
		s.kubectl("wait", "-n", ns, "--for=condition=Ready", what, "--timeout=3m")
	}
	s.has(ns, names...)
	servers := s.servers(ns)
	s.allDig(servers, "www.example.com", dns.TypeA, "300 192.0.2.1")
	whole := s.agree(servers, "example.com", s.transferKey(ns, "my-cluster"))
	if soa := whole.soa; soa.Ns != "ns1.example.com." || soa.Mbox != "admin.example.com." || soa.Hdr.Ttl != 3600 {
		t.Errorf("the SOA is %s", &soa)
	}
	for _, name := range names { // as its users reach it
		s.resolves(s.service(ns, name).At(servicePort), "www.example.com", "192.0.2.1")
	}
	s.isAsInTheDocument(zone, names)
	columns(t, s.kubectl("get", "dnszones", "-n", ns), "NAME ZONE PROVIDER RECORDS INSTANCES TTL READY AGE",
		"example-zone example.com my-cluster 1 5 True")
	columns(t, s.kubectl("get", "arecords", "-n", ns), "NAME NAME ZONE ADDRESSES TTL READY AGE",
		"www-example-com www example.com 192.0.2.1 300 True")

	s.patch(zone, `{"spec":{"soa":{"adminEmail":"hostmaster.example.com"}}}`)
	s.eventually("generation 2", func() string {
		if s.get(zone); zone.Status.ObservedGeneration != 2 {
			return fmt.Sprintf("the status tells of generation %d", zone.Status.ObservedGeneration)
		}
		return s.ready(zone, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	})
	if now := s.agree(servers, "example.com",
		s.transferKey(ns, "my-cluster")); now.soa.Mbox != "hostmaster.example.com." || now.soa.Serial <= whole.soa.Serial {
		t.Errorf("the SOA is %s, after serial %d", &now.soa, whole.soa.Serial)
	}
	s.kubectl("delete", "-f", filepath.Join(documents, "arecord.yaml"), "--timeout=1m")
	s.allDig(servers, "www.example.com", dns.TypeA, noName)
	s.kubectl("delete", "-f", filepath.Join(documents, "dnszone.yaml"), "--timeout=2m")
	s.allDig(servers, "example.com", dns.TypeSOA, noZone)
}

// isAsInTheDocument complains of a status that differs from that of the document in more than names, UIDs and times.
func (s *site) isAsInTheDocument(zone *v1beta1.DNSZone, names []string) {
	s.Helper()
	s.awaitZone(zone.Namespace, zone.Name)
	s.get(zone)
	c := meta.FindStatusCondition(zone.Status.Conditions, "Ready")
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != "AllInstancesConfigured" ||
		zone.Status.ObservedGeneration != zone.Generation {
		s.Errorf("of generation %d the status says %+v", zone.Generation, zone.Status)
	}
	if n := int(zone.Status.Bind9InstancesCount); n != len(names) || len(zone.Status.Bind9Instances) != n {
		s.Fatalf("it has %d instances: %+v", n, zone.Status.Bind9Instances)
	}
	for n, i := range zone.Status.Bind9Instances {
		live := must(s, instance("", ""), zone.Namespace, names[n])
		if i.Name != live.Name || i.Namespace != live.Namespace || i.UID != string(live.UID) || i.State != "Configured" ||
			i.LastSyncTime == nil || i.Message != "" {
			s.Errorf("instance %d is %+v", n, i)
		}
	}
	first := s.kubectl("get", "dnszone", zone.Name, "-n", zone.Namespace, "-o",
		"jsonpath={.status.bind9Instances[0].lastSyncTime}")
	if _, err := time.Parse("2006-01-02T15:04:05Z", first); err != nil {
		s.Errorf("lastSyncTime is not written as in the document: %v", err)
	}
}

// columns complains of a table of kubectl that is another one, apart from its last column.
func columns(t *testing.T, out string, want ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		if i >= len(want) || !strings.HasPrefix(strings.Join(strings.Fields(line), " "), want[i]) {
			t.Errorf("line %d is %q, want %q", i+1, line, want)
			return
		}
	}
	if len(lines) != len(want) {
		t.Errorf("there are %d lines:\n%s", len(lines), out)
	}
}
