package zones

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// ContentOf says what a pod has to have before it is ready, and whether it can be told: it has all of it, as that
// was at some moment after it came. A zone that a secondary can transfer from nobody keeps its others from nobody.
// If it has not, the instance is woken when that may have changed.
func (z *Zones) ContentOf(instance client.ObjectKey, uid types.UID) (names []string, complete bool) {
	z.pending.add(instance)
	st, unlock := z.state.Lock()
	h := st.hosts[instance]
	pod := h.pod(uid)
	var ids, follows []zone.ID // that the instance has as a primary, and others
	for id, fleet := range st.fleets {
		switch {
		case slices.Contains(fleet.primaries, instance):
			ids = append(ids, id)
		case fleet.has(instance) && len(fleet.primaries) > 0:
			follows = append(follows, id)
		}
	}
	swept := pod != nil && !h.unswept[uid]
	unlock()
	if !swept {
		return nil, false
	}
	complete = z.pending.decidedFor(instance)
	if pod.primary {
		var all bool
		names, all = z.atPrimary(pod, ids)
		complete = complete && all
	}
	for _, id := range follows {
		st, unlock := z.state.Lock()
		f := st.follows[id][uid]
		there := f != nil && f.there() && f.whole
		without := st.elder(id, instance) != ""
		unlock()
		if without || z.serversOf(id).Refused(id) {
			continue
		}
		name, served, decided := z.nameOf(id)
		if complete = complete && decided && (there || !served); served {
			names = append(names, dialect.CanonicalZone(name.String()))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), complete
}

// atPrimary is ContentOf a primary, in no order.
func (z *Zones) atPrimary(pod *Pod, ids []zone.ID) (names []string, complete bool) {
	complete = true
	wanted := map[zone.ID]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for _, s := range z.allServers() {
		zones, all := s.ZonesAt(pod.server.Name, func(id zone.ID) bool { return wanted[id] })
		complete = complete && all
		for _, name := range zones {
			names = append(names, dialect.CanonicalZone(name.String()))
		}
	}
	return names, complete
}
