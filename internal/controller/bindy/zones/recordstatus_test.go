package zones

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestARecordIsToldOfTheServersOfItsZone has a zone get other servers: the record says what the zone says, at once.
func TestARecordIsToldOfTheServersOfItsZone(t *testing.T) {
	primary, secondary := []client.ObjectKey{{Namespace: "dns", Name: "main-primary-0"}},
		[]client.ObjectKey{{Namespace: "dns", Name: "main-secondary-0"}}
	z, id, record := withARecord(t)
	signed := &v1beta1.ZoneDNSSEC{Signed: true, Signer: primary[0].String()}
	for _, c := range []struct {
		name           string
		fleet          fleetOf
		reason, told   string
		sameForRecords bool
	}{
		{"a primary and a secondary", fleetOf{primaries: primary, secondaries: secondary},
			v1beta1.ReasonReconcileSucceeded, "All primary servers", false},
		{"the secondary is gone", fleetOf{primaries: primary}, v1beta1.ReasonReconcileSucceeded, "All primary servers", true},
		{"the primary is gone", fleetOf{secondaries: secondary}, v1beta1.ReasonNoPrimaryInstances, "No primary server",
			false},
		{"all are gone", fleetOf{problem: "None."}, v1beta1.ReasonNoInstances, "No server", false},
		{"the one that signs it is gone", fleetOf{secondaries: secondary}, v1beta1.ReasonSigningRefused,
			"Bind9Instance dns/main-primary-0, which has the keys of the zone, is no longer one of its primaries", false},
	} {
		if z.records.Len() > 0 {
			z.records = controller.NewWriter(1, slog.New(slog.DiscardHandler), nothing)
		}
		if c.reason == v1beta1.ReasonSigningRefused {
			st, unlock := z.state.Lock()
			st.known[id].zone.Status.DNSSEC = signed
			unlock()
		}
		z.allocate(func(a *allocating) { a.setFleet(id, c.fleet) })
		if refreshed := z.records.Len() > 0; refreshed == c.sameForRecords {
			t.Errorf("%s: %d records are looked at", c.name, z.records.Len())
		}
		r := recordReport{report: report{z}, verdict: zone.Verdict{Accepted: true, Zone: id}}
		ready := r.ready(controller.OK(controller.ReasonServed, ""))
		if ready.Reason != c.reason || !strings.HasPrefix(ready.Message, c.told) {
			t.Errorf("%s: %s says %s: %s", c.name, record, ready.Reason, ready.Message)
		}
	}
}

func nothing(context.Context, zone.ID) error { return nil }

// withARecord are Zones that know a zone with a record.
func withARecord(t *testing.T) (z *Zones, id, record zone.ID) {
	t.Helper()
	writer := func() *controller.Writer {
		return controller.NewWriter(1, slog.New(slog.DiscardHandler), nothing)
	}
	z = &Zones{servers: writer(), queues: queues{zones: writer(), records: writer()}}
	z.knowNothing()
	z.core = core.New(core.Config{Clock: time.Now, Metrics: controller.NewMetrics(), Settled: func(core.Settlement) {}})
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named("dns", "example")}
	o.Spec = v1beta1.DNSZoneSpec{ZoneName: "example.com", SOA: &v1beta1.SOA{PrimaryNameServer: "ns1.example.net",
		AdminEmail: "admin@example.com"}}
	r := &v1beta1.ARecord{ObjectMeta: bindytest.Named("dns", "www")}
	r.Spec = v1beta1.ARecordSpec{RecordMeta: v1beta1.RecordMeta{Name: "www", Zone: "example.com"}, IPv4: "192.0.2.1"}
	gatherer{z}.arrange(o)
	gatherer{z}.putRecord(nil, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it settles once
	if err := z.core.Run(ctx, func(context.Context) bool { return true }); err != nil {
		t.Fatal(err)
	}
	return z, dialect.ZoneID("dns", "example"), dialect.RecordID(rr.TypeA, "dns", "www")
}
