package bindy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
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
func (s *zoneStore) Load(id zone.ID) (controller.Stored, bool) {
	z := s.z()
	o, err := z.zone(context.Background(), id)
	if err != nil {
		return controller.Stored{}, false
	}
	out := controller.Stored{
		UID: o.UID, Created: o.CreationTimestamp.Time, Deleting: !o.DeletionTimestamp.IsZero(),
		Content: o.Status.Content, Delivered: deliveredOf(o), Written: func() rr.Sets { return rr.Sets{} },
		Serial: numberOf(o.Status.Serial), Ceiling: numberOf(o.Status.SerialCeiling),
	}
	if name, err := zoneName(o.Spec.ZoneName); err == nil && o.Status.Content != "" {
		out.Name = name
	}
	if a, err := o.Spec.Authority(); err == nil && out.Serial == 0 && out.Ceiling == 0 {
		out.Serial = uint32(a.Serial)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, key := range z.fleets[id].primaries {
		out.Refs = append(out.Refs, placeOf(key))
	}
	k := z.know(id)
	if k.holding {
		out.Delivered = k.held
	}
	k.ceiling = rr.LaterSerial(k.ceiling, out.Ceiling)
	out.Ceiling = k.ceiling
	return out, true
}

func numberOf(n *int64) uint32 {
	if n == nil {
		return 0
	}
	return uint32(*n)
}

// deliveredOf reads where an earlier run has delivered a zone. Without the finalizer nothing has been published since.
func deliveredOf(o *v1beta1.DNSZone) []controller.Delivered {
	var out []controller.Delivered
	if !slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer) {
		return nil
	}
	for _, i := range o.Status.Bind9Instances {
		for _, text := range i.ZoneNames {
			if name, err := dnsname.Parse(text); err == nil {
				out = append(out, controller.Delivered{Place: i.Namespace + "/" + i.Name, Zone: name})
			}
		}
	}
	return out
}

// Hold implements controller.Store.
func (s *zoneStore) Hold(ctx context.Context, id zone.ID, where []controller.Delivered) error {
	z := s.z()
	o, err := z.zone(ctx, id)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	deleting := !o.DeletionTimestamp.IsZero()
	if len(where) > 0 && !deleting { // a finalizer cannot come any more when it is being deleted
		if err := z.b.withFinalizer(ctx, o, v1beta1.ZoneFinalizer); err != nil {
			return err
		}
	}
	have := deliveredOf(o)
	if slices.ContainsFunc(where, func(w controller.Delivered) bool { return !slices.Contains(have, w) }) {
		status := *o.Status.DeepCopy()
		status.Bind9Instances = z.claimed(id, o, where)
		if _, err := z.patchZone(ctx, o, status); err != nil {
			return err
		}
	}
	z.mu.Lock()
	k := z.know(id)
	k.held, k.holding = where, true
	left := len(z.holders(id)) > 0
	z.mu.Unlock()
	switch {
	case len(where) > 0 || !slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer):
		return nil
	case deleting && left && z.Clock.Now().Before(o.DeletionTimestamp.Add(z.Patience)):
		return &controller.Later{After: time.Second}
	}
	return client.IgnoreNotFound(z.b.withoutFinalizer(ctx, o, v1beta1.ZoneFinalizer))
}

// claimed are the servers that a zone is about to be delivered to, beside what is known of them.
func (z *Zones) claimed(id zone.ID, o *v1beta1.DNSZone, where []controller.Delivered) []v1beta1.ZoneInstance {
	names := map[client.ObjectKey][]string{}
	for _, w := range where {
		if key, ok := instanceOf(w.Place); ok {
			names[key] = append(names[key], w.Zone.String())
		}
	}
	z.mu.Lock()
	fleet := z.fleets[id]
	z.mu.Unlock()
	return z.instancesOf(o, fleet, names, func(key client.ObjectKey) instanceNews { return saidOf(o, key) })
}

// saidOf is what the status of a zone says of an instance.
func saidOf(o *v1beta1.DNSZone, key client.ObjectKey) instanceNews {
	for _, i := range o.Status.Bind9Instances {
		if i.Namespace == key.Namespace && i.Name == key.Name && i.State != v1beta1.StateUnclaimed {
			return instanceNews{state: i.State, serial: numberOf(i.Serial), message: i.Message}
		}
	}
	return instanceNews{state: v1beta1.StateClaimed}
}

func (z *Zones) unheld(id zone.ID) {
	z.mu.Lock()
	defer z.mu.Unlock()
	k := z.know(id)
	k.held, k.holding = nil, false
}

// Raise implements controller.Store. A ceiling takes the place of the one that is known, and of no other: an operator whose term
// is over stores none, and so never uses a serial that another one may use.
func (s *zoneStore) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	z := s.z()
	if z.b.Leads != nil && !z.b.Leads() {
		return fmt.Errorf("storing the ceiling of %s: another operator may have become the leader: %w", id, backend.ErrConflict)
	}
	var first uint32
	for n := 0; ; n++ {
		var o v1beta1.DNSZone
		if err := z.b.Live.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, &o); err != nil {
			return fmt.Errorf("reading %s: %w", id, err)
		}
		if n == 0 {
			first = numberOf(o.Status.SerialCeiling)
		}
		if err := z.overtaken(id, first, numberOf(o.Status.SerialCeiling)); err != nil {
			return err
		}
		err := z.raise(ctx, id, &o, ceiling)
		if n == raises || !apierrors.IsConflict(err) { // mostly with what we write into the object ourselves
			return err
		}
	}
}

// raises is how often a ceiling is stored again that met with another version of the object.
const raises = 10

// overtaken tells of a ceiling that somebody else has stored: later than the one that is known, or was found first.
func (z *Zones) overtaken(id zone.ID, first, stored uint32) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	k := z.know(id)
	known := rr.LaterSerial(k.ceiling, first)
	if known != 0 && stored != 0 && rr.SerialLess(known, stored) || known == 0 && stored != 0 {
		k.ceiling = stored
		return &backend.Overtaken{Ceiling: stored}
	}
	return nil
}

// raise stores a ceiling in an object of this very version: nobody has stored another one since it was read.
func (z *Zones) raise(ctx context.Context, id zone.ID, o *v1beta1.DNSZone, ceiling uint32) error {
	stored := numberOf(o.Status.SerialCeiling)
	z.mu.Lock()
	ceiling = rr.LaterSerial(rr.LaterSerial(z.know(id).ceiling, stored), ceiling)
	z.mu.Unlock()
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": o.UID, "resourceVersion": o.ResourceVersion}, "status": map[string]any{"serialCeiling": int64(ceiling)},
	})
	if err != nil {
		return fmt.Errorf("encoding the ceiling of %s: %w", id, err)
	}
	err = z.b.Client.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, body), client.FieldOwner(controller.Manager))
	if apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
		return fmt.Errorf("storing the ceiling of %s in place of %d: %w: %w", id, stored, backend.ErrConflict, err)
	}
	if err != nil {
		return fmt.Errorf("storing the ceiling of %s: %w", id, err)
	}
	z.b.Metrics.Wrote(v1beta1.KindZone, "status")
	z.mu.Lock()
	z.know(id).ceiling = ceiling
	z.mu.Unlock()
	return nil
}

// Record implements controller.Store. The servers of fleets keep no foreign sets, so that there is nothing to write down.
func (s *zoneStore) Record(context.Context, zone.ID, []rr.Set) error { return nil }
