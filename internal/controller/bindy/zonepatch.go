package bindy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// patchZone writes what of a status differs, but for the ceiling, which has its own way, and reports whether anything does.
func (z *Zones) patchZone(ctx context.Context, o *v1beta1.DNSZone, status v1beta1.DNSZoneStatus) (sent bool, err error) {
	status.SerialCeiling = o.Status.SerialCeiling
	return z.patchStatus(ctx, o, o.Status, status)
}

// patchStatus sends what differs between two statuses of an object, and reports whether anything does: if not, nothing is new.
func (z *Zones) patchStatus(ctx context.Context, o client.Object, before, after any) (sent bool, err error) {
	was, err := fields(before)
	if err != nil {
		return false, fmt.Errorf("encoding a status: %w", err)
	}
	is, err := fields(after)
	if err != nil {
		return false, fmt.Errorf("encoding a status: %w", err)
	}
	changes := changesOf(was, is)
	if len(changes) == 0 {
		return false, nil
	}
	return z.send(ctx, o, changes)
}

// changesOf makes a merge patch (RFC 7386): what is left out of an object stays as it is, so that what goes is named.
func changesOf(was, is map[string]any) map[string]any {
	changes := map[string]any{}
	for name := range was {
		if _, ok := is[name]; !ok {
			changes[name] = nil
		}
	}
	for name, value := range is {
		inner, object := value.(map[string]any)
		before, also := was[name].(map[string]any)
		switch {
		case sameJSON(was[name], value):
		case object && also:
			changes[name] = changesOf(before, inner)
		default:
			changes[name] = value
		}
	}
	return changes
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

func (z *Zones) send(ctx context.Context, o client.Object, changes map[string]any) (sent bool, err error) {
	if z.b.Leads != nil && !z.b.Leads() {
		return false, nil // whoever leads now writes it
	}
	gvk, err := z.b.Client.GroupVersionKindFor(o)
	if err != nil {
		return false, fmt.Errorf("finding the kind of %T: %w", o, err)
	}
	id := statusOf(gvk, client.ObjectKeyFromObject(o))
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID()}, "status": changes})
	if err != nil {
		return false, fmt.Errorf("encoding the status of %s %s/%s: %w", gvk.Kind, o.GetNamespace(), o.GetName(), err)
	}
	last := z.b.last(id)
	if last.uid == o.GetUID() && last.version > version(o) {
		if last.hash == string(body) {
			return false, nil // it is written, and the cache does not have it yet
		}
		return false, &controller.Later{After: 20 * time.Millisecond} // it is compared with what the cache is about to get
	}
	got, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("%T is no object", o)
	}
	if err := z.b.Client.Status().Patch(ctx, got, client.RawPatch(types.MergePatchType, body), client.FieldOwner(controller.Manager)); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	z.b.Metrics.Wrote(gvk.Kind, "status")
	z.b.remember(id, applied{hash: string(body), uid: o.GetUID(), version: version(got)})
	return true, nil
}
