package zones

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/zone"
)

// A hosting is Zones beside another dialect, whose Zones Backends have on the cluster n/dns. There is no API server.
type hosting struct {
	*testing.T
	z      *Zones
	hosted *delivery.Deliveries
	world  *zone.World // of the other dialect
	woken  chan client.ObjectKey
}

// lodged is the assigned Zone of the other dialect, whose store says that it is stored nowhere yet.
var lodged = zone.ID{Kind: zone.KindZone, Namespace: "x", Name: "guest"}

type guestStore struct{}

func (guestStore) Load(id zone.ID) (delivery.Stored, bool) {
	return delivery.Stored{UID: "guest", Written: func() rr.Sets { return rr.Sets{} }}, id == lodged
}
func (guestStore) Hold(context.Context, zone.ID, []delivery.Delivered) error { return nil }
func (guestStore) Raise(context.Context, zone.ID, uint32) error              { return nil }
func (guestStore) Record(context.Context, zone.ID, []rr.Set) error           { return nil }

func newHosting(t *testing.T) *hosting {
	t.Helper()
	z := New(Config{DNS: DNS{Clock: backend.SystemClock{}}, Log: slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(), Servers: servers.New(servers.Config{Clock: time.Now})})
	h := &hosting{T: t, z: z, world: zone.New(zone.Options{}), woken: make(chan client.ObjectKey, 100)}
	h.hosted = delivery.New(delivery.Config{
		Store: guestStore{}, Clock: time.Now, Log: z.Log, Metrics: z.Metrics,
		Changed: h.z.assigner.Reassigned, Settled: func([]zone.ID) {}, Refresh: func(zone.ID) {},
		RefreshSets: func(zone.ID, []rr.Key) {},
	})
	h.z.assigner.Await("kubi.zone/v1alpha1")
	h.z.assigner.Host(h.hosted.Servers())
	h.z.deliveries.Settle(core.Settlement{View: zone.New(zone.Options{})})
	queue := priorityqueue.New[reconcile.Request](t.Name())
	if err := h.z.Wakes(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	var parts sync.WaitGroup
	parts.Go(func() {
		for {
			r, shutdown := queue.Get()
			if shutdown {
				return
			}
			queue.Done(r)
			h.woken <- r.NamespacedName
		}
	})
	t.Cleanup(func() { queue.ShutDown(); parts.Wait() })
	return h
}

// run has something go on until the test ends.
func (h *hosting) run(part func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = part(ctx) }()
	h.Cleanup(func() { cancel(); <-done })
}

// step is one of the World of the other dialect.
func (h *hosting) step() {
	h.hosted.Settle(core.Settlement{View: h.world, Delta: h.world.Settle()})
}

// guest has the other dialect accept a Zone.
func (h *hosting) guest() {
	h.Helper()
	h.world.PutZone(zone.Zone{ID: lodged, Where: zone.Where{Name: nameOf(h.T, "guest.example.")}, TTL: 60})
	h.step()
}

func nameOf(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// own puts a zone of the dialect on a primary and a secondary, neither of which runs.
func (h *hosting) own(primary, secondary client.ObjectKey) {
	o := &v1beta1.DNSZone{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "org", UID: "org"}}
	o.Spec.ZoneName = "example.org"
	id := dialect.ZoneID("n", "org")
	st, unlock := h.z.state.Lock()
	defer unlock()
	st.know(id).zone = o
	st.fleets[id] = fleetOf{primaries: []client.ObjectKey{primary}, secondaries: []client.ObjectKey{secondary}}
	st.names.accepted[id] = true
	st.rename(id)
}

// wakes waits for an instance to be looked at again.
func (h *hosting) wakes(key client.ObjectKey) {
	h.Helper()
	select {
	case got := <-h.woken:
		if got != key {
			h.Errorf("%s is looked at, and not %s", got, key)
		}
	case <-time.After(10 * time.Second):
		h.Fatal("the instance is not looked at again")
	}
}

// until waits for a condition.
func (h *hosting) until(what string, done func() bool) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
	defer cancel()
	testcluster.Eventually(ctx, h, what, func() string {
		if !done() {
			return "it has not come about"
		}
		return ""
	})
}

var (
	aPrimary   = client.ObjectKey{Namespace: "n", Name: "dns-primary-0"}
	aSecondary = client.ObjectKey{Namespace: "n", Name: "dns-secondary-0"}
)

// TestALookBeforeAnotherDialectHasDecidedIsRepeated has a secondary looked at while it is not known yet where the Zones
// of another dialect are to be. Neither its zones nor the end of that are an event of its own.
func TestALookBeforeAnotherDialectHasDecidedIsRepeated(t *testing.T) {
	i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: aSecondary.Name}}
	for name, look := range map[string]func(h *hosting) (whole bool){
		"which zones it may have": func(h *hosting) bool {
			h.own(aPrimary, aSecondary)
			zones, _ := h.z.Sweep(t.Context(), i, nil)
			return len(zones) == 1
		},
		"what a pod is to have before it is ready": func(h *hosting) bool {
			_, complete := h.z.ContentOf(aSecondary, "pod")
			return complete
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosting(t)
			h.run(h.z.assigner.queue.Run)
			st, unlock := h.z.state.Lock()
			st.hosts[aSecondary] = &host{pods: []*Pod{{UID: "pod", instance: aSecondary}}, ledger: ledgerOf(nil)}
			unlock()
			h.guest()
			if look(h) {
				t.Fatal("it is decided although a Zone has not been looked at")
			}
			h.world.DeleteZone(lodged)
			h.step()
			h.wakes(aSecondary)
			if !look(h) {
				t.Error("it is not decided although all Zones have been looked at")
			}
		})
	}
}
