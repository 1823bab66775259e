package zones

import (
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// decidedAgain is when to see again whether all zones have been decided about: the last step to that may be about no
// zone at all, and nobody tells of it then.
const decidedAgain = 100 * time.Millisecond

// assignmentsDecided reports whether the other dialect, if there is one, has decided about all of its zones, and
// reconcileAssignment has taken them over.
func (z *Zones) assignmentsDecided() bool {
	s := z.assigner.Load()
	if s == nil || !s.Decided() {
		return z.assignerVersion == ""
	}
	st, unlock := z.state.Lock()
	all := st.takenOver == nil
	unlock()
	if all {
		return true
	}
	assigned := s.Assigned()
	st, unlock = z.state.Lock()
	defer unlock()
	for _, id := range assigned {
		if !st.takenOver[id] {
			return false
		}
	}
	st.takenOver = nil
	return true
}

// decidedFor is decided for a look at an instance. One that is too early is repeated when they have been gathered.
func (z *Zones) decidedFor(instance client.ObjectKey) bool {
	if z.decided() {
		return true
	}
	z.addPending(instance)
	z.assignmentQueue.Enqueue(zone.ID{})
	return false
}

// addPending records that an instance is looked at when a zone of another dialect may not be at all of its servers: the
// next news of one of those that it has is an event of its own. It is called before the look, which may not see what
// comes meanwhile.
func (z *Zones) addPending(instance client.ObjectKey) {
	st, unlock := z.state.Lock()
	defer unlock()
	st.pendingInstances[instance] = true
}

// wakePending has those instances of a zone looked at again that may have been looked at too early for it.
func (z *Zones) wakePending(id zone.ID) {
	var early []client.ObjectKey
	st, unlock := z.state.Lock()
	for _, key := range st.fleets[id].all() {
		if st.pendingInstances[key] {
			delete(st.pendingInstances, key)
			early = append(early, key)
		}
	}
	unlock()
	z.wakeInstances(early...)
}

// repeat has instances looked at again that were too early, as soon as that is not so any more.
func (z *Zones) repeat() error {
	if !z.decided() {
		return &controller.Later{After: decidedAgain}
	}
	st, unlock := z.state.Lock()
	early := slices.Collect(maps.Keys(st.pendingInstances))
	clear(st.pendingInstances)
	unlock()
	z.wakeInstances(early...)
	return nil
}
