package bindy

import (
	"fmt"
	"testing"
	"time"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestRecordsOfTheExistingBindyGo has records with its finalizers deleted: nobody else takes these off. Others' stay.
func TestRecordsOfTheExistingBindyGo(t *testing.T) {
	s, n := zoneStage(t, "held")
	s.apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord, metadata: {namespace: %s, name: www, finalizers: [%s, example.org/keep]},
		spec: {zone: example.com, name: www, ipv4: 192.0.2.1}}`, n.namespace, v1beta1.ARecordFinalizer)
	s.apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: TXTRecord, metadata: {namespace: %s, name: text, finalizers: [%s]},
		spec: {zone: example.com, name: text, text: [a]}}`, n.namespace, v1beta1.TXTRecordFinalizer)
	text, www := &v1beta1.TXTRecord{ObjectMeta: named(n.namespace, "text")}, &v1beta1.ARecord{ObjectMeta: named(n.namespace, "www")}
	s.remove(text)
	s.remove(www)
	s.eventually("a record that is deleted", func() string { return s.isGone(text) })
	s.eventually("a record that somebody else keeps", func() string {
		if s.get(www); len(www.Finalizers) != 1 || www.Finalizers[0] != "example.org/keep" {
			return fmt.Sprint(www.Finalizers)
		}
		return ""
	})
	s.patch(www, `{"metadata":{"finalizers":null}}`)
	s.eventually("its end", func() string { return s.isGone(www) })
}

// TestAZoneThatWasDeletedBefore was held by the existing Bindy, or is on no server, and was deleted while no operator ran: it has
// nothing to wait for.
func TestAZoneThatWasDeletedBefore(t *testing.T) {
	s, n := zoneStage(t, "before")
	s.quiet()
	s.stop()
	s.apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example, finalizers: [%s]},
		spec: {zoneName: example.com, clusterRef: dns, soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com}}}`, n.namespace, v1beta1.ZoneFinalizer)
	o := &v1beta1.DNSZone{ObjectMeta: named(n.namespace, "example")}
	s.remove(o)
	s.start((*Controller).parts)
	began := time.Now()
	s.eventually("its end", func() string { return s.isGone(o) })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
