package backends

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// oneBackend is a cluster with nothing but one Backend.
type oneBackend struct {
	client.Client
	backend v1alpha1.Backend
}

func (c *oneBackend) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	c.backend.DeepCopyInto(o.(*v1alpha1.Backend))
	return nil
}

func (c *oneBackend) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// changing are fleets whose only one changes while it is asked for the first time: just after that was answered.
type changing struct {
	delivery.Fleets
	asked   atomic.Int32
	changed func()
}

func (f *changing) Fleet(types.NamespacedName) ([]delivery.Server, *controller.Outcome) {
	if f.asked.Add(1) > 1 {
		return []delivery.Server{{Name: "new"}}, nil
	}
	told := make(chan struct{})
	go func() { defer close(told); f.changed() }()
	select {
	case <-told:
	case <-time.After(100 * time.Millisecond): // it waits, perhaps for us
	}
	return nil, nil
}

// Protect implements controller.Fleets.
func (f *changing) Protect(string, types.NamespacedName, plan.Protection) {}

// TestAFleetThatChangesWhileItsBackendIsLookedAtForTheFirstTime has nobody know yet that the Backend is that cluster.
func TestAFleetThatChangesWhileItsBackendIsLookedAtForTheFirstTime(t *testing.T) {
	metrics, log := controller.NewMetrics(), slog.New(slog.DiscardHandler)
	objects, fleets := &oneBackend{}, &changing{}
	objects.backend.Name = "b"
	objects.backend.Spec.Bind9 = &v1alpha1.Bind9{ClusterRef: v1alpha1.ClusterRef{Namespace: "a", Name: "dns"}}
	b := New(Config{
		Source: Source{Client: objects, Log: log}, Clock: time.Now, Metrics: metrics, Fleets: fleets,
		Core: core.New(core.Config{Clock: time.Now, Metrics: metrics,
			Settled: func(core.Settlement) {}}),
		Places: delivery.New(delivery.Config{
			Clock: time.Now, Log: log, Metrics: metrics, Changed: func(zone.ID) {}, Settled: func([]zone.ID) {},
			Refresh: func(zone.ID) {}, RefreshSets: func(zone.ID, []rr.Key) {},
		}).Places(),
	})
	heard := make(chan struct{})
	fleets.changed = func() {
		defer close(heard)
		b.onFleet(t.Context(), types.NamespacedName{Namespace: "a", Name: "dns"})
	}
	b.look(t.Context(), "b")
	select {
	case <-heard:
	case <-time.After(10 * time.Second):
		t.Fatal("the news of the fleet is not taken in")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if servers := b.known["b"].servers; len(servers) != 1 || servers[0].Name != "new" {
		t.Errorf("it has the servers %v, and the fleet has another one", servers)
	}
}

func TestWhereForeignSetsStay(t *testing.T) {
	type spec = v1alpha1.BackendSpec
	for sentence, c := range map[string]struct {
		spec  spec
		keeps bool
	}{
		"a server":                    {spec{RFC2136: &v1alpha1.RFC2136{}}, true},
		"a server of ours alone":      {spec{RFC2136: &v1alpha1.RFC2136{}, Foreign: v1alpha1.ForeignDelete}, false},
		"our own name server":         {spec{Embedded: &v1alpha1.Embedded{}}, false},
		"a fleet of ours":             {spec{Bind9: &v1alpha1.Bind9{}, Foreign: v1alpha1.ForeignKeep}, false},
		"a server that lists nothing": {spec{DNSClass: &v1alpha1.DNSClass{}, Foreign: v1alpha1.ForeignDelete}, true},
	} {
		if got := keeps(&c.spec); got != c.keeps {
			t.Errorf("%s: foreign sets stay: %t", sentence, got)
		}
	}
}
