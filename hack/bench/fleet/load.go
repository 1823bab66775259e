package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A load is some zones with as many records each.
type load struct {
	word           string
	zones, records int
}

func (l load) String() string { return fmt.Sprintf("%d zones of %d ARecords", l.zones, l.records) }

// objects is how many there are: each zone comes before its records.
func (l load) objects() int { return l.zones * (1 + l.records) }

// split says which object the i-th is: a zone, or a record of it.
func (l load) split(i int) (zone, record int) { return i / (1 + l.records), i%(1+l.records) - 1 }

func (l load) zoneName(zone int) string { return fmt.Sprintf("%s-%04d.example", l.word, zone) }

func recordName(record int) string { return fmt.Sprintf("r-%05d", record) }

// fqdn is the name of the i-th record of all, address what it has first.
func (l load) fqdn(i int) string {
	return recordName(i%l.records) + "." + l.zoneName(i/l.records) + "."
}

func (l load) zone(zone int) *v1beta1.DNSZone {
	return &v1beta1.DNSZone{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%04d", l.word, zone), Namespace: namespace},
		Spec: v1beta1.DNSZoneSpec{
			ZoneName: l.zoneName(zone), ClusterRef: fleet, SOA: &v1beta1.SOA{PrimaryNameServer: "ns1.example.net",
				AdminEmail: "admin.example.net"},
		},
	}
}

// record is the i-th of all.
func (l load) record(i int) *v1beta1.ARecord {
	ttl := v1beta1.Seconds(300)
	return &v1beta1.ARecord{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%06d", l.word, i), Namespace: namespace},
		Spec: v1beta1.ARecordSpec{
			RecordMeta: v1beta1.RecordMeta{Name: v1beta1.RecordName(recordName(i % l.records)),
				Zone: v1beta1.HostName(l.zoneName(i / l.records)), TTL: &ttl},
			IPv4: figures.Address(i),
		},
	}
}

// object is the i-th of all objects.
func (l load) object(i int) client.Object {
	zone, record := l.split(i)
	if record < 0 {
		return l.zone(zone)
	}
	return l.record(zone*l.records + record)
}

func (b *bench) create(ctx context.Context, l load) (time.Duration, error) {
	return b.Create(ctx, l.objects(), l.object)
}

func (b *bench) remove(ctx context.Context, l load) error {
	return b.Remove(ctx, l.objects(), func(i int) client.Object { return l.object(l.objects() - 1 - i) })
}

// alone is what a bare client takes, the operator stopped.
type alone struct {
	creates time.Duration
	bare    time.Duration // the creates, and one status for each object
	cpu     map[string]time.Duration
}

// createsAlone creates the objects without an operator and deletes them again. A first few have caches, connections and
// etcd's file grow before.
func (b *bench) createsAlone(ctx context.Context, l load) (a alone, err error) {
	warm := load{"warm", min(l.zones, 50), min(l.records, 500)}
	if _, err := b.create(ctx, warm); err != nil {
		return a, err
	}
	if err := b.remove(ctx, warm); err != nil {
		return a, err
	}
	before, err := figures.CPUTimes()
	if err != nil {
		return a, err
	}
	if a.creates, err = b.create(ctx, l); err != nil {
		return a, err
	}
	after, err := figures.CPUTimes()
	if err != nil {
		return a, err
	}
	a.cpu = figures.Less(after, before)
	statuses, err := b.Each(ctx, l.objects(), func(ctx context.Context, i int) error {
		return b.writeStatus(ctx, l.object(i))
	})
	a.bare = a.creates + statuses
	return a, errors.Join(err, b.remove(ctx, l))
}

// writeStatus writes one as long as the operator's.
func (b *bench) writeStatus(ctx context.Context, o client.Object) error {
	ready := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: v1beta1.ReasonReconcileSucceeded, ObservedGeneration: 1,
		Message: "All primary servers of DNSZone bench/one-0000 have it.", LastTransitionTime: metav1.Now(),
	}
	return b.MergeStatus(ctx, o, v1beta1.RecordStatus{Conditions: []metav1.Condition{ready}, ObservedGeneration: 1,
		RecordHash:  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		LastUpdated: time.Now().UTC().Format(time.RFC3339)})
}

// A loaded is what came of the creates with the operator running.
type loaded struct {
	creates time.Duration
	primary time.Duration            // from the first create until every primary serves all
	served  time.Duration            // until every server does
	serving map[string]time.Duration // CPU of all programs until then
	status  time.Duration            // until every object says that it is ready
	used    usage                    // until nothing was left to do
	memory  []int64                  // of each named
}

func (b *bench) loaded(ctx context.Context, l load, creates time.Duration) (out loaded, err error) {
	if err := b.startOperator(ctx); err != nil {
		return out, err
	}
	profiled := b.ProfileCPU(ctx, "."+l.word, creates)
	out.used, err = b.during(ctx, func() (err error) {
		before, err := figures.CPUTimes()
		if err != nil {
			return err
		}
		began := time.Now()
		if out.creates, err = b.create(ctx, l); err != nil {
			return err
		}
		if out.primary, out.served, err = b.awaitServed(ctx, l, began); err != nil {
			return err
		}
		now, err := figures.CPUTimes()
		if err != nil {
			return err
		}
		out.serving = figures.Less(now, before)
		if err := b.awaitStatus(ctx, l); err != nil {
			return err
		}
		out.status = time.Since(began)
		return b.quiet(ctx)
	})
	if err != nil {
		return out, err
	}
	for _, s := range b.servers {
		now, _, err := figures.MemoryOf(s.pid)
		if err != nil {
			return out, err
		}
		out.memory = append(out.memory, now)
	}
	return out, errors.Join(<-profiled, b.ProfileHeap(ctx, "."+l.word))
}
