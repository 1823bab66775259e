package fleet

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// writeStatus writes the status of an object when it says something else than before. Both are values of the same type
// of status; conditions keep their transition times in the new one already (see controller.Conditions). The object is
// then of the version that was written.
func (b *Controller) writeStatus(ctx context.Context, object client.Object, before, after any) error {
	got, err := b.Objects.ChangeStatus(ctx, object, before, after)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	object.SetResourceVersion(got.GetResourceVersion())
	return nil
}

// latest reads an object that is reconciled from the cache, or, where the cache lacks the status that we wrote last,
// from the API server: the conditions there say since when they hold, and with older ones the times would begin anew.
func (b *Controller) latest(ctx context.Context, key client.ObjectKey, object client.Object) error {
	if err := b.Client.Get(ctx, key, object); err != nil {
		return err
	}
	if b.Objects.Behind(object) == nil {
		return nil
	}
	return b.Live.Get(ctx, key, object)
}

// gone forgets what was written about an object that is not there any more.
func (b *Controller) gone(kind string, key client.ObjectKey) {
	b.children.Forget(v1beta1.GroupVersion.WithKind(kind).GroupKind(), key)
	b.forgetKeys(key)
	b.declared.forget(key, nil)
}

// withFinalizer puts a finalizer on an object that has it not yet. The object has it then.
func (b *Controller) withFinalizer(ctx context.Context, object client.Object, finalizer string) error {
	return b.setFinalizer(ctx, object, finalizer, true)
}

// withoutFinalizer takes a finalizer of ours off an object, which lets it go.
func (b *Controller) withoutFinalizer(ctx context.Context, object client.Object, finalizer string) error {
	return b.setFinalizer(ctx, object, finalizer, false)
}

func (b *Controller) setFinalizer(ctx context.Context, object client.Object, finalizer string, on bool) error {
	got, err := b.Objects.SetFinalizer(ctx, object, finalizer, on)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	object.SetFinalizers(got.GetFinalizers())
	object.SetResourceVersion(got.GetResourceVersion())
	return nil
}

// isReady reports whether the condition Ready is True and about this generation of an object.
func isReady(o client.Object, conditions []metav1.Condition) bool {
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.GetGeneration() &&
		o.GetDeletionTimestamp().IsZero()
}

// normal and warning tell people what happened to an object.
func (b *Controller) normal(o client.Object, reason, action, note string) {
	b.Events.Eventf(o, nil, "Normal", reason, action, "%s", controller.Note(note))
}

func (b *Controller) warning(o client.Object, reason, action, note string) {
	b.Events.Eventf(o, nil, "Warning", reason, action, "%s", controller.Note(note))
}

// warnOf tells people of troubles, unless the condition Ready of before says the same already or the object is on its
// way out.
func (b *Controller) warnOf(o client.Object, before []metav1.Condition, troubles []dialect.Trouble,
	ready controller.Outcome) {
	if len(troubles) > 0 && ready.Reason != v1beta1.ReasonDeleting && !dialect.HasReason(before, ready.Reason) {
		b.warning(o, ready.Reason, v1beta1.ConditionReady, ready.Message)
	}
}

// A fleet is how many instances there are and which objects are not ready.
type fleet struct {
	of      string // the kind of what may be unready
	wanted  int    // instances
	total   int
	ready   int
	unready []string
}

// outcome is the condition Ready. The first trouble gives the reason, all of them are told.
func outcome(troubles []dialect.Trouble, f fleet) controller.Outcome {
	if len(troubles) > 0 {
		messages := make([]string, len(troubles))
		for i, t := range troubles {
			messages[i] = t.Message
		}
		return controller.Not(troubles[0].Reason, strings.Join(messages, " "))
	}
	counted := fmt.Sprintf("%d of %d instances are ready.", f.ready, max(f.wanted, f.total))
	switch {
	case f.wanted == 0 && f.total == 0:
		return controller.Not(v1beta1.ReasonNoChildren,
			"It has no instances because primaryReplicas and secondaryReplicas are 0.")
	case len(f.unready) == 0 && f.ready >= max(f.wanted, f.total):
		return controller.OK(v1beta1.ReasonAllReady, counted)
	case f.ready == 0:
		return controller.Not(v1beta1.ReasonNotReady, counted+waitsFor(f))
	}
	return controller.Not(v1beta1.ReasonPartiallyReady, counted+waitsFor(f))
}

func waitsFor(f fleet) string {
	if len(f.unready) == 0 {
		return ""
	}
	return dialect.Sentence(" Not ready: %s %s.", f.of, dialect.List(f.unready))
}

// warnings makes one condition of cautions.
func warnings(c *controller.Conditions, cautions []dialect.Trouble) {
	if len(cautions) == 0 {
		return
	}
	var messages []string
	for _, t := range cautions {
		messages = append(messages, t.Message)
	}
	c.Set(controller.ConditionWarning, controller.OK(cautions[0].Reason, strings.Join(messages, " ")))
}
