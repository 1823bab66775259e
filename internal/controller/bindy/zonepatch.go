package bindy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
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
	changes, err := objects.Differences(before, after)
	if err != nil {
		return false, fmt.Errorf("encoding a status: %w", err)
	}
	if len(changes) == 0 {
		return false, nil
	}
	return z.send(ctx, o, changes)
}

func (z *Zones) send(ctx context.Context, o client.Object, changes map[string]any) (sent bool, err error) {
	gvk, err := z.b.Client.GroupVersionKindFor(o)
	if err != nil {
		return false, fmt.Errorf("finding the kind of %T: %w", o, err)
	}
	id := statusOf(gvk, client.ObjectKeyFromObject(o))
	text, err := json.Marshal(changes)
	if err != nil {
		return false, fmt.Errorf("encoding the status of %s %s/%s: %w", gvk.Kind, o.GetNamespace(), o.GetName(), err)
	}
	last := z.b.last(id)
	if last.uid == o.GetUID() && last.version > objects.Version(o) {
		if last.hash == string(text) {
			return false, nil // it is written, and the cache does not have it yet
		}
		return false, &controller.Later{After: 20 * time.Millisecond} // it is compared with what the cache is about to get
	}
	got, err := z.b.objects.Patch(ctx, objects.Patch{Of: o, Status: changes})
	switch {
	case errors.Is(err, objects.ErrNotLeading):
		return false, nil // whoever leads now writes it
	case err != nil:
		return false, client.IgnoreNotFound(err)
	}
	z.b.remember(id, applied{hash: string(text), uid: o.GetUID(), version: objects.Version(got)})
	return true, nil
}
