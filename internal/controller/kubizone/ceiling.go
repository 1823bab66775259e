package kubizone

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// newCeilings stores the ceilings of Zones.
func newCeilings(w *objects.Writer, live client.Reader) *controller.Ceilings {
	return &controller.Ceilings{
		Objects: w, Live: live,
		New: func() client.Object { return &v1alpha1.Zone{} },
		Stored: func(o client.Object) uint32 {
			if z, ok := o.(*v1alpha1.Zone); ok && z.Status.SerialCeiling != nil {
				return uint32(*z.Status.SerialCeiling)
			}
			return 0
		},
	}
}

// Raise implements controller.Store.
func (s *store) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	return s.ceilings.Raise(ctx, id, ceiling)
}

// releaseSerials has the status of a Zone, which is going to tell of a label, say that no
// serial after it was used: a server that forgets what it served cannot say so itself.
// It returns Later while that is not so.
func (k *Controller) releaseSerials(id zone.ID, z *v1alpha1.Zone, label engine.Label,
	want *v1alpha1.ZoneStatus) error {
	stored := z.Status.SerialCeiling
	if label.ID == "" || stored == nil || uint32(*stored) == label.Serial {
		return nil
	}
	switch settled, forgets := k.releases(id, label); {
	case !forgets:
		return nil
	case !settled:
		return &controller.Later{After: grace}
	}
	want.SerialCeiling = number(label.Serial)
	return nil
}

// releases reports whether no serial after a label was used, and none will be before another ceiling is stored. Without
// a server that forgets what it served nothing is settled.
func (k *Controller) releases(id zone.ID, label engine.Label) (settled, forgets bool) {
	now, settled, forgets := k.Deliveries.ReleaseSerials(id)
	return settled && now.ID == label.ID && now.Serial == label.Serial, forgets
}
