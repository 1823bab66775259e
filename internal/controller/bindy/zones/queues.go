package zones

import (
	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// queues are those of the objects whose status may have to change.
type queues struct {
	core           *core.Core
	zones, records *controller.Writer
}

func (q *queues) enqueue(id zone.ID) {
	if id.Kind == v1beta1.KindZone {
		q.zones.Enqueue(id)
	} else {
		q.records.Enqueue(id)
	}
}

func (q *queues) enqueueAll(ids []zone.ID) {
	for _, id := range ids {
		q.enqueue(id)
	}
}

func (q *queues) refresh(id zone.ID) { q.enqueueAll(q.core.Adopted(id)) }

func (q *queues) refreshSets(id zone.ID, keys []rr.Key) { q.enqueueAll(q.core.AdoptedAt(id, keys)) }
