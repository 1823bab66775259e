package scenario

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// TestAnOperatorWithoutElectionIsHeardOf is what "zonefold release" relies on.
func TestAnOperatorWithoutElectionIsHeardOf(t *testing.T) {
	s := newStage(t)
	began := time.Now()
	s.startWith(testoperator.Options{NoElection: true})
	s.eventually("the Lease", func() string {
		var lease coordinationv1.Lease
		key := client.ObjectKey{Namespace: testoperator.Namespace, Name: v1alpha1.PresenceLease}
		switch err := s.client.Get(s.ctx, key, &lease); {
		case err != nil:
			return err.Error()
		case lease.Spec.RenewTime == nil || lease.Spec.RenewTime.Time.Before(began.Truncate(time.Microsecond)):
			return "it is not renewed"
		case *lease.Spec.LeaseDurationSeconds != 30 || *lease.Spec.HolderIdentity == "":
			return "nobody holds it"
		}
		return ""
	})
}
