package servers

import (
	"context"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
)

// A timed clock tells of each timer.
type timed struct {
	*clocktesting.FakeClock

	timers chan time.Duration
}

// NewTimer implements clock.Clock.
func (c timed) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.timers <- d
	return timer
}

// TestALimitThatIsLifted has a call wait for a limit of one request a day, which was a mistake.
func TestALimitThatIsLifted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	now := timed{clocktesting.NewFakeClock(time.Unix(1e9, 0)), make(chan time.Duration, 1)}
	s := New(Config{Clock: now, Asked: func(string, string, error, time.Duration) {}}, "dns")
	class := func(limit *v1alpha1.RateLimit) *v1alpha1.DNSClass {
		return &v1alpha1.DNSClass{Spec: v1alpha1.DNSClassSpec{Server: "http://dns:7100", RateLimit: limit}}
	}
	call := func() error {
		return s.Call(ctx, "upsert", func(context.Context, *dnshook.Client) error { return nil })
	}
	s.Use(class(&v1alpha1.RateLimit{Requests: 1, Seconds: 86400}), "1")
	if err := call(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- call() }()
	if wait := <-now.timers; wait.Round(time.Second) != 24*time.Hour {
		t.Errorf("it waits %s", wait)
	}
	s.Use(class(nil), "2")
	if err := <-done; err != nil {
		t.Error(err)
	}
}
