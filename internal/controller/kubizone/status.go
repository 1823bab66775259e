package kubizone

import (
	"slices"

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

// tellZone puts into the status of a Zone what is to be said about it, apart from its content. What the status says of
// Backends stays as long as nobody has taken it in: where the Zone is, is written down nowhere else.
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
	if out.Known {
		tellPlaces(status, out.Places)
	}
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

// lowered reports whether somebody else has lowered a ceiling, such as a leader whose
// term is over: below it serials have been used.
func lowered(stored *v1alpha1.Number, ceiling uint32) bool {
	return ceiling != 0 && (stored == nil || rr.SerialLess(uint32(*stored), ceiling))
}
