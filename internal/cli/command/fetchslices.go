package command

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
)

// complete adds to the statuses of Zones what ZoneSlices have because it does not fit: at names whose sources have lost
// their addresses, it stays published. What is about to be published is in no status, and not added.
func (f *Fetcher) complete(ctx context.Context, objects []*manifest.Object) error {
	zones := map[types.UID]*kubizone.Zone{}
	for _, o := range objects {
		if o.Zone != nil && o.Zone.Status.Slices > 0 {
			zones[o.Zone.UID] = o.Zone
		}
	}
	if len(zones) == 0 {
		return nil
	}
	before := len(f.Lists)
	err := f.Fetch(ctx, manifest.Resource{GroupVersion: zonefold.GroupVersion.String(), Kind: "ZoneSlice"})
	if err != nil {
		return err
	}
	for _, l := range f.Lists[before:] {
		for _, text := range l.Texts {
			for _, item := range text.List.Items {
				var s zonefold.ZoneSlice
				if err := json.Unmarshal(item, &s); err != nil {
					return fmt.Errorf("reading a ZoneSlice: %w", err)
				}
				if z := zones[ownerOf(&s)]; z != nil && !s.Journal {
					z.Status.Entries = append(z.Status.Entries, dialect.SliceEntries(s.Entries)...)
				}
			}
		}
	}
	return nil
}

// ownerOf returns the UID of the Zone of a slice; "": nobody's.
func ownerOf(s *zonefold.ZoneSlice) types.UID {
	if owner := metav1.GetControllerOf(s); owner != nil {
		return owner.UID
	}
	return ""
}
