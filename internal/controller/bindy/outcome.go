package bindy

import (
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// A trouble is why something is not as the spec asks for, for people.
type trouble struct{ reason, message string }

// A fleet is how many instances there are and which objects are not ready.
type fleet struct {
	of      string // the kind of what may be unready
	wanted  int    // instances
	total   int
	ready   int
	unready []string
}

// outcome is the condition Ready. The first trouble gives the reason, all of them are told.
func outcome(troubles []trouble, f fleet) controller.Outcome {
	if len(troubles) > 0 {
		messages := make([]string, len(troubles))
		for i, t := range troubles {
			messages[i] = t.message
		}
		return controller.Not(troubles[0].reason, strings.Join(messages, " "))
	}
	counted := fmt.Sprintf("%d of %d instances are ready.", f.ready, max(f.wanted, f.total))
	switch {
	case f.wanted == 0 && f.total == 0:
		return controller.Not(v1beta1.ReasonNoChildren, "There are no instances: primaryReplicas and secondaryReplicas are 0.")
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
	return sentence(" Not ready: %s %s.", f.of, list(f.unready))
}

// sentence formats a message for people; what a cause says with a full stop does not end in two.
func sentence(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if strings.HasSuffix(text, "..") {
		return text[:len(text)-1]
	}
	return text
}
