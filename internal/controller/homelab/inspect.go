package homelab

import (
	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/inspect"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// Resources are the kinds of this dialect that can be inspected.
func Resources(i *delivery.Inspection) []inspect.Resource {
	return []inspect.Resource{{Group: v1alpha1.GroupVersion.Group, Plural: "dnsrecords", ID: dialect.RecordID,
		Inspection: i}}
}

// Inspect implements controller.Inspector: a record is at the server of its class.
func (k *Controller) Inspect(id zone.ID) (delivery.Inspected, error) {
	select {
	case <-k.begun:
	default:
		return delivery.Inspected{}, delivery.ErrNotLeading
	}
	m, unlock := k.model.Lock()
	defer unlock()
	r := m.records[id]
	if r == nil || !r.decided() {
		return delivery.Inspected{}, delivery.ErrUnknown
	}
	var out delivery.Inspected
	s, c := m.slots[r.key], m.classes[r.key.class]
	if s == nil || c == nil || !r.verdict.Accepted && r.applied == nil {
		return out, nil
	}
	one := delivery.ServerStanding{Delivered: delivery.Delivered{Place: c.name},
		Server: servers.ServerOf(c.object.Spec.Server), Standing: engine.Standing{Heard: r.synced}}
	if h := c.checked; h != nil && h.status == v1alpha1.Healthy && h.at.After(one.Heard) {
		one.Heard = h.at
	}
	if tries := s.failing(); tries.failure != nil {
		one.Reason, one.Message = tries.failure.Reason, tries.failure.Message
		one.Failures, one.Since, one.Next = tries.failures, tries.since, tries.Next
	}
	if w, known := m.want(s); known && w != nil && s.confirmed == w.hash {
		one.Data, one.Shown = w.record.Values, true
	}
	out.Servers = []delivery.ServerStanding{one}
	return out, nil
}
