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

// TestRecordsOfTheExistingBindyGo has records with its finalizers deleted: nobody else takes these off. Others' stay.
func TestRecordsOfTheExistingBindyGo(t *testing.T) {
	s, n := zoneStage(t, "held")
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {namespace: %s, name: www, finalizers: [%s, example.org/keep]},
		spec: {zone: example.com, name: www, ipv4: 192.0.2.1}}`, n.namespace, v1beta1.ARecordFinalizer)
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: TXTRecord, metadata: {namespace: %s, name: text, finalizers: [%s]},
		spec: {zone: example.com, name: text, text: [a]}}`, n.namespace, v1beta1.TXTRecordFinalizer)
	text, www := &v1beta1.TXTRecord{ObjectMeta: bindytest.Named(n.namespace, "text")},
		&v1beta1.ARecord{ObjectMeta: bindytest.Named(n.namespace, "www")}
	s.Remove(text)
	s.Remove(www)
	s.Eventually("a record that is deleted", func() string { return s.IsGone(text) })
	s.Eventually("a record that somebody else keeps", func() string {
		if s.Get(www); len(www.Finalizers) != 1 || www.Finalizers[0] != "example.org/keep" {
			return fmt.Sprint(www.Finalizers)
		}
		return ""
	})
	s.Patch(www, `{"metadata":{"finalizers":null}}`)
	s.Eventually("its end", func() string { return s.IsGone(www) })
}

// TestARecordThatIsDeletedAndKept by somebody else says that it is not published any more.
func TestARecordThatIsDeletedAndKept(t *testing.T) {
	s, n := zoneStage(t, "kept")
	s.Apply(clusterWith, n.namespace, 1, 0)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	www := s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	s.Patch(www, `{"metadata":{"finalizers":["example.org/keep"]}}`)
	s.Remove(www)
	www = s.recordIs(n.namespace, "www", metav1.ConditionFalse, v1beta1.ReasonDeleting)
	if www.Status.PublishedName != "" || www.Status.Addresses != "" || www.Status.RecordHash != "" ||
		www.Status.ZoneRef != nil {
		t.Errorf("the status says yet %+v", www.Status)
	}
	s.Eventually("the server", func() string { return n.answers(1, "www.example.com.", dns.TypeA, "NXDOMAIN") })
	s.Quiet()
	s.Writes.Reset()
	s.Patch(www, `{"metadata":{"labels":{"a":"b"}}}`)
	s.Quiet()
	if writes := s.Writes.Count("PATCH arecords/status"); writes > 0 {
		t.Errorf("the status was written %d times more", writes)
	}
	s.Patch(www, `{"metadata":{"finalizers":null}}`)
	s.Eventually("its end", func() string { return s.IsGone(www) })
}

// TestAZoneThatWasDeletedBefore was held by the existing Bindy, or is on no server, and was deleted while no operator
// ran: it has nothing to wait for.
func TestAZoneThatWasDeletedBefore(t *testing.T) {
	s, n := zoneStage(t, "before")
	s.Quiet()
	s.Stop()
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example, finalizers: [%s]},
		spec: {zoneName: example.com, clusterRef: dns, soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com}}}`, n.namespace, v1beta1.ZoneFinalizer)
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(n.namespace, "example")}
	s.Remove(o)
	s.start()
	began := time.Now()
	s.Eventually("its end", func() string { return s.IsGone(o) })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
