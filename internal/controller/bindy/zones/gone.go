package zones

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// letGo waits for a zone that is being deleted, and no longer than that is worth: a server that does not answer loses
// it when it is back. One that is guarded waits until that is known to be right.
func (z *Zones) letGo(ctx context.Context, id zone.ID, o *v1beta1.DNSZone, out delivery.ZoneOutcome) error {
	if !slices.Contains(o.Finalizers, v1beta1.ZoneFinalizer) {
		return nil
	}
	now, end := z.Clock.Now(), o.DeletionTimestamp.Add(z.Patience)
	guarded := z.serversOf(id).Guards(id, nil)
	switch {
	case out.Held != nil && out.Held.Plan != "": // nobody else removes it either
		return z.writeGone(ctx, o, out, out.Held.Message)
	case guarded && z.soon(id, controller.Not(controller.ReasonPending, isRemoved)):
		return z.lookAgain() // a server is about to say whether it is held
	case !guarded && !now.Before(end):
		if out.Leaving {
			z.serversOf(id).Abandon(id)
			z.wakeInstances(z.losing(id, out)...) // from now on it is for them to remove it
		}
		return &controller.Later{After: partingAgain}
	}
	if now.Sub(o.DeletionTimestamp.Time) > grace {
		if err := z.writeGone(ctx, o, out, z.parting(id, out, end, guarded)); err != nil {
			return err
		}
	}
	if guarded {
		return &controller.Later{After: partingAgain}
	}
	return &controller.Later{After: min(end.Sub(now), grace)}
}

// partingAgain is when to look again at a zone that is being deleted.
const partingAgain = 5 * time.Second

// writeGone says what a zone that is being deleted waits for.
func (z *Zones) writeGone(ctx context.Context, o *v1beta1.DNSZone, out delivery.ZoneOutcome, message string) error {
	status := *o.Status.DeepCopy()
	c := controller.Conditions{Old: o.Status.Conditions, Generation: o.Generation, Now: z.Clock.Now()}
	c.Set(v1beta1.ConditionReady, controller.Not(v1beta1.ReasonDeleting, message))
	c.Set(v1beta1.ConditionProgressing, controller.OK(v1beta1.ReasonDeleting, message))
	tellHeld(&status, &c, out.Held)
	status.Conditions = c.List()
	sent, err := z.patchZone(ctx, o, status)
	if sent && err == nil {
		z.eventOfHeld(o, status.Conditions)
	}
	return err
}

// losing are the instances that a zone is being removed from.
func (z *Zones) losing(id zone.ID, out delivery.ZoneOutcome) []client.ObjectKey {
	st, unlock := z.state.Lock()
	keys := st.holders(id)
	unlock()
	for _, p := range out.Places {
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
func (z *Zones) parting(id zone.ID, out delivery.ZoneOutcome, end time.Time, guarded bool) string {
	keys := z.losing(id, out)
	if len(keys) == 0 {
		return isRemoved
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.String()
	}
	why := ""
	if out.Served.Reason == controller.ReasonWithdrawing && out.Served.Message != "" {
		why = " " + out.Served.Message
	}
	if guarded {
		return dialect.Sentence("A Backend protects it, so it waits until the operator has read these: Bind9Instance %s.%s",
			dialect.List(names), why)
	}
	return dialect.Sentence("It waits until these have removed it, but no longer than until %s: Bind9Instance %s.%s A "+
		"server that does not answer by then removes it when it returns.",
		end.UTC().Format(time.RFC3339), dialect.List(names), why)
}
