package bindy

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
)

// errBusy says that a sidecar was not called because others of its namespace were.
var errBusy = errors.New("other sidecars of the namespace are being called")

// A silence is what is known of a sidecar that took all of its time: it costs others theirs, so it is called less and
// less often.
type silence struct {
	err      error
	restarts int32 // of the sidecar, which starts with a clean slate
	times    int
	until    time.Time
}

// each calls all pods of an object, a few at a time and none that is silent, and returns what each came to. All
// together have the time of one call, and few objects of a namespace have a turn at once.
func (s *sidecars) each(ctx context.Context, now time.Time, pods []corev1.Pod,
	call func(ctx context.Context, i int) error) []error {
	errs := make([]error, len(pods))
	var due []int
	for i := range pods {
		if known := s.silence(&pods[i]); known.until.After(now) {
			errs[i] = known.err
			continue
		}
		due = append(due, i)
	}
	if len(due) == 0 {
		return errs
	}
	leave := s.enter(ctx, pods[due[0]].Namespace)
	ctx, cancel := context.WithTimeout(ctx, sidecarCall)
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
				if errs[i] = s.silence(&pods[i]).err; errs[i] == nil {
					errs[i] = errBusy
				}
				return
			}
			errs[i] = call(ctx, i)
			s.heard(&pods[i], now, errs[i])
		})
	}
	running.Wait()
	return errs
}

// enter takes one of a namespace's places, or returns nil if none is free soon.
func (s *sidecars) enter(ctx context.Context, namespace string) (leave func()) {
	s.mu.Lock()
	if s.places == nil {
		s.places = map[string]chan struct{}{}
	}
	if s.places[namespace] == nil {
		s.places[namespace] = make(chan struct{}, objectsAtOnce)
	}
	places := s.places[namespace]
	s.mu.Unlock()
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
func (s *sidecars) silence(p *corev1.Pod) silence {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.silent[p.UID]
	if _, restarts := sidecarState(p); known.restarts != restarts {
		return silence{}
	}
	return known
}

// pause is how long a sidecar is not called yet.
func (s *sidecars) pause(p *corev1.Pod, now time.Time) time.Duration {
	return s.silence(p).until.Sub(now)
}

// heard notes what a call came to.
func (s *sidecars) heard(p *corev1.Pod, now time.Time, err error) {
	known := s.silence(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		delete(s.silent, p.UID)
		return
	}
	// of pods that are gone
	maps.DeleteFunc(s.silent, func(_ types.UID, old silence) bool { return now.Sub(old.until) > time.Hour })
	if s.silent == nil {
		s.silent = map[types.UID]silence{}
	}
	known.err, known.times = err, known.times+1
	_, known.restarts = sidecarState(p)
	known.until = now.Add(sidecarCall + backend.Doubled{First: firstPause, Most: mostPause}.After(known.times))
	s.silent[p.UID] = known
}
