package bindy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

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
	got, err := z.b.objects.ChangeStatus(ctx, o, before, after)
	return err == nil && got != o, client.IgnoreNotFound(err)
}
