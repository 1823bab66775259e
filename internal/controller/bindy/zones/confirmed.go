package zones

import "github.com/zonefold/zonefold/internal/zone"

// visitConfirmed has a zone of another dialect looked at at those primaries that have confirmed it and were not looked
// at since: it was made there with the settings of a moment ago. That a server confirms what another one has is news of
// nothing else.
func (z *Zones) visitConfirmed(id zone.ID) {
	var made []*Pod
	st, unlock := z.state.Lock()
	for _, f := range st.follows[id] {
		if f.writes && !f.there {
			made = append(made, f.pod)
		}
	}
	unlock()
	for _, p := range made {
		if z.assigner.Load().Has(id, p.server.Name) {
			z.servers.Enqueue(followID(id, p.UID))
		}
	}
}
