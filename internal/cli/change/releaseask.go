package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// ask has the operator let go of Zones that are being deleted. All of them were looked at if none was named: then those
// that are not being deleted are not meant.
func (r *releaser) ask(ctx context.Context, zones []kubizone.Zone, all bool) error {
	var failed []error
	asked := 0
	for i := range zones {
		z := &zones[i]
		name := "Zone " + plain.Line(z.Namespace+"/"+z.Name)
		if z.DeletionTimestamp == nil {
			if !all {
				failed = append(failed, fmt.Errorf(
					"%s is not being deleted, and %w; delete the Zone first, stop the operator, or use --force", name, r.operator))
			}
			continue
		}
		asked++
		if r.dryRun {
			r.asked(z)
			r.say("the operator would be asked to release %s", name)
			continue
		}
		if err := r.annotate(ctx, z); err != nil {
			failed = append(failed, fmt.Errorf("asking the operator to release %s: %w", name, forbidden(err, "patch")))
			continue
		}
		r.asked(z)
		r.say("the operator was asked to release %s; it lists the published records in status.leftBehind of the Backends, "+
			"and removes them when it reaches their servers", name)
	}
	if all && asked == 0 {
		r.say("no Zone with the finalizer is being deleted; there is nothing to release")
	}
	return errors.Join(failed...)
}

// asked notes that the operator lets a Zone go.
func (r *releaser) asked(z *kubizone.Zone) {
	r.out.Zones = append(r.out.Zones, ReleasedZone{Namespace: z.Namespace, Name: z.Name, Action: "asked",
		Left: []LeftAt{}})
}

// annotate asks for one Zone.
func (r *releaser) annotate(ctx context.Context, z *kubizone.Zone) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": z.UID, "annotations": map[string]any{zonefold.LeaveAnnotation: "true"}}})
	if err != nil {
		return err
	}
	k := r.zones()
	return k.Of(k.Patch(types.MergePatchType), z.Namespace).Name(z.Name).Body(patch).Do(ctx).Error()
}
