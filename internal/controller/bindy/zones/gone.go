package zones

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// letGo waits for a zone that is being deleted, and no longer than that is worth: a server that does not answer loses
// it when it is back. One that is guarded waits until that is known to be right.
func (r *zoneReport) letGo(ctx context.Context) error {
	if !slices.Contains(r.o.Finalizers, v1beta1.ZoneFinalizer) {
		return nil
	}
	now, end := r.z.Clock.Now(), r.o.DeletionTimestamp.Add(r.z.Patience)
	guarded := r.z.serversOf(r.id).Guards(r.id, nil)
	switch {
	case r.out.Held != nil && r.out.Held.Plan != "": // nobody else removes it either
		return r.writeGone(ctx, r.out.Held.Message)
	case guarded && r.soon(r.id, controller.Not(controller.ReasonPending, isRemoved)):
		return r.lookAgain() // a server is about to say whether it is held
	case !guarded && !now.Before(end):
		if unlisted := r.list(); len(unlisted) > 0 {
			r.z.wakeInstances(unlisted...)
			if err := r.writeGone(ctx, unlistedBy(unlisted)); err != nil {
				return err
			}
			return &controller.Later{After: partingAgain}
		}
		if r.out.Leaving {
			r.z.serversOf(r.id).Abandon(r.id)
			r.z.wakeInstances(r.losing()...) // from now on it is for them to remove it
		}
		return &controller.Later{After: partingAgain}
	}
	if now.Sub(r.o.DeletionTimestamp.Time) > grace {
		if err := r.writeGone(ctx, r.parting(end, guarded)); err != nil {
			return err
		}
	}
	if guarded {
		return &controller.Later{After: partingAgain}
	}
	return &controller.Later{After: min(end.Sub(now), grace)}
}

// unlistedBy says that a zone waits for the statuses of instances.
func unlistedBy(instances []client.ObjectKey) string {
	return dialect.Sentence("It waits until the statuses of these list it, so that their servers lose it when they "+
		"return: Bind9Instance %s.", dialect.List(namesOf(instances)))
}

func namesOf(keys []client.ObjectKey) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	return names
}

// partingAgain is when to look again at a zone that is being deleted.
const partingAgain = 5 * time.Second

// writeGone says what a zone that is being deleted waits for.
func (r *zoneReport) writeGone(ctx context.Context, message string) error {
	status := *r.o.Status.DeepCopy()
	c := controller.Conditions{Old: r.o.Status.Conditions, Generation: r.o.Generation, Now: r.z.Clock.Now()}
	c.Set(v1beta1.ConditionReady, controller.Not(v1beta1.ReasonDeleting, message))
	c.Set(v1beta1.ConditionProgressing, controller.OK(v1beta1.ReasonDeleting, message))
	tellHeld(&status, &c, r.out.Held)
	status.Conditions = c.List()
	sent, err := r.patch(ctx, status)
	if sent && err == nil {
		r.eventOfHeld(status.Conditions)
	}
	return err
}

// losing are the instances that a zone is being removed from.
func (r *zoneReport) losing() []client.ObjectKey {
	st, unlock := r.z.state.Lock()
	keys := st.holders(r.id)
	unlock()
	for _, p := range r.out.Places {
		if key, ok := instanceOf(p.Place); ok && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

const isRemoved = "It is being removed from its servers."

// parting says what a zone that is being deleted waits for, and until when. If it is guarded, that is for as long as it
// takes.
func (r *zoneReport) parting(end time.Time, guarded bool) string {
	keys := r.losing()
	if len(keys) == 0 {
		return isRemoved
	}
	names := namesOf(keys)
	why := ""
	if r.out.Served.Reason == controller.ReasonWithdrawing && r.out.Served.Message != "" {
		why = " " + r.out.Served.Message
	}
	if guarded {
		return dialect.Sentence("A Backend protects it, so it waits until the operator has read these: Bind9Instance %s.%s",
			dialect.List(names), why)
	}
	return dialect.Sentence("It waits until these have removed it, but no longer than until %s: Bind9Instance %s.%s A "+
		"server that does not answer by then removes it when it returns.",
		end.UTC().Format(time.RFC3339), dialect.List(names), why)
}
