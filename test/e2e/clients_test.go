package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A busy client does one thing over and over while a test changes the fleet, and remembers what went wrong.
type busy struct {
	what string
	stop context.CancelFunc
	done chan struct{}

	mu       sync.Mutex
	times    int
	failures []string
}

// keep does something every few milliseconds until the test ends it. do reports what went wrong.
func (s *site) keep(what string, do func(ctx context.Context, n int) error) *busy {
	ctx, cancel := context.WithCancel(s.ctx)
	b := &busy{what: what, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		tick := time.NewTicker(25 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			began := time.Now()
			err := do(ctx, n)
			if ctx.Err() != nil {
				return
			}
			b.count(began, err)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	s.Cleanup(func() { cancel(); <-b.done })
	return b
}

func (b *busy) count(began time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times++
	if err != nil {
		b.failures = append(b.failures, began.Format(time.StampMilli)+" "+err.Error())
	}
}

// soFar reports how often it was done, and what went wrong.
func (b *busy) soFar() (times int, failures []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.times, b.failures
}

// wasNeverFailed ends a client and complains of every failure.
func (s *site) wasNeverFailed(b *busy) {
	s.Helper()
	b.stop()
	<-b.done
	times, failures := b.soFar()
	s.Logf("%s: %d times", b.what, times)
	if times < 10 {
		s.Errorf("%s was done %d times, which shows nothing", b.what, times)
	}
	if len(failures) > 0 {
		s.Errorf("%s failed %d times of %d:\n%s", b.what, len(failures), times,
			strings.Join(failures[:min(len(failures), 20)], "\n"))
	}
}

// key is the one that a Secret says is in use.
func (s *site) key(namespace, name string) key {
	s.Helper()
	k, err := s.keyOf(s.ctx, namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return k
}

func (s *site) keyOf(ctx context.Context, namespace, name string) (key, error) {
	secret := named(&corev1.Secret{}, namespace, name)
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return key{}, fmt.Errorf("reading the key: %w", err)
	}
	return key{string(secret.Data["key-name"]), string(secret.Data["algorithm"]), string(secret.Data["secret"])}, nil
}
