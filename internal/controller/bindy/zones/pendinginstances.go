package zones

import (
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/zone"
)

// decidedAgain is when to see again whether all zones have been decided about: the last step to that may be about no
// zone at all, and nobody tells of it then.
const decidedAgain = 100 * time.Millisecond

// pendingInstances are those that were looked at before everything was known that matters to them.
type pendingInstances struct {
	z  *Zones
	of guarded.Value[map[client.ObjectKey]bool]
}

// decidedFor is decided for a look at an instance. One that is too early is repeated when they have been gathered.
func (p *pendingInstances) decidedFor(instance client.ObjectKey) bool {
	if p.z.decided() {
		return true
	}
	p.add(instance)
	p.z.assigner.queue.Enqueue(zone.ID{})
	return false
}

// add records that an instance is looked at when a zone of another dialect may not be at all of its servers: the next
// news of one of those that it has is an event of its own. It is called before the look, which may not see what comes
// meanwhile.
func (p *pendingInstances) add(instance client.ObjectKey) {
	of, unlock := p.of.Lock()
	defer unlock()
	if *of == nil {
		*of = map[client.ObjectKey]bool{}
	}
	(*of)[instance] = true
}

// forget forgets an instance that is gone.
func (p *pendingInstances) forget(instance client.ObjectKey) {
	of, unlock := p.of.Lock()
	defer unlock()
	delete(*of, instance)
}

// wake has those instances of a zone looked at again that may have been looked at too early for it.
func (p *pendingInstances) wake(id zone.ID) {
	var early []client.ObjectKey
	all := p.z.fleetOf(id).all()
	of, unlock := p.of.Lock()
	for _, key := range all {
		if (*of)[key] {
			delete(*of, key)
			early = append(early, key)
		}
	}
	unlock()
	p.z.wakeInstances(early...)
}

// repeat has instances looked at again that were too early, as soon as that is not so any more.
func (p *pendingInstances) repeat() error {
	if !p.z.decided() {
		return &controller.Later{After: decidedAgain}
	}
	of, unlock := p.of.Lock()
	early := slices.Collect(maps.Keys(*of))
	clear(*of)
	unlock()
	p.z.wakeInstances(early...)
	return nil
}
