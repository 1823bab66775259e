package servers

import (
	"context"
	"errors"
	"maps"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// calls are those to the sidecars of pods that are under way, and what is known of sidecars that do not answer. The
// zero value is ready for use.
type calls struct {
	mu     sync.Mutex
	places map[string]chan struct{} // of a namespace, those of its objects whose pods are being called
	silent map[types.UID]silence
}

// errBusy says that a sidecar was not called because others of its namespace were.
var errBusy = errors.New("the operator is calling other sidecars of the namespace")

// A silence is what is known of a sidecar that took all of its time: it costs others theirs, so it is called less and
// less often.
type silence struct {
	err      error
	restarts int32 // of the sidecar, which starts with a clean slate
	times    int
	until    time.Time
}

// Each calls all pods of an object, a few at a time and none that is silent, and returns what each came to. All
// together have the time of one call, and few objects of a namespace have a turn at once.
func (s *Servers) Each(ctx context.Context, now time.Time, pods []corev1.Pod,
	call func(ctx context.Context, i int) error) []error {
	c := &s.calls
	errs := make([]error, len(pods))
	var due []int
	for i := range pods {
		if known := c.silence(&pods[i]); known.until.After(now) {
			errs[i] = known.err
			continue
		}
		due = append(due, i)
	}
	if len(due) == 0 {
		return errs
	}
	leave := c.enter(ctx, pods[due[0]].Namespace)
	ctx, cancel := context.WithTimeout(ctx, CallTime)
	defer cancel()
	if leave == nil {
		cancel() // nobody is called
	} else {
		defer leave()
	}
	free := make(chan struct{}, sidecarsAtOnce)
	var running sync.WaitGroup
	for _, i := range due {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				if errs[i] = c.silence(&pods[i]).err; errs[i] == nil {
					errs[i] = errBusy
				}
				return
			}
			errs[i] = call(ctx, i)
			c.heard(&pods[i], now, errs[i])
		})
	}
	running.Wait()
	return errs
}

// enter takes one of a namespace's places, or returns nil if none is free soon.
func (c *calls) enter(ctx context.Context, namespace string) (leave func()) {
	c.mu.Lock()
	if c.places == nil {
		c.places = map[string]chan struct{}{}
	}
	if c.places[namespace] == nil {
		c.places[namespace] = make(chan struct{}, objectsAtOnce)
	}
	places := c.places[namespace]
	c.mu.Unlock()
	soon, cancel := context.WithTimeout(ctx, objectWait)
	defer cancel()
	select {
	case places <- struct{}{}:
		return func() { <-places }
	case <-soon.Done():
		return nil
	}
}

// silence is what is known of a pod's sidecar.
func (c *calls) silence(p *corev1.Pod) silence {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.silent[p.UID]
	if _, restarts := dialect.SidecarState(p); known.restarts != restarts {
		return silence{}
	}
	return known
}

// pause is how long a sidecar is not called yet.
func (c *calls) pause(p *corev1.Pod, now time.Time) time.Duration {
	return c.silence(p).until.Sub(now)
}

// heard notes what a call came to.
func (c *calls) heard(p *corev1.Pod, now time.Time, err error) {
	known := c.silence(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		delete(c.silent, p.UID)
		return
	}
	// of pods that are gone
	maps.DeleteFunc(c.silent, func(_ types.UID, old silence) bool { return now.Sub(old.until) > time.Hour })
	if c.silent == nil {
		c.silent = map[types.UID]silence{}
	}
	known.err, known.times = err, known.times+1
	_, known.restarts = dialect.SidecarState(p)
	known.until = now.Add(CallTime + backend.Doubled{First: firstPause, Most: mostPause}.After(known.times))
	c.silent[p.UID] = known
}
