package zones

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// An inspector is for who asks how the servers of zones stand.
type inspector struct{ z *Zones }

// Inspect implements controller.Inspector: a zone is at primaries, to which it is delivered, and at secondaries, which
// follow these.
func (i inspector) Inspect(id zone.ID) (delivery.Inspected, error) {
	out, err := delivery.InspectorOf(i.z.core, i.z.deliveries).Inspect(id)
	if err != nil || out.Home.IsZero() {
		return out, err
	}
	st, unlock := i.z.state.Lock()
	defer unlock()
	for _, f := range st.secondariesOf(out.Home) {
		out.Servers = append(out.Servers, st.standing(f))
	}
	return out, nil
}

// Looks implements delivery.Looker: secondaries should hold what the primaries do.
func (i inspector) Looks(id zone.ID) (dnsname.Name, []delivery.ServerLook, error) {
	name, out, err := delivery.InspectorOf(i.z.core, i.z.deliveries).Looks(id)
	if err != nil || len(out) == 0 {
		return name, out, err
	}
	content := out[0].Content
	st, unlock := i.z.state.Lock()
	defer unlock()
	for _, f := range st.secondariesOf(id) {
		out = append(out, delivery.ServerLook{
			Delivered: delivery.Delivered{Place: placeOf(f.pod.instance), Zone: f.name}, Server: f.pod.Title(),
			Look: engine.Look{Zone: f.name, Server: string(f.pod.UID), Content: content, Reader: f.pod.follower},
		})
	}
	return name, out, nil
}

// secondariesOf is what is known of a zone at its secondaries, in their order.
func (st *state) secondariesOf(id zone.ID) (out []*follow) {
	for _, f := range st.follows[id] {
		if !f.writes {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *follow) int {
		return cmp.Or(compareKeys(a.pod.instance, b.pod.instance), compareKeys(a.pod.key, b.pod.key))
	})
	return out
}

// standing says how a secondary stands.
func (*state) standing(f *follow) delivery.ServerStanding {
	s := delivery.ServerStanding{Delivered: delivery.Delivered{Place: placeOf(f.pod.instance), Zone: f.name},
		Server: f.pod.Title(), Serial: f.serial, Standing: engine.Standing{Heard: f.heard}}
	if f.trouble != "" {
		s.Reason, s.Message = string(v1beta1.StateFailed), f.trouble
		s.Since, s.Failures, s.Next = f.behind, f.tries, f.next
	}
	return s
}
