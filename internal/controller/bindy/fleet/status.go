package fleet

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// isReady reports whether the condition Ready is True and about this generation of an object.
func isReady(o client.Object, conditions []metav1.Condition) bool {
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == o.GetGeneration() &&
		o.GetDeletionTimestamp().IsZero()
}

// serves reports whether an instance is ready, as it was asked for now or before.
func serves(i *v1beta1.Bind9Instance) bool {
	return meta.IsStatusConditionTrue(i.Status.Conditions, v1beta1.ConditionReady) && i.DeletionTimestamp.IsZero()
}

// A fleet is how many instances there are and which objects are not ready.
type fleet struct {
	of      string // the kind of what may be unready
	wanted  int    // instances
	total   int
	ready   int
	unready []string
	behind  []string // ready, and not yet as they are asked for
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
	case len(f.unready) == 0 && len(f.behind) > 0:
		return controller.Not(v1beta1.ReasonRollingOut, counted+waitsFor(f))
	case len(f.unready) == 0 && f.ready >= max(f.wanted, f.total):
		return controller.OK(v1beta1.ReasonAllReady, counted)
	case f.ready == 0:
		return controller.Not(v1beta1.ReasonNotReady, counted+waitsFor(f))
	}
	return controller.Not(v1beta1.ReasonPartiallyReady, counted+waitsFor(f))
}

func waitsFor(f fleet) string {
	var out string
	if len(f.unready) > 0 {
		out += dialect.Sentence(" Not ready: %s %s.", f.of, dialect.List(f.unready))
	}
	if len(f.behind) > 0 {
		out += dialect.Sentence(" Yet to change: %s %s.", f.of, dialect.List(f.behind))
	}
	return out
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
