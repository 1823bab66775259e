package zones

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// A report is one look at what a status is to say.
type report struct{ z *Zones }

// warning tells people what happened to an object.
func (r report) warning(o client.Object, reason, action, note string) {
	r.z.Events.Eventf(o, nil, corev1.EventTypeWarning, reason, action, "%s", controller.Note(note))
}

// patch writes what of a status differs, but for the ceiling, which has its own way, and reports whether anything
// does.
func (r *zoneReport) patch(ctx context.Context, status v1beta1.DNSZoneStatus) (sent bool, err error) {
	status.SerialCeiling = r.o.Status.SerialCeiling
	return r.patchStatus(ctx, r.o, r.o.Status, status)
}

// patchStatus sends what differs between two statuses of an object, and reports whether anything does: if not, nothing
// is new.
func (r report) patchStatus(ctx context.Context, o client.Object, before, after any) (sent bool, err error) {
	got, err := r.z.Objects.ChangeStatus(ctx, o, before, after)
	return err == nil && got != o, client.IgnoreNotFound(err)
}
