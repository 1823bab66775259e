package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

// How long after a failure that no event may end we look again: a conflict ends with the next version of the object,
// and after each one in a row we wait for twice as long; what belongs to somebody else may not be watched; a kind that
// is new is known soon; what the API server refuses stays refused until somebody changes a rule.
const (
	afterConflict = 50 * time.Millisecond
	afterNotOwned = time.Minute
	afterUnmapped = 5 * time.Second
	afterRefusal  = 5 * time.Minute
)

// guard turns the errors of a reconciler into when to try again.
func (b *Controller) guard(kind string, p part) reconcile.Func {
	conflicts := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](afterConflict, afterRefusal)
	return func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		after, err := p.reconcile(ctx, r.NamespacedName)
		if errors.Is(err, objects.ErrNotLeading) || ctx.Err() != nil {
			return reconcile.Result{}, nil //nolint:nilerr // whoever leads now does it
		}
		conflict := false
		for _, one := range leaves(err) {
			pause, known := waitAfter(one)
			switch {
			case !known:
				return reconcile.Result{}, err
			case pause == afterConflict:
				conflict = true
				continue
			}
			if pause == afterRefusal {
				b.Log.Error("the API server refuses what is needed; the operator tries again later", "kind", kind, "object",
					r.String(), "error", one)
			}
			if after == 0 || pause < after {
				after = pause
			}
		}
		if !conflict {
			conflicts.Forget(r)
		} else if pause := conflicts.When(r); after == 0 || pause < after {
			after = pause
		}
		return reconcile.Result{RequeueAfter: moved(after, 0.1, b.Rand())}, nil
	}
}

// waitAfter is when to try again after an error; others are retried at once, and then less and less often.
func waitAfter(err error) (time.Duration, bool) {
	var notOwned *objects.NotOwnedError
	var contested *objects.Contested
	switch {
	case apierrors.IsConflict(err), errors.As(err, new(*objects.Behind)):
		return afterConflict, true
	case errors.As(err, &notOwned):
		return afterNotOwned, true
	case errors.As(err, &contested):
		return contested.After, true
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot find RESTMapping"):
		// The admission plugin OwnerReferencesPermissionEnforcement learns of new definitions half a minute later.
		return afterUnmapped, true
	case objects.Refused(err):
		return afterRefusal, true
	}
	return 0, false
}

// leaves are the errors that were joined.
func leaves(err error) []error {
	var joined interface{ Unwrap() []error }
	if err == nil {
		return nil
	}
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// jittered spreads retries, so that what failed together does not return together.
type jittered struct {
	workqueue.TypedRateLimiter[reconcile.Request]
	random func() float64
}

// When implements workqueue.TypedRateLimiter.
func (j jittered) When(r reconcile.Request) time.Duration {
	return moved(j.TypedRateLimiter.When(r), 0.2, j.random())
}

// moved returns a time that is longer by up to a part of it, r being in [0,1).
func moved(d time.Duration, most, r float64) time.Duration {
	return d + time.Duration(r*most*float64(d))
}
