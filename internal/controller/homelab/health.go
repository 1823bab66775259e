package homelab

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
)

// healthWorkers is how many classes are asked at a time.
const healthWorkers = 8

// A check is what a server has answered to the question for its health.
type check struct {
	at      time.Time
	outcome controller.Outcome
	status  v1alpha1.HealthStatus
}

// startAfter spreads the first checks after the operator was started; a class that is new is checked at once.
func (k *Controller) startAfter() time.Duration {
	select {
	case <-k.begun:
		return 0
	default:
		return time.Duration(k.Rand() * float64(min(k.HealthInterval/10, 5*time.Second)))
	}
}

// check asks a server how it is. Nothing depends on the answer but what failed: that is tried again when a server is
// well again.
func (k *Controller) check(name string) {
	m, unlock := k.model.Lock()
	c := m.classes[name]
	if c == nil {
		unlock()
		return
	}
	revision := c.revision
	unlock()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var health dnshook.Health
	asked := call{operation: servers.OperationHealth}
	err := k.send(ctx, c, asked, func(ctx context.Context, hook *dnshook.Client) (err error) {
		health, err = hook.Health(ctx)
		return err
	})
	switch {
	case k.ctx.Err() != nil:
		return
	case errors.Is(err, objects.ErrNotLeading):
		k.healths.AddAfter(name, lookAgain)
		return
	}
	m, unlock = k.model.Lock()
	defer unlock()
	k.healths.AddAfter(name, k.HealthInterval)
	if m.classes[name] != c || c.revision != revision {
		return // somebody looks again
	}
	was := c.checked
	c.batch, c.fewer = slices.Contains(health.Features, dnshook.FeatureBatch), 0
	c.checked = assess(name, health, err)
	c.checked.at = k.Clock.Now()
	if c.checked.status == v1alpha1.Healthy {
		c.poorly = 0
	} else { // whoever waits for it is not to wait long when it is back
		k.healths.AddAfter(name, k.Retry.Delay(c.poorly))
		c.poorly++
	}
	if c.checked.status == v1alpha1.Healthy && was != nil && was.status != v1alpha1.Healthy {
		m.retryFailed(name)
	}
	k.classWriter.Enqueue(dialect.ClassID(name))
}

// assess says what came of a check.
func assess(name string, health dnshook.Health, err error) *check {
	if err == nil {
		message := health.Message
		if message == "" {
			message = "The server says that it is healthy."
		}
		return &check{outcome: controller.OK(servers.ReasonServerHealthy, message), status: v1alpha1.Healthy}
	}
	f, _, _ := servers.Explain(name, err)
	reason := servers.ReasonServerError
	switch f.Reason {
	case servers.ReasonServerUnreachable, servers.ReasonSecretNotFound, servers.ReasonInvalidConfiguration:
		// these say more than that it is not well
		reason = f.Reason
	}
	return &check{outcome: controller.Not(reason, f.Message), status: v1alpha1.Unhealthy}
}
