package kubizone

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// Examiners are what admission asks about the kinds of this dialect.
func Examiners(f *core.Foresight) []controller.Examiner {
	missing := []zone.Reason{zone.NoZone, zone.ReferenceNotFound, zone.ParentNotAccepted, zone.ParentUnresolved}
	look := func(ctx context.Context, old, o client.Object) controller.Findings {
		q := core.Inquiry{Stored: old != nil, Missing: missing}
		switch o := o.(type) {
		case *v1alpha1.Zone:
			z := dialect.ConvertZone(o)
			q.ID, q.Forecast = z.ID, func(ctx context.Context) (zone.Forecast, bool) {
				forecast, ok := f.Zone(ctx, z)
				if f.Hosted(refs(o)) {
					forecast.Verdict = forecast.Verdict.Hosted()
				}
				return forecast, ok
			}
		case *v1alpha1.Record:
			c := dialect.ConvertRecord(o)
			q.ID, q.Forecast = c.ID, func(ctx context.Context) (zone.Forecast, bool) { return f.Claim(ctx, c) }
		default:
			return controller.Findings{}
		}
		return f.Look(ctx, q)
	}
	return []controller.Examiner{
		{Kind: &v1alpha1.Zone{}, Faults: zoneFaults, Look: look},
		{Kind: &v1alpha1.Record{}, Faults: recordFaults, Look: look},
	}
}

// zoneFaults are a Zone's own: what the controller refuses, and what it takes with a warning because it was there
// before it was looked at.
func zoneFaults(o client.Object) []string {
	z, ok := o.(*v1alpha1.Zone)
	if !ok {
		return nil
	}
	converted := dialect.ConvertZone(z)
	var out []string
	if converted.Invalid != nil {
		out = append(out, converted.Invalid.Message)
	}
	for _, n := range converted.Warnings {
		if converted.Invalid == nil || n.Reason != zone.InvalidTimers { // of numbers that were not read
			out = append(out, n.Message)
		}
	}
	return out
}

func recordFaults(o client.Object) []string {
	if r, ok := o.(*v1alpha1.Record); ok {
		if invalid := dialect.ConvertRecord(r).Invalid; invalid != nil {
			return []string{invalid.Message}
		}
	}
	return nil
}
