package kubizone

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/history"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// left notes the Zone of a Record that is deleted, which the World does not know any more when it has settled.
func (k *Controller) left(r *v1alpha1.Record) {
	parent := r.Labels[v1alpha1.ParentZoneLabel]
	if k.History == 0 || parent == "" {
		return
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	m.gone[dialect.RecordID(r.Namespace, r.Name)] = parent
}

// noteObjects notes which objects one step of the World was about, by the Zones that they are in.
func (k *Controller) noteObjects(s core.Settlement) {
	if k.History == 0 {
		return
	}
	homes := map[string]zone.ID{}
	for _, delta := range s.Delta.Zones {
		homes[ParentLabel(delta.ID)] = delta.ID
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	first := !m.settledOnce
	m.settledOnce = true
	for _, o := range s.Inputs {
		label, left := m.gone[o.ID]
		delete(m.gone, o.ID)
		v, ok := s.View.Verdict(o.ID)
		home := v.Zone
		switch {
		case first:
			continue
		case o.ID.Kind == zone.KindZone:
			home = o.ID
		case !ok && left:
			home = homes[label]
		}
		if !home.IsZero() && (ok || left) {
			k.past.Touch(home, o.ID, !ok)
		}
	}
}

// historyOf is the Owner of the history of a Zone.
func (k *Controller) historyOf(id zone.ID, z *v1alpha1.Zone) history.Owner {
	return history.Owner{
		ID: id, Object: z, Kind: v1alpha1.GroupVersion.WithKind(zone.KindZone),
		Base: func() (zone.Snapshot, uint32, bool) {
			base, known := k.published(id, z)
			return base, labelled(z).Serial, known
		},
		Newest: func() zone.Snapshot {
			m, unlock := k.memory.Lock()
			defer unlock()
			return m.zoneState(id).content
		},
	}
}

// kindOf returns what an object that a Zone has changed by is in the API, if it is one of kubi.zone.
func kindOf(id zone.ID) (schema.GroupVersionKind, bool) {
	return v1alpha1.GroupVersion.WithKind(id.Kind), id.Kind == zone.KindZone || id.Kind == zone.KindRecord
}

// earlier is the delivery.Earlier of Zones.
func (k *Controller) earlier(ctx context.Context, now zone.Snapshot, serial uint32) (then zone.Snapshot, refusal,
	err error) {
	z, err := k.zone(ctx, now.ID)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if z.Status.Hash != now.Hash { // the history ends with what is written down
		return zone.Snapshot{}, nil, &controller.Later{After: grace / 8}
	}
	return k.past.Earlier(ctx, k.historyOf(now.ID, z), now, serial)
}
