package homelab

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// A class is what is known about a DNSClass.
type class struct {
	name     string
	object   *v1alpha1.DNSClass
	revision string // of the spec and of the Secrets that it names: what failed may work with another one

	checked *check    // the last health check; nil: none yet
	since   time.Time // when it became what it is
	most    int       // how many records the server takes at once
	tells   telling   // what it answers to who asks what it has
	poorly  int       // how many checks in turn have found it unhealthy
	woken   time.Time // when a success has had what failed be tried again, although it was unhealthy
	pause   pause
	server  *servers.Server
}

// turnsAway reports whether a class is being deleted and a record one that it does not have.
func (c *class) turnsAway(r *record) bool {
	return c != nil && !c.object.DeletionTimestamp.IsZero() &&
		!slices.ContainsFunc(r.evidence(), func(a v1alpha1.Applied) bool { return a.Class == c.name })
}

// A telling is what is known of whether a server tells what it has.
type telling int

// What a server may tell.
const (
	tellsMaybe   telling = iota // it is not known
	tellsRecords                // it has told of one
	tellsNothing
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
func (k *Controller) check(_ context.Context, id zone.ID) error {
	m, unlock := k.model.Lock()
	c := m.classes[id.Name]
	if c == nil {
		unlock()
		return nil
	}
	revision := c.revision
	unlock()
	var health dnshook.Health
	err := k.send(k.ctx, c, servers.OperationHealth, nil, func(ctx context.Context, hook *dnshook.Client) (err error) {
		health, err = hook.Health(ctx)
		return err
	})
	if k.ctx.Err() != nil || errors.Is(err, objects.ErrNotLeading) {
		return err
	}
	m, unlock = k.model.Lock()
	defer unlock()
	next := k.HealthInterval
	switch now := m.classes[id.Name]; {
	case now == nil:
		k.Numbers.left(id.Name) // this call was counted after the class had gone
		return nil
	case now != c || c.revision != revision:
		return &controller.Later{After: next} // somebody looks before that
	}
	was := c.checked
	if c.most = 1; slices.Contains(health.Features, dnshook.FeatureBatch) {
		c.most = batchSize
	}
	c.checked = assess(c.name, health, err)
	c.checked.at = k.Clock.Now()
	if c.checked.status == v1alpha1.Healthy {
		c.poorly = 0
	} else { // whoever waits for it is not to wait long when it is back
		next = min(next, k.Retry.Delay(c.poorly))
		c.poorly++
	}
	if c.checked.status == v1alpha1.Healthy && was != nil && was.status != v1alpha1.Healthy {
		m.retryFailed(c.name)
	}
	k.classWriter.Enqueue(id)
	return &controller.Later{After: next}
}

// assess says what came of a check.
func assess(name string, health dnshook.Health, err error) *check {
	if err == nil {
		message := health.Message
		if message == "" {
			message = "The server reports that it is healthy."
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

// writeClass keeps a DNSClass for as long as it is used, and writes down how its server is.
func (k *Controller) writeClass(ctx context.Context, id zone.ID) error {
	m, unlock := k.model.Lock()
	c := m.classes[id.Name]
	if c == nil || !k.Leads() {
		unlock()
		return nil
	}
	object, used := c.object, len(m.needs[id.Name]) > 0
	status := c.status(k.Clock.Now())
	waits := c.checked == nil && !c.told()
	wait := grace - k.Clock.Since(c.since)
	unlock()
	if err := k.objects.Behind(object); err != nil {
		return err
	}
	held, deleting := slices.Contains(object.Finalizers, v1alpha1.InUseFinalizer), !object.DeletionTimestamp.IsZero()
	switch {
	case used && !held && !deleting:
		_, err := k.objects.SetFinalizer(ctx, object, v1alpha1.InUseFinalizer, true)
		return client.IgnoreNotFound(err)
	case !used && held && deleting:
		_, err := k.objects.SetFinalizer(ctx, object, v1alpha1.InUseFinalizer, false)
		return client.IgnoreNotFound(err)
	}
	if waits && wait > 0 {
		return &controller.Later{After: wait}
	}
	if !isNews(object.Status, status, k.HealthInterval) {
		return nil
	}
	got, err := k.objects.ChangeStatus(ctx, object, object.Status, status)
	if err == nil && got != object {
		recordEvent(k.Events, object, object.Status.Conditions, status.Conditions)
	}
	return client.IgnoreNotFound(err)
}

// told reports whether the object says how the server of its spec is, or was in an earlier run.
func (c *class) told() bool {
	return c.object.Status.Health != nil && c.object.Status.ObservedGeneration == c.object.Generation
}

// status says how a server is.
func (c *class) status(now time.Time) v1alpha1.DNSClassStatus {
	o, last := c.object, c.checked
	out := v1alpha1.DNSClassStatus{ObservedGeneration: o.Generation}
	switch {
	case last != nil:
		out.LastHealthCheck = ptr.To(metav1.NewTime(last.at.Truncate(1e9)))
	case c.told():
		return o.Status // the next check is on its way
	default:
		out.LastHealthCheck = o.Status.LastHealthCheck
		last = &check{outcome: pending("The server has not been asked for its health yet.").outcome,
			status: v1alpha1.HealthUnknown}
		if out.LastHealthCheck != nil {
			last.outcome.Message = "The server has not reported its health since the spec changed."
		}
	}
	conditions := controller.Conditions{Old: o.Status.Conditions, Generation: o.Generation, Now: now}
	conditions.Set(controller.ConditionReady, last.outcome)
	out.Conditions = conditions.List()
	out.Health = &v1alpha1.Health{Status: last.status, LastCheck: out.LastHealthCheck, Message: last.outcome.Message}
	return out
}

// isNews reports whether a status is worth a write. That the server was asked again is, once an interval.
func isNews(before, after v1alpha1.DNSClassStatus, interval time.Duration) bool {
	same := equality.Semantic.DeepEqual(before.Conditions, after.Conditions) &&
		before.ObservedGeneration == after.ObservedGeneration &&
		before.Health != nil && after.Health != nil && before.Health.Status == after.Health.Status &&
		before.Health.Message == after.Health.Message
	return !same || after.LastHealthCheck != nil && (before.LastHealthCheck == nil ||
		after.LastHealthCheck.Sub(before.LastHealthCheck.Time) >= interval*9/10)
}
