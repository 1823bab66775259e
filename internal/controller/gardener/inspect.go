package gardener

import (
	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/inspect"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Resources are the kinds of this dialect that can be inspected.
func Resources(i *delivery.Inspection) []inspect.Resource {
	return []inspect.Resource{{Group: v1alpha1.GroupVersion.Group, Plural: "dnsrecords", ID: dialect.RecordID,
		Inspection: i}}
}

// Inspect implements controller.Inspector: a record is at one hosted zone, once that is found.
func (k *Controller) Inspect(id zone.ID) (delivery.Inspected, error) {
	s, unlock := k.state.Lock()
	defer unlock()
	if !s.synced {
		return delivery.Inspected{}, delivery.ErrNotLeading
	}
	r := s.records[id]
	if r == nil {
		return delivery.Inspected{}, delivery.ErrUnknown
	}
	out := delivery.Inspected{Set: r.key}
	if r.key == (rr.Key{}) {
		return out, nil
	}
	standing := delivery.ServerStanding{Delivered: delivery.Delivered{Place: r.object.Spec.Type}}
	if at := r.at(); at != nil {
		standing.Zone, standing.Server, out.Zone = at.key.Zone, at.key.Server, at.key.Zone
		standing.Standing, _ = k.Engine.StandingOfSets(at.key, at.feed)
	}
	if h := r.holding; h != nil && !r.isPending() {
		standing.Data, standing.Shown = h.set.Data, true
	}
	switch run := r.run; {
	case run.failing():
		standing.Failures, standing.Since, standing.Running = run.failures, run.since, false
		if !run.next.IsZero() {
			standing.Next = run.next
		}
		if e := r.object.Status.LastError; e != nil {
			standing.Reason, standing.Message = stateOf(r.object), e.Description
		}
	case run.active():
		standing.Running = true
	}
	out.Servers = []delivery.ServerStanding{standing}
	return out, nil
}

// at returns the hosted zone that a record is, or is to be, in; nil: it is not found yet.
func (r *record) at() *hostedZone {
	switch {
	case r.run != nil && r.run.at != nil:
		return r.run.at
	case r.holding != nil:
		return r.holding.at
	}
	return nil
}
