package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/internal/controller/objects"
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
		{"somebody else writes it again and again", fmt.Errorf("writing: %w", &objects.Contested{After: time.Second}),
			time.Second},
		{"there is no answer", errors.New("connection refused"), 0},
	} {
		if got, known := waitAfter(c.err); got != c.want || known != (c.want > 0) {
			t.Errorf("%s: after %s", c.sentence, got)
		}
	}
}

// A cache that lags gives the same old version again and again, which the API server does not take.
func TestConflictsInARowAreFurtherAndFurtherApart(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "a", nil)
	var err error
	reconciles := (&Controller{Config: Config{Rand: func() float64 { return 0 }}}).guard("Bind9Instance", part{
		reconcile: func(context.Context, client.ObjectKey) (time.Duration, error) { return 0, err }})
	one := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "a", Name: "one"}}
	two := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "a", Name: "two"}}
	for _, c := range []struct {
		sentence string
		err      error
		of       reconcile.Request
		least    time.Duration
	}{
		{"the first one", conflict, one, afterConflict},
		{"the second one, beside others", errors.Join(conflict, conflict), one, 2 * afterConflict},
		{"the first one of another object", conflict, two, afterConflict},
		{"the third one", conflict, one, 4 * afterConflict},
		{"none", nil, one, 0},
		{"the first one after that", conflict, one, afterConflict},
	} {
		err = c.err
		got, wrong := reconciles(t.Context(), c.of)
		if wrong != nil || got.RequeueAfter < c.least || got.RequeueAfter > c.least*11/10 {
			t.Errorf("%s: it is tried again after %s (%v)", c.sentence, got.RequeueAfter, wrong)
		}
	}
}
