package bindy

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/zone"
)

// visitConfirmed has a zone of another dialect looked at at those primaries that have confirmed it and were not looked at since: it was made there
// with the settings of a moment ago. That a server confirms what another one has is news of nothing else.
func (z *Zones) visitConfirmed(id zone.ID) {
	var made []*Pod
	z.mu.Lock()
	for _, f := range z.follows[id] {
		if f.writes && !f.there {
			made = append(made, f.pod)
		}
	}
	z.mu.Unlock()
	for _, p := range made {
		if z.hosted.Has(id, p.server.Name) {
			z.servers.Enqueue(followID(id, p.UID))
		}
	}
}

// isLodged reports whether an entry of the status of an instance is of a Zone that another dialect has in the cluster of the instance, whether or not
// it has been taken over by lodge: all Zones may have been decided about before the last of them is.
func (z *Zones) isLodged(i *v1beta1.Bind9Instance, old v1beta1.InstanceZone) bool {
	if old.Kind == v1beta1.KindZone || z.hosted == nil {
		return false
	}
	e := entryOf(old)
	now := z.hosted.LodgingOf(e.id)
	return e.isOf(entry{id: e.id, uid: now.UID}) && canonicalZone(now.Zone.String()) == e.name &&
		slices.Contains(now.Fleets, types.NamespacedName{Namespace: i.Namespace, Name: i.Spec.ClusterRef})
}
