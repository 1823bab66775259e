package homelab

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
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

// check asks a server how it is. Nothing depends on the answer but what failed: that is tried again when a server is well again.
func (k *Controller) check(name string) {
	k.mu.Lock()
	c := k.classes[name]
	k.mu.Unlock()
	if c == nil {
		return
	}
	if k.Leads != nil && !k.Leads() {
		k.healths.AddAfter(name, time.Second)
		return
	}
	k.mu.Lock()
	revision := c.revision
	k.mu.Unlock()
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var health dnshook.Health
	err := k.send(ctx, c, call{operation: "health"}, func(ctx context.Context, hook *dnshook.Client) (err error) {
		health, err = hook.Health(ctx)
		return err
	})
	if k.ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.healths.AddAfter(name, k.HealthInterval)
	if k.classes[name] != c || c.revision != revision {
		return // somebody looks again
	}
	was := c.checked
	c.batch, c.fewer = slices.Contains(health.Features, dnshook.FeatureBatch), 0
	c.checked = assess(name, health, err)
	c.checked.at = k.Clock.Now()
	if c.checked.status == v1alpha1.Healthy && was != nil && was.status != v1alpha1.Healthy {
		k.relent(name)
	}
	k.classWriter.Enqueue(ClassID(name))
}

// assess says what came of a check.
func assess(name string, health dnshook.Health, err error) *check {
	if err == nil {
		message := health.Message
		if message == "" {
			message = "The server says that it is healthy."
		}
		return &check{outcome: controller.OK(ReasonServerHealthy, message), status: v1alpha1.Healthy}
	}
	f, _, _ := explain(name, err)
	reason := ReasonServerError
	if f.reason == ReasonServerUnreachable || f.reason == ReasonSecretNotFound {
		reason = f.reason
	}
	return &check{outcome: controller.Not(reason, f.message), status: v1alpha1.Unhealthy}
}

// audit compares what a server says that it has with what it should have, and has differences put right.
func (k *Controller) audit(name string) {
	k.mu.Lock()
	c := k.classes[name]
	var keys []slotKey
	for key, s := range k.slots {
		if key.class == name && s.confirmed != "" {
			keys = append(keys, key)
		}
	}
	k.mu.Unlock()
	if c == nil {
		return
	}
	if k.Leads == nil || k.Leads() {
		for _, key := range keys {
			if !k.look(c, key) {
				break
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.classes[name] == c {
		k.audits.AddAfter(name, k.auditAfter())
	}
}

func (k *Controller) auditAfter() time.Duration {
	if k.Audit <= 0 {
		return 100 * 365 * 24 * time.Hour
	}
	return time.Duration((0.75 + 0.5*k.Rand()) * float64(k.Audit))
}

// look compares one slot; false: there is no use in going on.
func (k *Controller) look(c *class, key slotKey) bool {
	k.mu.Lock()
	s := k.slots[key]
	var w *want
	if s != nil {
		w, _ = k.want(s)
	}
	if c.noGet || k.ctx.Err() != nil {
		k.mu.Unlock()
		return false
	}
	if w == nil || s.confirmed != w.hash {
		k.mu.Unlock()
		return true
	}
	changes := s.changes
	k.mu.Unlock()
	var got dnshook.Record
	var there bool
	err := k.send(k.ctx, c, call{operation: "get"}, func(ctx context.Context, hook *dnshook.Client) (err error) {
		got, there, err = hook.Get(k.ctx, w.record.ID())
		return err
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		c.noGet = true
		return false
	case err != nil:
		return !errors.Is(err, dnshook.ErrUnreachable)
	case s.changes != changes || s.confirmed != w.hash:
		return true // it was being changed
	case there && sameContent(got, w.record):
		s.absent, c.shown = false, true
		return true
	case !there && s.absent && !c.shown: // it was put right, and still is not there: the server does not know the question
		c.noGet = true
		return false
	}
	s.absent = !there
	s.last, s.confirmed = s.confirmed, ""
	k.Events.Eventf(w.owner.object, nil, "Warning", "Drifted", "Audit", "%s", controller.Note(
		"The server of DNSClass "+key.class+" did not have "+title(key)+" as it had confirmed it; it is put right."))
	k.wake(key)
	return true
}

// sameContent compares what a server has, as far as it says it, with what it should have.
func sameContent(got, want dnshook.Record) bool {
	if got.Metadata == nil {
		got.Metadata = want.Metadata
	}
	said := got.TTL
	canonical, err := got.Canonical()
	if err != nil || said != 0 && canonical.TTL != want.TTL || len(canonical.Values) != len(want.Values) {
		return false
	}
	if m, n := canonical.Metadata, want.Metadata; m != nil && n != nil && termsOf(canonical) != termsOf(want) {
		return false
	}
	have := map[string]bool{}
	for _, v := range canonical.Values {
		have[v] = true
	}
	for _, v := range want.Values {
		if !have[v] {
			return false
		}
	}
	return true
}
