package kubizone

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// recordStatus returns what is to be said about a Record.
func recordStatus(c controller.Conditions, v zone.Verdict, served controller.Outcome) v1alpha1.RecordStatus {
	c.Judged(v, served)
	return v1alpha1.RecordStatus{FQDN: v.Name.String(), ObservedGeneration: c.Generation, Conditions: c.List()}
}

// tellZone puts into the status of a Zone what is to be said about it, apart from its content.
func tellZone(status *v1alpha1.ZoneStatus, c controller.Conditions, v zone.Verdict, out delivery.ZoneOutcome) {
	c.Judged(v, out.Served)
	if status.Slices > 0 {
		c.Set(controller.ConditionSliced, controller.OK(controller.ReasonInSlices,
			"The zone has more entries than fit here; the ZoneSlices of this Zone hold all of them."))
	}
	if out.Frozen != nil {
		c.Set(controller.ConditionFrozen, out.Frozen.Condition())
	}
	status.Held = nil
	if h := out.Held; h != nil {
		c.Set(controller.ConditionHeld, h.Outcome)
		status.Held = &v1alpha1.Held{Plan: h.Plan, Sets: int32(h.Sets), Examples: h.Names}
	}
	status.FQDN, status.ObservedGeneration, status.Conditions = v.Name.String(), c.Generation, c.List()
	tellPlaces(status, out.Places)
}

// tellPlaces tells where a Zone stands with each Backend.
func tellPlaces(status *v1alpha1.ZoneStatus, places []delivery.PlaceOutcome) {
	status.Backends = nil
	for _, p := range places {
		b := v1alpha1.ZoneBackend{Name: p.Place, FQDN: p.Zone.String(), Reason: p.Reason, Message: p.Message}
		if p.Serial != 0 {
			b.Serial = number(p.Serial)
		}
		status.Backends = append(status.Backends, b)
	}
}

func number(n uint32) *v1alpha1.Number {
	out := v1alpha1.Number(n)
	return &out
}

// onlySerials reports whether Backends have got on, and nothing else is to be said of them.
func onlySerials(before, after []v1alpha1.ZoneBackend) bool {
	return slices.EqualFunc(before, after, func(a, b v1alpha1.ZoneBackend) bool {
		a.Serial, b.Serial = nil, nil
		return a == b
	})
}

// statusRest is how long the content of a Zone, and the serials of its Backends, rest after they were told: each change
// of a Record changes them, and two leaders, as there are for a moment when somebody deletes the Lease, would take them
// back from one another hundreds of times a second. Whether the Zone is served is told at once.
const statusRest = time.Second / 2

// restSerials leaves the serials of Backends in want as they are told where they are the only news of Backends and can
// wait. Of a large zone they go with the content that is to be written later: it costs as much as any write of its
// status. It returns when to look again.
func (k *Controller) restSerials(id zone.ID, z *v1alpha1.Zone, want *v1alpha1.ZoneStatus, later error) error {
	if equality.Semantic.DeepEqual(z.Status.Backends, want.Backends) || !onlySerials(z.Status.Backends, want.Backends) {
		return later
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	s, now := m.zoneState(id), k.Clock.Now()
	wait := s.told.Add(statusRest).Sub(now)
	switch large := s.pause > 0; {
	case later != nil && large:
		want.Backends = z.Status.Backends
	case wait > 0:
		want.Backends = z.Status.Backends
		var then *controller.Later
		if !errors.As(later, &then) || then.After > wait {
			later = &controller.Later{After: wait}
		}
	default:
		s.told = now
	}
	return later
}

// lowered reports whether somebody else has lowered a ceiling, such as a leader whose
// term is over: below it serials have been used.
func lowered(stored *v1alpha1.Number, ceiling uint32) bool {
	return ceiling != 0 && (stored == nil || rr.SerialLess(uint32(*stored), ceiling))
}
