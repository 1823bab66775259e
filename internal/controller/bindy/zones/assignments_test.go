package zones

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// ofCluster are the instances of the cluster n/dns, from memory.
type ofCluster struct {
	client.Client
	instances []v1beta1.Bind9Instance
}

func (c *ofCluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1beta1.Bind9InstanceList).Items = c.instances
	return nil
}

func instanceOfCluster(key client.ObjectKey, role v1beta1.Role) v1beta1.Bind9Instance {
	i := v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name,
		UID: types.UID(key.Name)}}
	i.Spec.ClusterRef, i.Spec.Role = "dns", role
	return i
}

// A configured server counts how often its settings were brought up to date.
type configured struct {
	backend.Backend
	times int
}

func (c *configured) Configure(context.Context, dnsname.Name) (bool, error) {
	c.times++
	return true, nil
}

func (*configured) Notify(context.Context, dnsname.Name) error { return nil }

func (*configured) Signatures(context.Context, dnsname.Name) (backend.Signatures, error) {
	return backend.Signatures{}, nil
}

// A pair are two pods of the instance aPrimary, of which the second is away, and the Zone of another dialect that goes
// to both.
type pair struct {
	*hosting
	second *backendtest.Memory
	at     []*configured
	pods   []*Pod
}

func newPair(t *testing.T) *pair {
	t.Helper()
	guestName := nameOf(t, "guest.example.")
	p := &pair{hosting: newHosting(t)}
	p.z.Servers.Client = &ofCluster{instances: []v1beta1.Bind9Instance{instanceOfCluster(aPrimary, v1beta1.RolePrimary)}}
	place := &delivery.Place{Name: "b", Kind: "bind9", Default: true, Passing: true,
		Fleet: types.NamespacedName{Namespace: "n", Name: "dns"}}
	for _, name := range []string{"one", "two"} {
		p.second = backendtest.NewMemory(backendtest.Profile{})
		p.second.AddZone(guestName, rr.SOA{TTL: 60, MName: guestName, RName: guestName, Serial: 7, Refresh: 1, Retry: 1,
			Expire: 1})
		c := &configured{Backend: p.second.Client(true)}
		pod := &Pod{UID: types.UID(name), zones: p.z, instance: aPrimary, primary: true, address: netip.MustParseAddrPort(
			"192.0.2.1:53")}
		pod.server = delivery.Server{Name: name, Backend: c}
		p.at, p.pods, place.Servers = append(p.at, c), append(p.pods, pod), append(place.Servers, pod.server)
	}
	p.second.SetDown(true)
	st, unlock := p.z.state.Lock()
	st.hosts[aPrimary] = &host{primary: true, pods: p.pods}
	unlock()
	p.hosted.Places().Put(place)
	engine := delivery.NewEngine(engine.Config{Clock: backend.SystemClock{}, Rand: func() float64 {
		return 0.5
	}, Log: slog.New(slog.DiscardHandler), Metrics: p.z.Metrics})
	t.Cleanup(func() { engine.Stop(context.Background()) })
	p.run(func(ctx context.Context) error { return p.hosted.Run(ctx, engine) })
	p.guest()
	p.until("the Zone at the first server", func() bool { return p.hosted.Servers().Has(lodged, "one") })
	return p
}

// lodge takes in what there is of the Zone, and returns at how many pods it is looked at because of that.
func (p *pair) lodge() int {
	p.Helper()
	p.z.servers = controller.NewWriter(1, p.z.Log, p.z.serve) // with nothing in it
	if err := p.z.assigner.reconcile(p.Context(), lodged); err != nil {
		p.Fatal(err)
	}
	return p.z.servers.Len()
}

// serve looks at the Zone at each pod.
func (p *pair) serve() {
	p.Helper()
	for _, pod := range p.pods {
		if err := p.z.serve(p.Context(), followID(lodged, pod.UID)); err != nil {
			p.Fatal(err)
		}
	}
}

// secondComes has the second server confirm what the first one has.
func (p *pair) secondComes() {
	p.Helper()
	p.second.SetDown(false)
	p.until("the Zone at the second server", func() bool { return p.hosted.Servers().Has(lodged, "two") })
}

// TestAServerThatConfirmsASerialThatIsKnownIsLookedAt has the settings of a zone change while it is made at the second
// server: afterwards it is brought the new ones.
func TestAServerThatConfirmsASerialThatIsKnownIsLookedAt(t *testing.T) {
	p := newPair(t)
	p.lodge()
	p.serve()
	if n := p.lodge(); n != 0 {
		t.Errorf("the Zone is looked at at %d pods, and there is no news", n)
	}
	p.secondComes()
	if n := p.lodge(); n != 1 {
		t.Errorf("the Zone is looked at at %d pods, and one has confirmed it", n)
	}
	if p.serve(); p.at[0].times != 1 || p.at[1].times != 1 {
		t.Errorf("the settings were brought up to date %d and %d times", p.at[0].times, p.at[1].times)
	}
	if n := p.lodge(); n != 0 {
		t.Errorf("the Zone is looked at at %d pods, which have its settings", n)
	}
}

// TestAPodThatIsBroughtAZoneOfAnotherDialectIsToldOfIt has the Zone arrive at the second pod, which is not ready
// before.
func TestAPodThatIsBroughtAZoneOfAnotherDialectIsToldOfIt(t *testing.T) {
	p := newPair(t)
	p.lodge()
	p.wakes(aPrimary)
	if zones, complete := p.z.ContentOf(aPrimary, "two"); complete {
		t.Fatalf("it has all that it is to have before it is ready: %v", zones)
	}
	p.secondComes()
	p.lodge()
	p.wakes(aPrimary)
	if zones, complete := p.z.ContentOf(aPrimary, "two"); !complete || !slices.Equal(zones, []string{"guest.example"}) {
		t.Errorf("it does not have all that it is to have before it is ready: %v", zones)
	}
}

// TestAZoneThatIsAboutToBeLodgedIsNotRemoved has an instance looked at when the other dialect has decided where its
// Zone is to be, and that has not been taken in.
func TestAZoneThatIsAboutToBeLodgedIsNotRemoved(t *testing.T) {
	p := newPair(t)
	p.z.assigner.Protected() // nobody protects anything
	i := instanceOfCluster(aPrimary, v1beta1.RolePrimary)
	i.Status.Zones = []v1beta1.InstanceZone{{ZoneReference: v1beta1.ZoneReference{
		APIVersion: p.z.assigner.version, Kind: lodged.Kind, Namespace: lodged.Namespace, Name: lodged.Name,
		ZoneName: "guest.example",
	}, UID: "guest"}}
	removes := func() bool {
		p.z.Sweep(t.Context(), &i, []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "one",
			Labels: map[string]string{v1beta1.InstanceLabel: "dns", appsv1.DefaultDeploymentUniqueLabelKey: "5d4f8c7b9"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "dns-5d4f8c7b9",
				UID: "set", Controller: ptr.To(true)}}}}})
		st, unlock := p.z.state.Lock()
		defer unlock()
		return len(st.hosts[aPrimary].unswept) > 0
	}
	if p.until("the decision", p.hosted.Servers().Decided); removes() {
		t.Error("it is removed from where it is to be")
	}
	p.lodge()
	i.Status.Zones[0].ZoneName = "former.example"
	if !p.z.decided() || !removes() {
		t.Error("a name that the Zone has no more stays")
	}
}
