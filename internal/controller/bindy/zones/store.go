package zones

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=dnszones;arecords;aaaarecords;cnamerecords;txtrecords;mxrecords;nsrecords;srvrecords;caarecords;ptrrecords,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=dnszones/status;arecords/status;aaaarecords/status;cnamerecords/status;txtrecords/status;mxrecords/status;nsrecords/status;srvrecords/status;caarecords/status;ptrrecords/status,verbs=patch
// +kubebuilder:rbac:groups=bindy.firestoned.io,resources=dnszones/finalizers,verbs=update

// zoneStore is Zones as the controller.Store of its DNSZones.
type zoneStore Zones

func (s *zoneStore) z() *Zones { return (*Zones)(s) }

// Load implements controller.Store.
func (s *zoneStore) Load(id zone.ID) (delivery.Stored, bool) {
	z := s.z()
	o, err := z.zone(context.Background(), id)
	if err != nil {
		return delivery.Stored{}, false
	}
	out := delivery.Stored{
		UID: o.UID, Created: o.CreationTimestamp.Time, Deleting: !o.DeletionTimestamp.IsZero(),
		Content: o.Status.Content, Written: func() rr.Sets { return rr.Sets{} },
		Serial: numberOf(o.Status.Serial), Ceiling: numberOf(o.Status.SerialCeiling),
		Approved:  delivery.Approvals(o.Annotations[zonefold.ApproveAnnotation]),
		Published: func() (zone.Snapshot, bool) { return published(o) },
		Signed:    o.Status.DNSSEC != nil && o.Status.DNSSEC.Signed,
	}
	if name, err := dialect.ZoneName(o.Spec.ZoneName); err == nil && o.Status.Content != "" {
		out.Name = name
	}
	if a, err := o.Spec.Authority(); err == nil && out.Serial == 0 && out.Ceiling == 0 {
		out.Serial = uint32(a.Serial)
	}
	st, unlock := z.state.Lock()
	defer unlock()
	for _, key := range st.fleets[id].primaries {
		out.Refs = append(out.Refs, placeOf(key))
	}
	out.Delivered = st.know(id).delivered(o)
	out.Ceiling = z.ceilings.Begin(id, out.Ceiling)
	return out, true
}

func numberOf(n *int64) uint32 {
	if n == nil {
		return 0
	}
	return uint32(*n)
}

// delivered is where a zone has been delivered: as we wrote it last, else as its object says.
func (k *known) delivered(o *v1beta1.DNSZone) []delivery.Delivered {
	if k.holding {
		return k.held
	}
	return deliveredOf(o)
}

// deliveredOf reads where an earlier run has delivered a zone. Without the finalizer nothing has been published since.
func deliveredOf(o *v1beta1.DNSZone) []delivery.Delivered {
	var out []delivery.Delivered
	if !slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer) {
		return nil
	}
	for _, i := range o.Status.Bind9Instances {
		for _, text := range i.ZoneNames {
			if name, err := dnsname.Parse(text); err == nil {
				out = append(out, delivery.Delivered{Place: i.Namespace + "/" + i.Name, Zone: name})
			}
		}
	}
	return out
}

// Hold implements controller.Store.
func (s *zoneStore) Hold(ctx context.Context, id zone.ID, where []delivery.Delivered) error {
	z := s.z()
	o, err := z.zone(ctx, id)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	deleting := !o.DeletionTimestamp.IsZero()
	if len(where) > 0 && !deleting { // a finalizer cannot come any more when it is being deleted
		if err := z.Objects.Finalize(ctx, o, v1beta1.ZoneFinalizer, true); err != nil {
			return err
		}
	}
	have := deliveredOf(o)
	if slices.ContainsFunc(where, func(w delivery.Delivered) bool { return !slices.Contains(have, w) }) {
		if err := (&zoneReport{report: report{z}, id: id, o: o}).claim(ctx, where); err != nil {
			return err
		}
	}
	st, unlock := z.state.Lock()
	k := st.know(id)
	k.held, k.holding = where, true
	var left []types.NamespacedName // the clusters whose servers may have it yet
	for _, key := range st.holders(id) {
		left = append(left, st.hosts[key].cluster())
	}
	unlock()
	switch {
	case len(where) > 0 || !slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer):
		return nil
	case deleting && !z.protections.stay(left...) && z.Clock.Now().Before(o.DeletionTimestamp.Add(z.Patience)):
		return &controller.Later{After: time.Second}
	}
	return z.Objects.Finalize(ctx, o, v1beta1.ZoneFinalizer, false)
}

// claim writes down the servers that a zone is about to be delivered to, beside what is known of them.
func (r *zoneReport) claim(ctx context.Context, where []delivery.Delivered) error {
	st, unlock := r.z.state.Lock()
	r.fleet = st.fleets[r.id]
	unlock()
	status := *r.o.Status.DeepCopy()
	status.Bind9Instances = r.instancesOf(namesAt(where), func(key client.ObjectKey) instanceNews {
		return newsIn(r.o, key)
	})
	_, err := r.patch(ctx, status)
	return err
}

// newsIn is what the status of a zone says of an instance.
func newsIn(o *v1beta1.DNSZone, key client.ObjectKey) instanceNews {
	for _, i := range o.Status.Bind9Instances {
		if i.Namespace == key.Namespace && i.Name == key.Name && i.State != v1beta1.StateUnclaimed {
			return instanceNews{state: i.State, serial: numberOf(i.Serial), message: i.Message}
		}
	}
	return instanceNews{state: v1beta1.StateClaimed}
}

// unheld forgets where a zone was: somebody has removed the finalizer.
func (s *zoneStore) unheld(id zone.ID) {
	st, unlock := s.state.Lock()
	defer unlock()
	k := st.know(id)
	k.held, k.holding = nil, false
}

// Raise implements controller.Store.
func (s *zoneStore) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	return s.ceilings.Raise(ctx, id, ceiling)
}

// newCeilings stores the ceilings of DNSZones.
func newCeilings(c Config) *controller.Ceilings {
	return &controller.Ceilings{
		Objects: c.Objects, Live: c.Live,
		New: func() client.Object { return &v1beta1.DNSZone{} },
		Stored: func(o client.Object) uint32 {
			if dnsZone, ok := o.(*v1beta1.DNSZone); ok {
				return numberOf(dnsZone.Status.SerialCeiling)
			}
			return 0
		},
	}
}

// Record implements controller.Store. The servers of fleets keep no foreign sets, so that there is nothing to write
// down.
func (s *zoneStore) Record(context.Context, zone.ID, []rr.Set) error { return nil }
