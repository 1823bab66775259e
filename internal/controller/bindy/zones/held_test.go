package zones

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/plan"
)

// TestNothingIsDeletedBeforeItIsKnownWhatIsProtected has a new leader find servers before it has heard of Backends.
func TestNothingIsDeletedBeforeItIsKnownWhatIsProtected(t *testing.T) {
	nothing, some := plan.Protection{Limited: true}, plan.Protection{Limited: true, MaxDeletedPercent: 20}
	cluster := types.NamespacedName{Namespace: "a", Name: "dns"}
	for _, tt := range []struct {
		name                string
		awaits              bool
		before, heard, then plan.Protection
	}{
		{"where Backends are awaited, nothing is deleted before all are known", true, nothing, nothing, some},
		{"where there are no Backends, nobody waits", false, plan.Protection{}, some, some},
	} {
		t.Run(tt.name, func(t *testing.T) {
			z := New(Config{DNS: DNS{Clock: backend.SystemClock{}}, Metrics: controller.NewMetrics()})
			t.Cleanup(z.End)
			if tt.awaits {
				z.assigner.Await("kubi.zone/v1alpha1")
			}
			key := client.ObjectKey{Namespace: "a", Name: "dns-primary-0"}
			protectedBy := func() plan.Protection {
				p, unlock := z.protections.known.Lock()
				defer unlock()
				return p.places[key].Protection
			}
			z.protections.put(key, cluster.Name, &delivery.Place{Name: placeOf(key)})
			if got := protectedBy(); got != tt.before {
				t.Errorf("before: %+v", got)
			}
			z.assigner.Protect("b", cluster, some)
			if got := protectedBy(); got != tt.heard {
				t.Errorf("when one Backend is known: %+v", got)
			}
			if z.assigner.Protected(); protectedBy() != tt.then {
				t.Errorf("when all are known: %+v", protectedBy())
			}
		})
	}
}

// TestAFleetThatIsNotKnownYetIsNotMissing has a new leader look at a Backend before it has looked for servers.
func TestAFleetThatIsNotKnownYetIsNotMissing(t *testing.T) {
	z := New(Config{DNS: DNS{Clock: backend.SystemClock{}}, Metrics: controller.NewMetrics()})
	t.Cleanup(z.End)
	if _, trouble := z.assigner.Fleet(types.NamespacedName{Namespace: "a", Name: "dns"}); trouble == nil ||
		trouble.Reason != controller.ReasonPending {
		t.Errorf("%+v", trouble)
	}
}

// TestWhereAZoneIsStaysInItsStatusUntilThatIsTakenIn has a new leader write a status before it looks at where the zone
// is.
func TestWhereAZoneIsStaysInItsStatusUntilThatIsTakenIn(t *testing.T) {
	name := nameOf(t, "example.org.")
	left := delivery.Delivered{Place: "a/left", Zone: name}
	now := delivery.Delivered{Place: "a/dns-primary-0", Zone: name}
	o := &v1beta1.DNSZone{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1beta1.ZoneFinalizer}}}
	o.Status.Bind9Instances = []v1beta1.ZoneInstance{{Namespace: "a", Name: "left", ZoneNames: []string{"example.org."}}}
	for what, tt := range map[string]struct {
		out  delivery.ZoneOutcome
		want delivery.Delivered
	}{
		"before":    {delivery.ZoneOutcome{}, left},
		"from then": {delivery.ZoneOutcome{Known: true, Places: []delivery.PlaceOutcome{{Delivered: now}}}, now},
	} {
		t.Run(what, func(t *testing.T) {
			r := &zoneReport{o: o, out: tt.out}
			if got := r.places(); !slices.Equal(got, []delivery.Delivered{tt.want}) {
				t.Errorf("it is at %v", got)
			}
		})
	}
}
