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
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.synced {
		return delivery.Inspected{}, delivery.ErrNotLeading
	}
	r := k.records[id]
	if r == nil {
		return delivery.Inspected{}, delivery.ErrUnknown
	}
	out := delivery.Inspected{Set: r.key}
	if r.key == (rr.Key{}) {
		return out, nil
	}
	s := delivery.ServerStanding{Delivered: delivery.Delivered{Place: r.object.Spec.Type}}
	if at := r.at(); at != nil {
		s.Zone, s.Server, out.Zone = at.key.Zone, at.key.Server, at.key.Zone
		s.Standing, _ = k.Engine.StandingOfSets(at.key)
	}
	if h := r.holding; h != nil && !h.pending {
		s.Data, s.Shown = h.set.Data, true
	}
	switch run := r.run; {
	case run.failing():
		s.Failures, s.Since, s.Running = run.failures, run.since, false
		if !run.next.IsZero() {
			s.Next = run.next
		}
		if e := r.object.Status.LastError; e != nil {
			s.Reason, s.Message = stateOf(r.object), e.Description
		}
	case run.active():
		s.Running = true
	}
	out.Servers = []delivery.ServerStanding{s}
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
