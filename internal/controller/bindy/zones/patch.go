package zones

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// warning tells people what happened to an object.
func (z *Zones) warning(o client.Object, reason, action, note string) {
	z.Events.Eventf(o, nil, corev1.EventTypeWarning, reason, action, "%s", controller.Note(note))
}

// patchZone writes what of a status differs, but for the ceiling, which has its own way, and reports whether anything
// does.
func (z *Zones) patchZone(ctx context.Context, o *v1beta1.DNSZone,
	status v1beta1.DNSZoneStatus) (sent bool, err error) {
	status.SerialCeiling = o.Status.SerialCeiling
	return z.patchStatus(ctx, o, o.Status, status)
}

// patchStatus sends what differs between two statuses of an object, and reports whether anything does: if not, nothing
// is new.
func (z *Zones) patchStatus(ctx context.Context, o client.Object, before, after any) (sent bool, err error) {
	got, err := z.Objects.ChangeStatus(ctx, o, before, after)
	return err == nil && got != o, client.IgnoreNotFound(err)
}
