package bindy

import (
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// decidedAgain is when to see again whether all zones have been decided about: the last step to that may be about no zone at all, and nobody
// tells of it then.
const decidedAgain = 100 * time.Millisecond

// decidedFor is decided for a look at an instance. One that is too early is repeated when they have been gathered.
func (z *Zones) decidedFor(instance client.ObjectKey) bool {
	if z.decided() {
		return true
	}
	z.mu.Lock()
	z.early[instance] = true
	z.mu.Unlock()
	z.lodging.Enqueue(zone.ID{})
	return false
}

// repeat has instances looked at again that were too early, as soon as that is not so any more.
func (z *Zones) repeat() error {
	if !z.decided() {
		return &controller.Later{After: decidedAgain}
	}
	z.mu.Lock()
	early := slices.Collect(maps.Keys(z.early))
	clear(z.early)
	z.mu.Unlock()
	z.wakeInstances(early...)
	return nil
}
