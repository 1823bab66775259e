package zones

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestZonesAndRecordsThatComeAtOnce has each kind of object come from a goroutine of its own, as informers have it. A
// record whose zone comes at the same moment is in it.
func TestZonesAndRecordsThatComeAtOnce(t *testing.T) {
	const records = 4
	for round := range 1000 {
		z := &Zones{}
		z.knowNothing()
		z.core = core.New(core.Config{Clock: time.Now, Metrics: controller.NewMetrics(),
			Settled: func(core.Settlement) {}})
		o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named("dns", "example")}
		o.Spec = v1beta1.DNSZoneSpec{ZoneName: "example.com", SOA: &v1beta1.SOA{PrimaryNameServer: "ns1.example.net",
			AdminEmail: "admin@example.com"}}
		var parts sync.WaitGroup
		parts.Go(func() { gatherer{z}.arrange(o) })
		for i := range records {
			parts.Go(func() {
				r := &v1beta1.ARecord{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: fmt.Sprintf("r%d", i)}}
				r.Spec = v1beta1.ARecordSpec{RecordMeta: v1beta1.RecordMeta{Name: v1beta1.RecordName(r.Name), Zone: "example.com"},
					IPv4: "192.0.2.1"}
				gatherer{z}.putRecord(nil, r)
			})
		}
		parts.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it settles once
		if err := z.core.Run(ctx, func(context.Context) bool { return true }); err != nil {
			t.Fatal(err)
		}
		for i := range records {
			id := dialect.RecordID(rr.TypeA, "dns", fmt.Sprintf("r%d", i))
			if v, ok := z.core.Verdict(id); !ok || !v.Accepted {
				t.Fatalf("in round %d, %s is not in its zone: %+v", round, id, v)
			}
		}
	}
}

// TestObjectsAreCountedByVerdict has objects come and go, and looks at what metrics say of them.
func TestObjectsAreCountedByVerdict(t *testing.T) {
	metrics, registry := controller.NewMetrics(), prometheus.NewRegistry()
	if err := metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	z := New(Config{DNS: DNS{Clock: backend.SystemClock{}}, Metrics: metrics, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(z.End)
	o := &v1beta1.DNSZone{ObjectMeta: bindytest.Named("dns", "example")}
	o.Spec = v1beta1.DNSZoneSpec{ZoneName: "example.com", SOA: &v1beta1.SOA{PrimaryNameServer: "ns1.example.net",
		AdminEmail: "admin@example.com"}}
	record := func(name string, zone v1beta1.HostName) *v1beta1.ARecord {
		r := &v1beta1.ARecord{ObjectMeta: bindytest.Named("dns", name)}
		r.Spec = v1beta1.ARecordSpec{RecordMeta: v1beta1.RecordMeta{Name: v1beta1.RecordName(name), Zone: zone},
			IPv4: "192.0.2.1"}
		return r
	}
	for _, step := range []struct {
		sentence string
		act      func()
		want     map[string]float64
	}{
		{"a zone with a record, and a record without a zone", func() {
			gatherer{z}.arrange(o)
			gatherer{z}.put(nil, record("www", "example.com"))
			gatherer{z}.put(nil, record("lost", "example.net"))
		}, map[string]float64{"DNSZone Accepted": 1, "ARecord Accepted": 1, "ARecord ZoneNotFound": 1}},
		{"the zone goes", func() { gatherer{z}.removeZone(dialect.ZoneID("dns", "example"), nil) },
			map[string]float64{"DNSZone Accepted": 0, "ARecord Accepted": 0, "ARecord ZoneNotFound": 2}},
		{"a record goes", func() { gatherer{z}.drop(record("lost", "example.net")) },
			map[string]float64{"DNSZone Accepted": 0, "ARecord Accepted": 0, "ARecord ZoneNotFound": 1}},
	} {
		step.act()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it settles once
		if err := z.core.Run(ctx, func(context.Context) bool { return true }); err != nil {
			t.Fatal(err)
		}
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			if f.GetName() == "zonefold_objects" {
				for _, m := range f.GetMetric() {
					got[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
				}
			}
		}
		if !maps.Equal(got, step.want) {
			t.Errorf("%s: %v, not %v", step.sentence, got, step.want)
		}
	}
}
