package homelab

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
)

// TestThatManyObjectsGoHoldsNobodyUp has many DNSRecords go at once whose claims went before, with their deletions. The
// writer, which lets go of them, waits while the Core is busy.
func TestThatManyObjectsGoHoldsNobodyUp(t *testing.T) {
	const many = 1000
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	k := New(Config{Clock: clock, Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(),
		Numbers: NewNumbers(), Leads: func() bool { return true }})
	defer k.recordWriter.ShutDown()
	object := func(i int) *v1alpha1.DNSRecord {
		name := fmt.Sprintf("r%d", i)
		return &v1alpha1.DNSRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)},
			Spec: v1alpha1.DNSRecordSpec{Type: "A", Domain: "example.com", Subdomain: name,
				Values: []string{"192.0.2.1"}, DNSClassRef: v1alpha1.DNSClassRef{Name: "dns"}},
		}
	}
	deleted := metav1.NewTime(clock.Now())
	for i := range many {
		k.putRecord(object(i))
		o := object(i)
		o.DeletionTimestamp = &deleted
		k.putRecord(o)
	}
	if !k.Core.Busy() {
		t.Error("many deletions are not a burst")
	}
	clock.Step(time.Second)
	for i := range many {
		k.dropRecord(object(i))
	}
	if k.Core.Busy() {
		t.Error("that many objects are gone is a burst")
	}
	m, unlock := k.model.Lock()
	known := len(m.records)
	unlock()
	if known > 0 {
		t.Errorf("%d objects that are gone are still known", known)
	}

	for i := range many {
		k.putRecord(object(i))
	}
	clock.Step(time.Second)
	for i := range many {
		k.dropRecord(object(i))
	}
	if !k.Core.Busy() {
		t.Error("many objects that go without a finalizer are not a burst")
	}
}
