package gardener

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
)

// AdmissionPath is where Gardener's own admission reviews DNSRecords; ours does there, too.
const AdmissionPath = "/validate-extensions-gardener-cloud-v1alpha1-dnsrecord"

// Examiner is what admission asks about DNSRecords where Gardener's own does not: all of them, whoever's they are, as
// that does.
func Examiner() controller.Examiner {
	return controller.Examiner{
		Kind: &v1alpha1.DNSRecord{}, Path: AdmissionPath, Deleting: true,
		Faults: func(o client.Object) []string {
			if r, ok := o.(*v1alpha1.DNSRecord); ok && r.DeletionTimestamp.IsZero() {
				return dialect.Faults(&r.Spec)
			}
			return nil
		},
		Look: func(_ context.Context, old, o client.Object) (found controller.Findings) {
			was, stored := old.(*v1alpha1.DNSRecord)
			if r, ok := o.(*v1alpha1.DNSRecord); ok && stored {
				found.Denials = dialect.UpdateFaults(was, r)
			}
			return found
		},
	}
}
