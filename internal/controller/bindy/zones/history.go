package zones

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/history"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=zonefold.dev,resources=zonerevisions,verbs=list;create;delete

// settling is having contents become those of zones. Only one has it at a time: nobody sees a content of which the
// history has not heard.
type settling struct{ z *Zones }

// settle hands one step of the World to Deliveries, and to the history: who sees a content finds what has changed
// noted.
func (t *settling) settle(s core.Settlement) {
	z := t.z
	z.deliveries.Settle(s)
	if !z.past.Keeps() {
		return
	}
	for _, delta := range s.Delta.Zones {
		z.past.Note(delta)
	}
	t.noteObjects(s)
}

// noteObjects notes which objects one step of the World was about, by the zones that they are in.
func (t *settling) noteObjects(s core.Settlement) {
	st, unlock := t.z.state.Lock()
	defer unlock()
	for _, o := range s.Inputs {
		home, left := st.gone[o.ID]
		delete(st.gone, o.ID)
		v, ok := s.View.Verdict(o.ID)
		switch {
		case !t.z.first.Load(): // all objects seem to have changed
			continue
		case o.ID.Kind == v1beta1.KindZone:
			home = o.ID
		case ok:
			home = v.Zone
		}
		if !home.IsZero() && (ok || left) {
			t.z.past.Touch(home, o.ID, !ok)
		}
	}
}

// left notes the zone of a record that is deleted, which the World does not know any more when it has settled.
func (st *state) left(r dialect.Record) {
	if ref := r.Status.ZoneRef; ref != nil && st.z.past.Keeps() {
		st.gone[r.ID] = dialect.ZoneID(ref.Namespace, ref.Name)
	}
}

// histories are those of DNSZones.
type histories struct{ z *Zones }

// republished notes that what is published of a zone may be anything else: it was frozen or thawed.
func (h histories) republished(id zone.ID) { h.z.past.Note(zone.ZoneDelta{ID: id, Fresh: true}) }

// outcome is what came of the delivery of a zone.
func (z *Zones) outcome(id zone.ID) delivery.ZoneOutcome {
	t, done := z.settling.Lock()
	defer done()
	return t.z.deliveries.ZoneOutcome(id)
}

// label puts into the status of a zone which content servers have. With a history it is one that the history leads to.
func (r *zoneReport) label(status *v1beta1.DNSZoneStatus) {
	if r.out.Label.ID == "" || r.z.past.Keeps() && r.out.Label.ID != contentID(r.out.Snapshot) {
		return
	}
	serial := int64(r.out.Label.Serial)
	status.Serial, status.Content = &serial, r.out.Label.ID
}

// begin has the history of a zone begin with what an earlier run has written down, if objects still say that: the
// status has its hash alone.
func (r *zoneReport) begin() {
	if r.z.past.Keeps() && r.o.Status.Content == contentID(r.out.Snapshot) {
		was := r.out.Snapshot
		was.SOA.Serial = numberOf(r.o.Status.Serial)
		r.z.past.Written(r.id, was)
	}
}

// revise stores how the content of a zone has changed that its status is about to name.
func (r *zoneReport) revise(ctx context.Context, status *v1beta1.DNSZoneStatus) {
	if !r.z.past.Keeps() || status.Content == r.o.Status.Content || status.Content != contentID(r.out.Snapshot) {
		return
	}
	now := r.out.Snapshot
	now.SOA.Serial = numberOf(status.Serial)
	r.z.past.Revise(ctx, histories{r.z}.of(r.o), now, r.out.Frozen.RolledBack())
}

// of is the Owner of the history of a zone. What was written down before is not in the cluster, unless the zone
// is frozen.
func (h histories) of(o *v1beta1.DNSZone) history.Owner {
	id := dialect.ZoneID(o.Namespace, o.Name)
	return history.Owner{
		ID: id, Object: o, Kind: v1beta1.GroupVersion.WithKind(v1beta1.KindZone),
		Base: func() (zone.Snapshot, uint32, bool) { // else what begin has found
			base, known := published(o)
			return base, numberOf(o.Status.Serial), known
		},
		Newest: func() zone.Snapshot { return h.z.outcome(id).Snapshot },
	}
}

// kindOf returns what an object that a zone has changed by is in the API.
func kindOf(id zone.ID) (schema.GroupVersionKind, bool) {
	return v1beta1.GroupVersion.WithKind(id.Kind), true
}

// earlier is the delivery.Earlier of DNSZones.
func (h histories) earlier(ctx context.Context, now zone.Snapshot, serial uint32) (then zone.Snapshot, refusal,
	err error) {
	o, err := h.z.zone(ctx, now.ID)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if !strings.HasPrefix(o.Status.Content, now.Hash+" ") { // the history ends with what is written down
		return zone.Snapshot{}, nil, &controller.Later{After: grace / 8}
	}
	return h.z.past.Earlier(ctx, h.of(o), now, serial)
}
