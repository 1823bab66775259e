package kubizone

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/history"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/zone"
)

// A past keeps the history of Zones.
type past struct {
	*history.Keeper

	known guarded.Value[departed]
}

// departed is what is known of objects that the World does not tell.
type departed struct {
	gone    map[zone.ID]string // the labels of Records that were deleted, until the World has settled
	settled bool               // before, all objects seem to have changed
}

// left notes the Zone of a Record that is deleted, which the World does not know any more when it has settled.
func (p *past) left(r *v1alpha1.Record) {
	parent := r.Labels[v1alpha1.ParentZoneLabel]
	if !p.Keeps() || parent == "" {
		return
	}
	m, unlock := p.known.Lock()
	defer unlock()
	if m.gone == nil {
		m.gone = map[zone.ID]string{}
	}
	m.gone[dialect.RecordID(r.Namespace, r.Name)] = parent
}

// settled notes which objects one step of the World was about, by the Zones that they are in.
func (p *past) settled(s core.Settlement) {
	if !p.Keeps() {
		return
	}
	homes := map[string]zone.ID{}
	for _, delta := range s.Delta.Zones {
		homes[ParentLabel(delta.ID)] = delta.ID
	}
	m, unlock := p.known.Lock()
	defer unlock()
	first := !m.settled
	m.settled = true
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
			p.Touch(home, o.ID, !ok)
		}
	}
}

// historyOf is the Owner of the history of a Zone.
func (k *Controller) historyOf(id zone.ID, z *v1alpha1.Zone) history.Owner {
	return history.Owner{
		ID: id, Object: z, Kind: v1alpha1.GroupVersion.WithKind(zone.KindZone),
		Base: func() (zone.Snapshot, uint32, bool) {
			base, known := k.ledgers.published(id, z)
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
	z, err := zoneAt(ctx, k.Client, now.ID)
	if err != nil {
		return zone.Snapshot{}, nil, err
	}
	if z.Status.Hash != now.Hash { // the history ends with what is written down
		return zone.Snapshot{}, nil, &controller.Later{After: grace / 8}
	}
	return k.past.Earlier(ctx, k.historyOf(now.ID, z), now, serial)
}
