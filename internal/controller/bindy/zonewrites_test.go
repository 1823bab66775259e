package bindy

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestWritesForRecordsOfAZone counts what many records of a zone cost, and what they cost at rest: nothing.
func TestWritesForRecordsOfAZone(t *testing.T) {
	s, n := zoneStage(t, "writes")
	s.apply(clusterWith, n.namespace, 1, 1)
	s.apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.eventually("two servers that are ready", func() string {
		return n.answers(2, "r0.example.com.", dns.TypeA, "NXDOMAIN")
	})
	s.eventually("a ready cluster", func() string {
		c := &v1beta1.Bind9Cluster{ObjectMeta: named(n.namespace, "dns")}
		s.get(c)
		return ready(c.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	s.quiet()
	s.writes.reset()
	const records = 60
	began := time.Now()
	for i := range records {
		s.apply(addressRecord, n.namespace, fmt.Sprintf("r%d", i), "192.0.2.1")
	}
	for i := range records {
		s.recordIs(n.namespace, fmt.Sprintf("r%d", i), metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	}
	s.quiet()
	t.Logf("%d records take %s", records, s.writes)
	took := time.Since(began)
	const ceilings = 3 // of serials: the zone has at most 61 serials, and each ceiling is further away than the last one
	if got, most := s.writes.count("PATCH dnszones/status"), ceilings+1+int64(took/statusRest); got > most {
		t.Errorf("the status of the zone was written %d times in %s for %d records, not at most %d times", got, took, records,
			most)
	}
	if got := s.writes.count("PATCH arecords/status"); got != records {
		t.Errorf("the statuses of %d records were written %d times", records, got)
	}
	if got := s.writes.count("PATCH bind9instances/status") + s.writes.count("PATCH bind9instances"); got > 0 {
		t.Errorf("instances were written %d times", got)
	}

	s.writes.reset()
	for _, o := range []string{"dns-primary-0", "dns-secondary-0"} { // what concerns nobody
		s.patch(&v1beta1.Bind9Instance{ObjectMeta: named(n.namespace, o)}, `{"metadata":{"labels":{"a":"b"}}}`)
	}
	s.patch(&v1beta1.DNSZone{ObjectMeta: named(n.namespace, "example")}, `{"metadata":{"labels":{"a":"b"}}}`)
	s.patch(&v1beta1.ARecord{ObjectMeta: named(n.namespace, "r0")}, `{"metadata":{"labels":{"a":"b"}}}`)
	serial := n.sameSerial(2)
	if got := s.quiet(); got != 0 || serial != "" {
		t.Errorf("at rest there are the writes %s, and the serials are %s", s.writes, serial)
	}
}
