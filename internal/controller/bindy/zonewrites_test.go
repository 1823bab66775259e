package bindy

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestWritesForRecordsOfAZone counts what many records of a zone cost, and what they cost at rest: nothing.
func TestWritesForRecordsOfAZone(t *testing.T) {
	s, n := zoneStage(t, "writes")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Apply(exampleZone, n.namespace)
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	s.Eventually("two servers that are ready", func() string {
		return n.answers(2, "r0.example.com.", dns.TypeA, "NXDOMAIN")
	})
	s.Eventually("a ready cluster", func() string {
		c := &v1beta1.Bind9Cluster{ObjectMeta: bindytest.Named(n.namespace, "dns")}
		s.Get(c)
		return bindytest.Ready(c.Status.Conditions, metav1.ConditionTrue, v1beta1.ReasonAllReady)
	})
	s.Quiet()
	s.Writes.Reset()
	const records = 60
	began := time.Now()
	for i := range records {
		s.Apply(addressRecord, n.namespace, fmt.Sprintf("r%d", i), "192.0.2.1")
	}
	for i := range records {
		s.recordIs(n.namespace, fmt.Sprintf("r%d", i), metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	}
	s.Quiet()
	t.Logf("%d records take %s", records, s.Writes)
	took := time.Since(began)
	const statusRest = time.Second / 2 // of a zone, after a write; see zones/backlog.go
	// Of serials: the zone has at most 61 of these, and each ceiling is further away than the last one.
	const ceilings = 3
	if got, most := s.Writes.Count("PATCH dnszones/status"), ceilings+1+int64(took/statusRest); got > most {
		t.Errorf("the status of the zone was written %d times in %s for %d records, not at most %d times", got, took, records,
			most)
	}
	if got := s.Writes.Count("PATCH arecords/status"); got != records {
		t.Errorf("the statuses of %d records were written %d times", records, got)
	}
	if got := s.Writes.Count("PATCH bind9instances/status") + s.Writes.Count("PATCH bind9instances"); got > 0 {
		t.Errorf("instances were written %d times", got)
	}

	s.Writes.Reset()
	for _, o := range []string{"dns-primary-0", "dns-secondary-0"} { // what concerns nobody
		s.Patch(&v1beta1.Bind9Instance{ObjectMeta: bindytest.Named(n.namespace, o)}, `{"metadata":{"labels":{"a":"b"}}}`)
	}
	s.Patch(&v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}, `{"metadata":{"labels":{"a":"b"}}}`)
	s.Patch(&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "r0")}, `{"metadata":{"labels":{"a":"b"}}}`)
	serial := n.sameSerial(2)
	if got := s.Quiet(); got != 0 || serial != "" {
		t.Errorf("at rest there are the writes %s, and the serials are %s", s.Writes, serial)
	}
}
