package homelab

import (
	"time"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// A class is what is known about a DNSClass.
type class struct {
	name     string
	object   *v1alpha1.DNSClass
	revision string // of the spec and of the Secrets that it names: what failed may work with another one

	checked *check // the last health check; nil: none yet
	since   time.Time
	batch   bool      // the server takes several records at once
	fewer   int       // how many at most, since it has failed with more; 0: it has not
	noGet   bool      // the server does not tell what it has
	shown   bool      // it has told
	poorly  int       // how many checks in turn have found it unhealthy
	woken   time.Time // when a success has had what failed be tried again, although it was unhealthy
	pause   pause
	server  *servers.Server
}

// warn tells of a class what may be wrong with it.
func (k *Controller) warn(o *v1alpha1.DNSClass, reason, note string) {
	if k.Events != nil {
		k.Events.Eventf(o, nil, "Warning", reason, "Sign", "%s", note)
	}
}
