package fleet

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhenIsItTriedAgain(t *testing.T) {
	forbidden := func(why string) error {
		return fmt.Errorf("applying: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a",
			errors.New(why)))
	}
	for _, c := range []struct {
		sentence string
		err      error
		want     time.Duration // 0: at once, and then less and less often
	}{
		{"a right is missing", forbidden("no"), afterRefusal},
		{"the API server does not know the owner's kind yet", forbidden(
			"cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion x"), afterUnmapped},
		{"somebody else was faster", apierrors.NewConflict(schema.GroupResource{}, "a", nil), afterConflict},
		{"there is no answer", errors.New("connection refused"), 0},
	} {
		if got, known := waitAfter(c.err); got != c.want || known != (c.want > 0) {
			t.Errorf("%s: after %s", c.sentence, got)
		}
	}
}
