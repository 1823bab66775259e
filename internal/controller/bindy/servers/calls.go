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
	"github.com/zonefold/zonefold/internal/guarded"
)

// calls are those to the sidecars of pods. The zero value is ready for use.
type calls struct{ guarded.Value[callsKnown] }

// callsKnown are the calls that are under way, and what is known of sidecars that do not answer.
type callsKnown struct {
	places map[string]*places // by namespace, of those with objects whose pods are being called
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

// places are those of one namespace.
type places struct {
	taken chan struct{}
	users int // who has one, or waits for one
}

// enter takes one of a namespace's places, or returns nil if none is free soon.
func (c *calls) enter(ctx context.Context, namespace string) (leave func()) {
	taken := c.places(namespace)
	soon, cancel := context.WithTimeout(ctx, objectWait)
	defer cancel()
	select {
	case taken <- struct{}{}:
		return func() {
			<-taken
			c.left(namespace)
		}
	case <-soon.Done():
		c.left(namespace)
		return nil
	}
}

// places returns those of a namespace to one more user.
func (c *calls) places(namespace string) (taken chan struct{}) {
	k, unlock := c.Lock()
	defer unlock()
	p := k.places[namespace]
	if p == nil {
		if k.places == nil {
			k.places = map[string]*places{}
		}
		p = &places{taken: make(chan struct{}, objectsAtOnce)}
		k.places[namespace] = p
	}
	p.users++
	return p.taken
}

// left notes that a user of a namespace's places needs none any more.
func (c *calls) left(namespace string) {
	k, unlock := c.Lock()
	defer unlock()
	if k.places[namespace].users--; k.places[namespace].users == 0 {
		delete(k.places, namespace)
	}
}

// silence is what is known of a pod's sidecar.
func (c *calls) silence(p *corev1.Pod) silence {
	k, unlock := c.Lock()
	defer unlock()
	return k.silence(p)
}

func (k *callsKnown) silence(p *corev1.Pod) silence {
	known := k.silent[p.UID]
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
	k, unlock := c.Lock()
	defer unlock()
	known := k.silence(p)
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		delete(k.silent, p.UID)
		return
	}
	// of pods that are gone
	maps.DeleteFunc(k.silent, func(_ types.UID, old silence) bool { return now.Sub(old.until) > time.Hour })
	if k.silent == nil {
		k.silent = map[types.UID]silence{}
	}
	known.err, known.times = err, known.times+1
	_, known.restarts = dialect.SidecarState(p)
	known.until = now.Add(CallTime + backend.Doubled{First: firstPause, Most: mostPause}.After(known.times))
	k.silent[p.UID] = known
}
