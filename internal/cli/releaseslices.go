package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// freeSlices removes the finalizer from the ZoneSlices of Zones, or from all of the namespace, and returns from how
// many. It comes before the Zones: one that is gone cannot be named any more.
func (r *releaser) freeSlices(ctx context.Context, namespace string, zones []kubizone.Zone, all bool) (int, error) {
	if len(zones) == 0 && !all {
		return 0, nil
	}
	n, failed := 0, []error(nil)
	for next := ""; ; {
		var list zonefold.ZoneSliceList
		err := r.cluster.slices.Get().NamespaceIfScoped(namespace, namespace != "").Resource("zoneslices").
			Param("limit", strconv.Itoa(pageSize)).Param("continue", next).Do(ctx).Into(&list)
		if apierrors.IsNotFound(err) {
			break // the cluster does not know the kind
		} else if err != nil {
			failed = append(failed, fmt.Errorf("listing ZoneSlices: %w", err))
			break
		}
		for i := range list.Items {
			s := &list.Items[i]
			if !slices.Contains(s.Finalizers, kubizone.Finalizer) || !all && !slices.ContainsFunc(zones,
				func(z kubizone.Zone) bool { return metav1.IsControlledBy(s, &z) }) {
				continue
			}
			if err := r.freeSlice(ctx, s); err != nil {
				failed = append(failed, fmt.Errorf("releasing ZoneSlice %s/%s: %w", s.Namespace, s.Name, err))
			} else {
				n++
			}
		}
		if next = list.Continue; next == "" {
			break
		}
	}
	switch {
	case n > 0 && r.dryRun:
		fmt.Fprintf(r.env.Stdout, "ZoneSlices that would be released: %d\n", n)
	case n > 0:
		fmt.Fprintf(r.env.Stdout, "ZoneSlices that are released: %d\n", n)
	}
	return n, errors.Join(failed...)
}

func (r *releaser) freeSlice(ctx context.Context, s *zonefold.ZoneSlice) error {
	if r.dryRun {
		return nil
	}
	patch, err := withoutFinalizer(&s.ObjectMeta)
	if err != nil {
		return err
	}
	err = r.cluster.slices.Patch(types.MergePatchType).Namespace(s.Namespace).Resource("zoneslices").Name(s.Name).
		Body(patch).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
