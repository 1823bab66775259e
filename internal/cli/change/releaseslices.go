package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
)

// freeSlices removes the finalizer from the ZoneSlices of Zones, or from all of the namespace, and counts them. It
// comes before the Zones: one that is gone cannot be named any more.
func (r *releaser) freeSlices(ctx context.Context, namespace string, zones []kubizone.Zone, all bool) error {
	if all {
		return r.freeSlicesIn(ctx, namespace, nil)
	}
	var failed []error
	namespaces := map[string][]kubizone.Zone{}
	for _, z := range zones {
		namespaces[z.Namespace] = append(namespaces[z.Namespace], z)
	}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		failed = append(failed, r.freeSlicesIn(ctx, namespace, namespaces[namespace]))
	}
	return errors.Join(failed...)
}

// freeSlicesIn does so in a namespace, "" in all: to the ZoneSlices of Zones, or to all; nil: these.
func (r *releaser) freeSlicesIn(ctx context.Context, namespace string, zones []kubizone.Zone) error {
	n, failed, k := 0, []error(nil), r.cluster.Zonefold("zoneslices")
	err := command.EachPage(ctx, k, namespace, func(list *zonefold.ZoneSliceList) {
		for i := range list.Items {
			s := &list.Items[i]
			if zones != nil && !slices.ContainsFunc(zones, func(z kubizone.Zone) bool { return metav1.IsControlledBy(s, &z) }) {
				continue
			}
			if had, err := command.DropFinalizer(ctx, k, s, r.dryRun); err != nil {
				failed = append(failed, fmt.Errorf("releasing ZoneSlice %s/%s: %w", s.Namespace, s.Name, err))
			} else if had {
				n++
			}
		}
	})
	if err != nil && !apierrors.IsNotFound(err) { // the latter: the cluster does not know the kind
		failed = append(failed, fmt.Errorf("listing ZoneSlices: %w", err))
	}
	r.out.ZoneSlices += n
	switch {
	case n > 0 && r.dryRun:
		r.say("ZoneSlices that would be released: %d", n)
	case n > 0:
		r.say("ZoneSlices that are released: %d", n)
	}
	return errors.Join(failed...)
}
